//! The installation's master key: keyed hashes of API keys, and secrets encrypted at rest.

use std::io::Write;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use ring::{aead, digest, hmac};

/// Everything derived from the master key.
pub struct Keyring {
    hashing: hmac::Key,
    signing: hmac::Key,
    sealing: aead::LessSafeKey,
    witness: Ed25519KeyPair,
    check: String,
}

impl Keyring {
    /// Derives the keys from 32 random bytes.
    pub fn new(master: &[u8; 32]) -> Self {
        let master = hmac::Key::new(hmac::HMAC_SHA256, master);
        let derive = |label: &str| hmac::sign(&master, label.as_bytes());
        let witness = Ed25519KeyPair::from_seed_unchecked(derive("witness").as_ref());
        let sealing = aead::UnboundKey::new(&aead::AES_256_GCM, derive("seal").as_ref());
        Self {
            hashing: hmac::Key::new(hmac::HMAC_SHA256, derive("hash").as_ref()),
            signing: hmac::Key::new(hmac::HMAC_SHA256, derive("sign").as_ref()),
            sealing: aead::LessSafeKey::new(sealing.unwrap_or_else(|_| unreachable!("an HMAC-SHA256 tag has the 32 bytes of an AES-256 key"))),
            witness: witness.unwrap_or_else(|_| unreachable!("an HMAC-SHA256 tag has the 32 bytes of an Ed25519 seed")),
            check: hex(derive("check").as_ref()),
        }
    }

    /// Reads the key of `file`, or makes one there (mode 0600) at the first start.
    pub fn open(file: &Path) -> Result<Self, String> {
        let text = read_or_create(file, || {
            let mut bytes = [0u8; 32];
            SystemRandom::new().fill(&mut bytes).map_err(|_| "the system gives no random bytes".to_owned())?;
            Ok(STANDARD_NO_PAD.encode(bytes))
        })?;
        Self::parse(&text).ok_or_else(|| format!("{}: not a master key (32 bytes in base64)", file.display()))
    }

    /// Reads a key from its text form, 32 bytes in base64.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 32] = STANDARD_NO_PAD.decode(text.trim().trim_end_matches('=')).ok()?.try_into().ok()?;
        Some(Self::new(&bytes))
    }

    /// A value that tells whether two nodes share one master key, without telling the key.
    pub fn check(&self) -> &str {
        &self.check
    }

    /// Keyed hash of a secret that is only ever compared, as lower-case hex.
    pub fn hash(&self, secret: &str) -> String {
        hex(hmac::sign(&self.hashing, secret.as_bytes()).as_ref())
    }

    /// Keyed hash of a phone number, for lists that outlive an erasure of the person.
    pub fn hash_phone(&self, phone: &domain::phone::Phone) -> String {
        self.hash(&format!("phone:{phone}"))
    }

    /// Signs text that leaves the service and comes back (cursors, links), as URL-safe text.
    pub fn sign(&self, text: &str) -> String {
        URL_SAFE_NO_PAD.encode(&hmac::sign(&self.signing, text.as_bytes()).as_ref()[..16])
    }

    /// Whether a signature is ours.
    pub fn verify(&self, text: &str, signature: &str) -> bool {
        let ours = self.sign(text);
        same(ours.as_bytes(), signature.as_bytes())
    }

    /// Signs text for others, who check it with [`Keyring::public_key`]: Ed25519, URL-safe base64.
    pub fn witness(&self, text: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.witness.sign(text.as_bytes()))
    }

    /// The public half of the key of [`Keyring::witness`], URL-safe base64.
    pub fn public_key(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.witness.public_key())
    }

    /// Encrypts a secret that has to be used again; `purpose` binds it to its place.
    pub fn seal(&self, purpose: &str, secret: &str) -> Result<String, String> {
        let mut nonce = [0u8; 12];
        SystemRandom::new().fill(&mut nonce).map_err(|_| "the system gives no random bytes".to_owned())?;
        let mut sealed = secret.as_bytes().to_vec();
        self.sealing
            .seal_in_place_append_tag(aead::Nonce::assume_unique_for_key(nonce), aead::Aad::from(purpose.as_bytes()), &mut sealed)
            .map_err(|_| "encryption failed".to_owned())?;
        Ok(STANDARD_NO_PAD.encode([&nonce[..], &sealed].concat()))
    }

    /// Decrypts what [`Keyring::seal`] made for the same purpose.
    pub fn open_sealed(&self, purpose: &str, sealed: &str) -> Option<String> {
        let bytes = STANDARD_NO_PAD.decode(sealed).ok()?;
        let (nonce, body) = bytes.split_at_checked(12)?;
        let nonce = aead::Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut body = body.to_vec();
        let open = self.sealing.open_in_place(nonce, aead::Aad::from(purpose.as_bytes()), &mut body).ok()?;
        String::from_utf8(open.to_vec()).ok()
    }
}

/// Whether a signature of [`Keyring::witness`] belongs to this text and public key.
pub fn witnessed(public_key: &str, text: &str, signature: &str) -> bool {
    let (Ok(key), Ok(signature)) = (URL_SAFE_NO_PAD.decode(public_key), URL_SAFE_NO_PAD.decode(signature)) else { return false };
    UnparsedPublicKey::new(&ED25519, key).verify(text.as_bytes(), &signature).is_ok()
}

/// The text of a secret file, which is made (mode 0600) when missing.
pub fn read_or_create(file: &Path, make: impl FnOnce() -> Result<String, String>) -> Result<String, String> {
    match std::fs::read_to_string(file) {
        Ok(text) => return Ok(text.trim().to_owned()),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => {}
        Err(why) => return Err(format!("{}: {why}", file.display())),
    }
    let text = make()?;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(file).and_then(|mut out| {
        writeln!(out, "{text}")?;
        out.sync_all()
    });
    written.map_err(|why| format!("{}: {why}", file.display()))?;
    Ok(text)
}

/// SHA-256 as lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    out
}

/// Compares two secrets in a time that does not tell where they differ.
pub fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

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
