//! Digest authentication of incoming calls (RFC 3261 section 22): stateless nonces, replay protection.
//!
//! A challenge costs no memory: its nonce carries the time at which it was made and is bound to the call,
//! sealed with a key of this process. It is good for one INVITE within [`LASTS`]. Only nonces that were used
//! with the right password are remembered, [`MOST_USED`] at most, until they expire.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use rsipstack::sip::{Header, Request};

use super::auth::{self, Credentials};
use super::message::{header, value};

/// How long a nonce is valid.
const LASTS: Duration = Duration::from_secs(60);
/// Used nonces that may be remembered.
const MOST_USED: usize = 4096;
/// Bytes of a nonce before its seal: its time and a random part.
const HEAD: usize = 16;

/// Makes nonces, and recognises them.
pub(super) struct Nonces {
    realm: String,
    key: hmac::Key,
    began: Instant,
    /// The random parts of the nonces that were used, and when they expire.
    used: Mutex<HashMap<[u8; 8], Instant>>,
}

/// What is wrong with an INVITE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denied {
    /// It proves nothing.
    Unproven,
    /// The password is right, but the nonce has expired or was used.
    Stale,
    /// Too many nonces were used at once.
    Crowded,
}

impl Nonces {
    /// Nonces for this run of the program; `realm` is what the other side sees.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn new(realm: &str) -> Result<Self, String> {
        let mut secret = [0u8; 32];
        SystemRandom::new().fill(&mut secret).map_err(|_| "the system gives no random numbers")?;
        let realm =
            realm.chars().filter(|letter| !letter.is_control() && !"\"\\".contains(*letter)).collect();
        Ok(Self {
            realm,
            key: hmac::Key::new(hmac::HMAC_SHA256, &secret),
            began: Instant::now(),
            used: Mutex::default(),
        })
    }

    /// A tag of ours that is the same each time the request comes, for stateless answers (RFC 3261 section
    /// 8.2.7).
    pub fn tag(&self, request: &Request) -> String {
        let mut sealed = hmac::Context::with_key(&self.key);
        for name in ["Via", "From", "Call-ID", "CSeq"] {
            sealed.update(value(request, name).unwrap_or_default().as_bytes());
            sealed.update(&[0]);
        }
        URL_SAFE_NO_PAD.encode(&sealed.sign().as_ref()[..12])
    }

    fn seal(&self, head: &[u8], call: &str) -> hmac::Context {
        let mut sealed = hmac::Context::with_key(&self.key);
        sealed.update(b"nonce");
        sealed.update(head);
        sealed.update(call.as_bytes());
        sealed
    }

    fn nonce(&self, call: &str, now: Instant) -> String {
        let mut head = [0u8; HEAD];
        let age = u64::try_from(now.saturating_duration_since(self.began).as_millis()).unwrap_or(u64::MAX);
        head[..8].copy_from_slice(&age.to_be_bytes());
        crate::media::random(&mut head[8..]);
        let seal = self.seal(&head, call).sign();
        URL_SAFE_NO_PAD.encode([&head, seal.as_ref()].concat())
    }

    /// When a nonce of ours was made, and its random part; none if it does not belong to this call.
    fn read(&self, nonce: &str, call: &str) -> Option<(Instant, [u8; 8])> {
        let bytes = URL_SAFE_NO_PAD.decode(nonce).ok()?;
        let (head, seal) = bytes.split_at_checked(HEAD)?;
        if !auth::same(self.seal(head, call).sign().as_ref(), seal) {
            return None;
        }
        let (age, chance) = head.split_at_checked(8)?;
        let made = self.began.checked_add(Duration::from_millis(u64::from_be_bytes(age.try_into().ok()?)))?;
        Some((made, chance.try_into().ok()?))
    }

    /// The challenges of a 401. MD5 comes first, because gateways that know nothing else read only the first
    /// challenge. Those that refuse MD5 find the better hash after it (RFC 8760).
    pub fn challenge(&self, request: &Request, stale: bool, now: Instant) -> Vec<Header> {
        let nonce = self.nonce(value(request, "Call-ID").unwrap_or_default(), now);
        let stale = if stale { ", stale=true" } else { "" };
        let realm = &self.realm;
        ["MD5", "SHA-256"]
            .into_iter()
            .map(|hash| {
                header(
                    "WWW-Authenticate",
                    format!(
                        "Digest realm=\"{realm}\", nonce=\"{nonce}\", algorithm={hash}, qop=\"auth\"{stale}"
                    ),
                )
            })
            .collect()
    }

    /// Whether an INVITE proves that its sender knows the password. Its nonce is used up then.
    pub fn check(&self, request: &Request, login: &Credentials, now: Instant) -> Result<(), Denied> {
        let call = value(request, "Call-ID").unwrap_or_default();
        let method = request.method.to_string();
        let mut denied = Denied::Unproven;
        for one in request.headers.iter() {
            let Header::Authorization(_) = one else { continue };
            let Some(proof) = auth::Proof::parse(one.value()) else { continue };
            if proof.realm() != self.realm || !proof.is_of(login, &method) {
                continue;
            }
            denied = Denied::Stale;
            let Some((made, chance)) = self.read(proof.nonce(), call) else { continue };
            if now.saturating_duration_since(made) > LASTS {
                continue;
            }
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            if used.len() >= MOST_USED {
                used.retain(|_, ends| *ends > now);
            }
            if used.len() >= MOST_USED {
                return Err(Denied::Crowded);
            }
            if used.insert(chance, made + LASTS + Duration::from_secs(1)).is_none() {
                return Ok(());
            }
        }
        Err(denied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsipstack::sip::Response;

    fn login(password: &str) -> Credentials {
        Credentials { user: "carrier".into(), password: password.into() }
    }

    fn invite(call: &str) -> Request {
        let text = format!(
            "INVITE sip:1@h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z\r\nCall-ID: {call}\r\nCSeq: 1 INVITE\r\n\r\n"
        );
        Request::try_from(text.as_str()).expect("a request")
    }

    /// The INVITE again, with the answer to this challenge of it.
    fn proven(request: &Request, challenge: &Header, password: &str) -> Request {
        let mut refused = Response::try_from("SIP/2.0 401 No\r\n\r\n").expect("a response");
        rsipstack::sip::HasHeaders::headers_mut(&mut refused).push(challenge.clone());
        let mut again = request.clone();
        for one in auth::answer(&refused, request, &login(password), false) {
            rsipstack::sip::HasHeaders::headers_mut(&mut again).push(one);
        }
        again
    }

    #[test]
    fn a_nonce_is_good_once_for_one_call_and_for_a_minute() {
        let (nonces, now) = (Nonces::new("a \"b\"").expect("nonces"), Instant::now());
        let check = |request: &Request, at| nonces.check(request, &login("secret"), at);
        let one = invite("c1");
        assert_eq!(check(&one, now), Err(Denied::Unproven));
        let challenges = nonces.challenge(&one, false, now);
        assert_eq!(challenges.len(), 2);
        for challenge in &challenges {
            assert_eq!(check(&proven(&one, challenge, "wrong"), now), Err(Denied::Unproven));
        }
        let good = proven(&one, &challenges[0], "secret");
        let mut moved = good.clone();
        for one in rsipstack::sip::HasHeaders::headers_mut(&mut moved).iter_mut() {
            if let Header::CallId(call) = one {
                *call = "c2".into();
            }
        }
        assert_eq!(check(&moved, now), Err(Denied::Stale), "another call");
        assert_eq!(check(&good, now + LASTS * 2), Err(Denied::Stale), "too late");
        assert_eq!(check(&good, now), Ok(()));
        assert_eq!(check(&good, now), Err(Denied::Stale), "again");
        // The same nonce, with the other hash.
        assert_eq!(check(&proven(&one, &challenges[1], "secret"), now), Err(Denied::Stale));
        let again = nonces.challenge(&one, true, now);
        assert_eq!(check(&proven(&one, &again[1], "secret"), now), Ok(()));
    }

    #[test]
    fn used_nonces_are_bounded() {
        let (nonces, now) = (Nonces::new("r").expect("nonces"), Instant::now());
        let one = invite("c1");
        let fresh = |at| proven(&one, &nonces.challenge(&one, false, at)[1], "secret");
        for _ in 0..MOST_USED {
            nonces.check(&fresh(now), &login("secret"), now).expect("fresh");
        }
        assert_eq!(nonces.check(&fresh(now), &login("secret"), now), Err(Denied::Crowded));
        let later = now + LASTS * 2;
        assert_eq!(nonces.check(&fresh(later), &login("secret"), later), Ok(()));
        assert_eq!(nonces.used.lock().expect("used").len(), 1);
    }
}
