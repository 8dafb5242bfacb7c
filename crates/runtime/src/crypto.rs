//! The installation's keys. The master key unwraps one row of the store with the root keys: one for keyed hashes of
//! values that are only compared, one to seal secrets that are used again, and one to sign exports. So the master key
//! can be rotated although nobody has the hashed values.

use std::io::{self, Read, Write};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use data_encoding::HEXLOWER;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use ring::{aead, digest, hmac};
use subtle::ConstantTimeEq;

use crate::files;

type Bytes32 = [u8; 32];

fn random() -> Result<Bytes32, String> {
    let mut bytes = [0u8; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| "the system gives no random bytes".to_owned())?;
    Ok(bytes)
}

fn derive(from: &Bytes32, label: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, from), label.as_bytes())
}

fn sealing_key(from: &Bytes32, label: &str) -> aead::LessSafeKey {
    let key = aead::UnboundKey::new(&aead::AES_256_GCM, derive(from, label).as_ref());
    aead::LessSafeKey::new(
        key.unwrap_or_else(|_| unreachable!("an HMAC-SHA256 tag has the 32 bytes of an AES-256 key")),
    )
}

fn seal_with(key: &aead::LessSafeKey, purpose: &str, secret: &[u8]) -> Result<String, String> {
    let mut nonce = [0u8; 12];
    SystemRandom::new().fill(&mut nonce).map_err(|_| "the system gives no random bytes".to_owned())?;
    let mut sealed = secret.to_vec();
    key.seal_in_place_append_tag(
        aead::Nonce::assume_unique_for_key(nonce),
        aead::Aad::from(purpose.as_bytes()),
        &mut sealed,
    )
    .map_err(|_| "encryption failed".to_owned())?;
    Ok(STANDARD_NO_PAD.encode([&nonce[..], &sealed].concat()))
}

fn open_with(key: &aead::LessSafeKey, purpose: &str, sealed: &str) -> Option<Vec<u8>> {
    let bytes = STANDARD_NO_PAD.decode(sealed).ok()?;
    let (nonce, body) = bytes.split_at_checked(12)?;
    let nonce = aead::Nonce::try_assume_unique_for_key(nonce).ok()?;
    let mut body = body.to_vec();
    key.open_in_place(nonce, aead::Aad::from(purpose.as_bytes()), &mut body).ok().map(|open| open.to_vec())
}

/// The key that the operator guards.
#[derive(Clone)]
pub struct MasterKey(Bytes32);

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MasterKey(***)")
    }
}

impl MasterKey {
    /// A new one.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn random() -> Result<Self, String> {
        random().map(Self)
    }

    /// Reads the key of `file`, or creates it there (mode 0600) at the first start.
    pub fn open(file: &Path) -> Result<Self, String> {
        let text = read_or_create(file, || Ok(Self::random()?.text()))?;
        Self::parse(&text).ok_or_else(|| format!("{}: not a master key (32 bytes in base64)", file.display()))
    }

    /// Parses a key from base64 of 32 bytes.
    pub fn parse(text: &str) -> Option<Self> {
        STANDARD_NO_PAD.decode(text.trim().trim_end_matches('=')).ok()?.try_into().ok().map(Self)
    }

    pub fn text(&self) -> String {
        STANDARD_NO_PAD.encode(self.0)
    }

    /// A check value that shows whether a store was made with this key, without revealing it.
    pub fn check(&self) -> String {
        format!("2:{}", HEXLOWER.encode(derive(&self.0, "check-2").as_ref()))
    }

    /// A short fingerprint of the key, 12 hex digits.
    pub fn id(&self) -> String {
        HEXLOWER.encode(&derive(&self.0, "id").as_ref()[..6])
    }

    /// The value of [`MasterKey::check`] in a store whose other keys still derive from the master key itself.
    pub fn early_check(&self) -> String {
        HEXLOWER.encode(derive(&self.0, "check").as_ref())
    }

    /// The root keys, wrapped for the store.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn wrap(&self, roots: &Roots) -> Result<String, String> {
        seal_with(
            &sealing_key(&self.0, "wrap"),
            "data-keys",
            &[roots.hashing, roots.sealing, roots.witness].concat(),
        )
    }

    /// Unwraps the root keys; `None` when another key wrapped them.
    pub fn unwrap(&self, wrapped: &str) -> Option<Roots> {
        let open = open_with(&sealing_key(&self.0, "wrap"), "data-keys", wrapped)?;
        let root = |at: usize| open.get(at * 32..(at + 1) * 32)?.try_into().ok();
        (open.len() == 96)
            .then(|| Some(Roots { hashing: root(0)?, sealing: root(1)?, witness: root(2)? }))
            .flatten()
    }
}

/// The root keys, from which all other keys derive.
#[derive(Clone, PartialEq, Eq)]
pub struct Roots {
    /// For keyed hashes: API keys, numbers of erased people. It is never rotated, since nobody has the hashed values.
    hashing: Bytes32,
    /// For secrets, links, cursors, and the seals of the decision log.
    sealing: Bytes32,
    /// For the key that signs exports and heads.
    witness: Bytes32,
}

impl Roots {
    /// New ones.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn random() -> Result<Self, String> {
        Ok(Self { hashing: random()?, sealing: random()?, witness: random()? })
    }

    /// The root keys of a store in which every key derives from the master key itself.
    pub fn early(master: &MasterKey) -> Self {
        Self { hashing: master.0, sealing: master.0, witness: master.0 }
    }

    /// The root keys after a rotation of the master key: everything that can be sealed again gets a new key. With
    /// `new_witness`, files are signed with another key from then on.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn renewed(&self, new_witness: bool) -> Result<Self, String> {
        let witness = if new_witness { random()? } else { self.witness };
        Ok(Self { hashing: self.hashing, sealing: random()?, witness })
    }
}

/// The keys of a running service.
pub struct Keyring {
    hashing: hmac::Key,
    marks: hmac::Key,
    signing: hmac::Key,
    sealing: aead::LessSafeKey,
    witness: Ed25519KeyPair,
}

impl Keyring {
    pub fn of(roots: &Roots) -> Self {
        let mac =
            |root: &Bytes32, label: &str| hmac::Key::new(hmac::HMAC_SHA256, derive(root, label).as_ref());
        let witness = Ed25519KeyPair::from_seed_unchecked(derive(&roots.witness, "witness").as_ref());
        Self {
            hashing: mac(&roots.hashing, "hash"),
            marks: mac(&roots.hashing, "marks"),
            signing: mac(&roots.sealing, "sign"),
            sealing: sealing_key(&roots.sealing, "seal"),
            witness: witness
                .unwrap_or_else(|_| unreachable!("an HMAC-SHA256 tag has the 32 bytes of an Ed25519 seed")),
        }
    }

    /// Derives the keys from one root.
    pub fn new(root: &[u8; 32]) -> Self {
        Self::of(&Roots::early(&MasterKey(*root)))
    }

    /// The same from its text form, 32 bytes in base64.
    pub fn parse(text: &str) -> Option<Self> {
        MasterKey::parse(text).map(|key| Self::of(&Roots::early(&key)))
    }

    /// Keyed hash (HMAC) of a line in the file of marks, as lower-case hex.
    pub fn mark(&self, line: &str) -> String {
        HEXLOWER.encode(hmac::sign(&self.marks, line.as_bytes()).as_ref())
    }

    /// Keyed hash of a secret that is only ever compared, as lower-case hex.
    pub fn hash(&self, secret: &str) -> String {
        HEXLOWER.encode(hmac::sign(&self.hashing, secret.as_bytes()).as_ref())
    }

    /// Keyed hash of a phone number, for lists that outlive an erasure of the person.
    pub fn hash_phone(&self, phone: &domain::phone::Phone) -> String {
        self.hash(&format!("phone:{phone}"))
    }

    /// The same for a number of any country; of an Indian one it is the same hash.
    pub fn hash_number(&self, number: domain::phone::E164) -> String {
        self.hash(&format!("phone:{number}"))
    }

    /// Keyed hash of the last digits of a text that is no valid number, by which an erasure finds it; `None` when it
    /// has too few digits.
    pub fn hash_written(&self, text: &str) -> Option<String> {
        Some(self.hash(&format!("digits:{}", domain::written_number::digits_key(text)?)))
    }

    /// Signs text that leaves the service and comes back (cursors, links), URL-safe.
    pub fn sign(&self, text: &str) -> String {
        URL_SAFE_NO_PAD.encode(&hmac::sign(&self.signing, text.as_bytes()).as_ref()[..16])
    }

    /// Verifies a signature of ours.
    pub fn verify(&self, text: &str, signature: &str) -> bool {
        let ours = self.sign(text);
        same(ours.as_bytes(), signature.as_bytes())
    }

    /// Signs text for third parties, who verify it with [`Keyring::public_key`]: Ed25519, URL-safe base64.
    pub fn witness(&self, text: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.witness.sign(text.as_bytes()))
    }

    /// The public half of the key of [`Keyring::witness`], URL-safe base64.
    pub fn public_key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.witness.public_key())
    }

    /// Encrypts a secret that has to be used again; `purpose` is authenticated (AES-GCM additional data).
    pub fn seal(&self, purpose: &str, secret: &str) -> Result<String, String> {
        seal_with(&self.sealing, purpose, secret.as_bytes())
    }

    /// Decrypts what [`Keyring::seal`] made for the same purpose.
    pub fn open_sealed(&self, purpose: &str, sealed: &str) -> Option<String> {
        open_with(&self.sealing, purpose, sealed).and_then(|open| String::from_utf8(open).ok())
    }
}

/// Verifies a signature of [`Keyring::witness`] with this public key.
pub fn witnessed(public_key: &str, text: &str, signature: &str) -> bool {
    let (Ok(key), Ok(signature)) = (URL_SAFE_NO_PAD.decode(public_key), URL_SAFE_NO_PAD.decode(signature))
    else {
        return false;
    };
    UnparsedPublicKey::new(&ED25519, key).verify(text.as_bytes(), &signature).is_ok()
}

/// The text of a secret file, created (mode 0600) when missing.
pub fn read_or_create(file: &Path, make: impl FnOnce() -> Result<String, String>) -> Result<String, String> {
    match std::fs::read_to_string(file) {
        Ok(text) => return Ok(text.trim().to_owned()),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => {}
        Err(why) => return Err(format!("{}: {why}", file.display())),
    }
    let text = make()?;
    files::create(file, format!("{text}\n").as_bytes())
        .map_err(|why| format!("{}: {why}", file.display()))?;
    Ok(text)
}

/// SHA-256 as lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// SHA-256 of parts as if they were one, as lower-case hex.
pub fn sha256_of(parts: &[&[u8]]) -> String {
    let mut context = digest::Context::new(&digest::SHA256);
    parts.iter().for_each(|part| context.update(part));
    HEXLOWER.encode(context.finish().as_ref())
}

/// Bytes that [`copy_hashed`] reads at a time.
const PIECE: usize = 64 * 1024;

/// Copies what is left of `from` to `to`: SHA-256 of it as lower-case hex, and its length in bytes.
///
/// # Errors
/// Those of reading and writing.
pub fn copy_hashed(from: &mut impl Read, to: &mut impl Write) -> io::Result<(String, u64)> {
    let (mut context, mut piece, mut length) =
        (digest::Context::new(&digest::SHA256), vec![0u8; PIECE], 0_u64);
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
            Err(why) => return Err(why),
        };
        context.update(&piece[..read]);
        to.write_all(&piece[..read])?;
        length += read as u64;
    }
    Ok((HEXLOWER.encode(context.finish().as_ref()), length))
}

/// Compares two secrets in constant time.
pub fn same(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_open_with_their_master_key_only_and_outlive_it() {
        let (one, other) = (MasterKey::random().unwrap(), MasterKey::random().unwrap());
        let roots = Roots::random().unwrap();
        let wrapped = one.wrap(&roots).unwrap();
        assert!(one.unwrap(&wrapped) == Some(roots.clone()) && other.unwrap(&wrapped).is_none());
        assert_ne!((one.check(), one.early_check()), (other.check(), other.early_check()));
        assert!(one.id() != other.id() && one.id().len() == 12 && !one.check().contains(&one.id()));
        let (before, after, anew) = (
            Keyring::of(&roots),
            Keyring::of(&roots.renewed(false).unwrap()),
            Keyring::of(&roots.renewed(true).unwrap()),
        );
        assert_eq!((before.hash("key"), before.public_key()), (after.hash("key"), after.public_key()));
        assert_ne!((before.sign("text"), before.public_key()), (after.sign("text"), anew.public_key()));
        assert_eq!(after.open_sealed("place", &before.seal("place", "secret").unwrap()), None);
        assert_eq!(format!("{one:?}"), "MasterKey(***)");
    }

    #[test]
    fn witnessed_texts_are_known_by_the_public_key() {
        let keys = Keyring::new(&[7; 32]);
        let signature = keys.witness("text");
        assert!(witnessed(&keys.public_key(), "text", &signature));
        assert!(!witnessed(&keys.public_key(), "texts", &signature));
        assert!(!witnessed(&Keyring::new(&[8; 32]).public_key(), "text", &signature));
        assert!(!witnessed("!", "text", "?"));
    }

    #[test]
    fn sealed_secrets_open_only_in_their_place() {
        let keys = Keyring::new(&[7; 32]);
        let sealed = keys.seal("webhook:whe_1", "whsec_x").unwrap();
        assert_eq!(keys.open_sealed("webhook:whe_1", &sealed).as_deref(), Some("whsec_x"));
        assert_eq!(keys.open_sealed("webhook:whe_2", &sealed), None);
        assert_eq!(Keyring::new(&[8; 32]).open_sealed("webhook:whe_1", &sealed), None);
        assert_eq!(keys.open_sealed("webhook:whe_1", "short"), None);
    }
}
