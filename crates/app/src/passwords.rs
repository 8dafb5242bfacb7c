//! Passwords: argon2id, computed on threads for blocking work, one at once in each of two lanes. Beyond a short queue a
//! request is refused, so that no flood of attempts takes the node's processors or memory (docs/security.md).

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use api::error_codes;
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use domain::person::PASSWORD_LENGTH;
use ring::pbkdf2;
use ring::rand::{SecureRandom, SystemRandom};
use runtime::crypto::same;
use tokio::sync::Semaphore;

use super::{App, Failure};

/// KiB of memory, passes and lanes of argon2id, as OWASP advises.
const COST: (u32, u32, u32) = (19_456, 2, 1);
/// Most of each that is accepted of a stored hash.
const MOST_COST: (u32, u32, u32) = (262_144, 16, 8);
/// Requests of one lane that wait for the one that computes; each takes some 25 ms.
const WAITING: usize = 40;
/// Bytes of a hash and of a salt.
const HASH: usize = 32;
const SALT: usize = 16;

/// Who asks: a flood of strangers does not hold up those who have signed in here before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    Stranger,
    Known,
}

/// Passwords in work on this node.
#[derive(Default)]
pub struct Passwords {
    strangers: Queue,
    known: Queue,
}

struct Queue {
    turn: Semaphore,
    present: AtomicUsize,
}

impl Default for Queue {
    fn default() -> Self {
        Self { turn: Semaphore::new(1), present: AtomicUsize::new(0) }
    }
}

/// A place in a queue, given up when dropped.
struct Place<'a>(&'a AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Passwords {
    /// Runs work that computes one hash, in turn.
    async fn compute<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, Failure> {
        let queue = match lane {
            Lane::Stranger => &self.strangers,
            Lane::Known => &self.known,
        };
        let present = queue.present.fetch_add(1, Ordering::AcqRel);
        let _place = Place(&queue.present);
        if present > WAITING {
            let message = "too many passwords are being checked at once; nothing was changed, try again";
            return Err(Failure { retry_after: Some(2), ..Failure::new(error_codes::UNAVAILABLE, message) });
        }
        let _turn = queue.turn.acquire().await.map_err(|why| Failure::internal(why.to_string()))?;
        runtime::blocking::run(work)
            .await
            .map_err(|_| Failure::internal("computing a password's hash panicked"))?
            .map_err(Failure::internal)
    }
}

fn passwords(app: &App) -> Arc<Passwords> {
    app.state.of(Passwords::default)
}

/// Refuses a password that is too short or too long.
///
/// # Errors
/// 400 that names `field`.
pub fn check(field: &str, password: &str) -> Result<(), Failure> {
    let (least, most) = PASSWORD_LENGTH;
    if (least..=most).contains(&password.chars().count()) {
        return Ok(());
    }
    Err(Failure::field(field, format!("must have {least} to {most} characters")))
}

/// The hash of a new password.
///
/// # Errors
/// 503 while too many are computed.
pub async fn hash(app: &App, lane: Lane, password: &str) -> Result<String, Failure> {
    let password = password.to_owned();
    passwords(app).compute(lane, move || new_hash(&password)).await
}

/// What the check of a password found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub right: bool,
    /// The hash to be stored in place of one of a former form.
    pub renewed: Option<String>,
}

/// Checks a password against a stored hash. Without one it does the same work, and the password is wrong.
///
/// # Errors
/// 503 while too many are computed.
pub async fn verify(
    app: &App,
    lane: Lane,
    password: &str,
    stored: Option<String>,
) -> Result<Verdict, Failure> {
    let password = password.to_owned();
    passwords(app).compute(lane, move || checked(&password, stored.as_deref())).await
}

fn checked(password: &str, stored: Option<&str>) -> Result<Verdict, String> {
    let Some(stored) = stored else {
        derive(password, &[0; SALT], COST)?;
        return Ok(Verdict { right: false, renewed: None });
    };
    let (right, current) = match stored.split_once('$') {
        Some(("pbkdf2-sha256", rest)) => (right_of_pbkdf2(password, rest)?, false),
        _ => right_of_argon2(password, stored)?,
    };
    let renewed = (right && !current).then(|| new_hash(password)).transpose()?;
    Ok(Verdict { right, renewed })
}

fn derive(
    password: &str,
    salt: &[u8],
    (memory, passes, lanes): (u32, u32, u32),
) -> Result<[u8; HASH], String> {
    let params = Params::new(memory, passes, lanes, Some(HASH)).map_err(|why| why.to_string())?;
    let mut hash = [0; HASH];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(password.as_bytes(), salt, &mut hash)
        .map_err(|why| why.to_string())?;
    Ok(hash)
}

/// `$argon2id$v=19$m=…,t=…,p=…$salt$hash`, the usual text form (PHC).
fn new_hash(password: &str) -> Result<String, String> {
    let mut salt = [0; SALT];
    SystemRandom::new().fill(&mut salt).map_err(|_| "the system gives no random bytes")?;
    let hash = derive(password, &salt, COST)?;
    let (memory, passes, lanes) = COST;
    let (salt, hash) = (STANDARD_NO_PAD.encode(salt), STANDARD_NO_PAD.encode(hash));
    Ok(format!("$argon2id$v=19$m={memory},t={passes},p={lanes}${salt}${hash}"))
}

/// Whether the password is right, and whether its hash has the cost of new ones.
fn right_of_argon2(password: &str, stored: &str) -> Result<(bool, bool), String> {
    let unknown = || "a stored hash of a password has an unknown form".to_owned();
    let parts: Vec<&str> = stored.split('$').collect();
    let ["", "argon2id", "v=19", cost, salt, hash] = parts[..] else { return Err(unknown()) };
    let number = |name: &str| {
        let found = cost.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
        found.and_then(|text| text.parse::<u32>().ok()).ok_or_else(unknown)
    };
    let cost = (number("m")?, number("t")?, number("p")?);
    if cost.0 > MOST_COST.0 || cost.1 > MOST_COST.1 || cost.2 > MOST_COST.2 {
        return Err(unknown());
    }
    let bytes = |text: &str| STANDARD_NO_PAD.decode(text).map_err(|_| unknown());
    Ok((same(&derive(password, &bytes(salt)?, cost)?, &bytes(hash)?), cost == COST))
}

/// `rounds$salt$hash` of PBKDF2-HMAC-SHA256, as members of former versions have it.
fn right_of_pbkdf2(password: &str, stored: &str) -> Result<bool, String> {
    let unknown = || "a stored hash of a password has an unknown form".to_owned();
    let parts: Vec<&str> = stored.split('$').collect();
    let [rounds, salt, hash] = parts[..] else { return Err(unknown()) };
    let rounds = rounds.parse::<NonZeroU32>().ok().filter(|rounds| rounds.get() <= 10_000_000);
    let bytes = |text: &str| STANDARD_NO_PAD.decode(text).map_err(|_| unknown());
    let found = pbkdf2::verify(
        pbkdf2::PBKDF2_HMAC_SHA256,
        rounds.ok_or_else(unknown)?,
        &bytes(salt)?,
        password.as_bytes(),
        &bytes(hash)?,
    );
    Ok(found.is_ok())
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn a_hash_is_of_its_password_only() {
        let stored = new_hash("correct horse").unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert_ne!(stored, new_hash("correct horse").unwrap(), "each has a salt of its own");
        let right = Verdict { right: true, renewed: None };
        assert_eq!(checked("correct horse", Some(&stored)).unwrap(), right);
        assert!(!checked("correct horse ", Some(&stored)).unwrap().right);
        assert!(!checked("correct horse", None).unwrap().right);
    }

    #[test]
    fn hashes_of_former_forms_are_renewed_when_the_password_is_right() {
        let mut hash = [0; 32];
        let rounds = NonZeroU32::new(1_000).unwrap();
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, &[7; 16], b"correct horse", &mut hash);
        let encode = |bytes: &[u8]| STANDARD_NO_PAD.encode(bytes);
        let former = format!("pbkdf2-sha256$1000${}${}", encode(&[7; 16]), encode(&hash));
        let cheap = (1_024, 1, 1);
        let hash = derive("correct horse", &[7; 16], cheap).unwrap();
        let cheap = format!("$argon2id$v=19$m=1024,t=1,p=1${}${}", encode(&[7; 16]), encode(&hash));
        for stored in [former, cheap] {
            let verdict = checked("correct horse", Some(&stored)).unwrap();
            let renewed = verdict.renewed.expect("a new hash");
            assert!(verdict.right && checked("correct horse", Some(&renewed)).unwrap().right);
            let wrong = Verdict { right: false, renewed: None };
            assert_eq!(checked("battery staple", Some(&stored)).unwrap(), wrong);
        }
    }

    #[test]
    fn what_is_no_hash_is_an_error_and_costs_nothing() {
        for stored in [
            "",
            "$argon2id$v=19$m=4000000000,t=2,p=1$AAAAAAAAAAA$AAAA",
            "$argon2i$v=19$m=19456,t=2,p=1$AAAAAAAAAAA$AAAA",
            "pbkdf2-sha256$0$AAAA$AAAA",
            "pbkdf2-sha256$4000000000$AAAA$AAAA",
        ] {
            assert!(checked("correct horse", Some(stored)).is_err(), "{stored}");
        }
    }

    #[tokio::test]
    async fn a_queue_has_an_end_and_lanes_do_not_wait_for_each_other() {
        let passwords = Passwords::default();
        let turn = passwords.strangers.turn.acquire().await.unwrap();
        let mut waiting: Vec<_> =
            (0..=WAITING).map(|_| Box::pin(passwords.compute(Lane::Stranger, || Ok(())))).collect();
        for one in &mut waiting {
            assert!(one.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        let refused = passwords.compute(Lane::Stranger, || Ok(())).await.unwrap_err();
        assert_eq!((refused.error.status, refused.retry_after), (503, Some(2)));
        passwords.compute(Lane::Known, || Ok(())).await.unwrap();
        drop(turn);
        for one in waiting {
            one.await.unwrap();
        }
        passwords.compute(Lane::Stranger, || Ok(())).await.unwrap();
    }
}
