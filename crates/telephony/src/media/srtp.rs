//! SRTP (RFC 3711) with AES-128 in counter mode and HMAC-SHA1, keys from the SDP (RFC 4568).
//!
//! Written here on `aes` and `ring`: the published SRTP crates bring DTLS, whole media stacks or C code
//! along, or are a few months old. What is done is the default transform only, no key derivation rate, no
//! master key index.

use aes::Aes128;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use super::rtp;

/// Bytes of a master key with its salt.
const MASTER: usize = 30;
/// Senders remembered a line: a replaced one stays known, so that its packets cannot be played again.
const SOURCES: usize = 4;
/// Size of the replay window, packets before the newest one.
const WINDOW: u64 = 64;

/// Fills `bytes` from the system's generator.
pub(crate) fn random(bytes: &mut [u8]) {
    // The generator is open since the start of the machine; what would be left on failure are zeros, which
    // break nothing but secrecy, so it is said.
    if SystemRandom::new().fill(bytes).is_err() {
        tracing::error!("the system gives no random numbers");
    }
}

/// How packets are authenticated; all are encrypted with AES-128 in counter mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// A tag of 80 bits.
    AesCm128HmacSha1_80,
    /// A tag of 32 bits.
    AesCm128HmacSha1_32,
}

impl Suite {
    pub(super) fn name(self) -> &'static str {
        match self {
            Suite::AesCm128HmacSha1_80 => "AES_CM_128_HMAC_SHA1_80",
            Suite::AesCm128HmacSha1_32 => "AES_CM_128_HMAC_SHA1_32",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Suite> {
        [Suite::AesCm128HmacSha1_80, Suite::AesCm128HmacSha1_32]
            .into_iter()
            .find(|suite| name.eq_ignore_ascii_case(suite.name()))
    }

    fn tag(self) -> usize {
        match self {
            Suite::AesCm128HmacSha1_80 => 10,
            Suite::AesCm128HmacSha1_32 => 4,
        }
    }
}

/// Master key (16 bytes) and master salt (14 bytes) of one side.
#[derive(Clone, PartialEq, Eq)]
pub struct MasterKey([u8; MASTER]);

impl MasterKey {
    pub fn random() -> MasterKey {
        let mut bytes = [0u8; MASTER];
        random(&mut bytes);
        MasterKey(bytes)
    }

    /// Reads the base64 of an `inline:` key.
    pub(super) fn from_text(text: &str) -> Option<MasterKey> {
        let bytes = STANDARD_NO_PAD.decode(text.trim_end_matches('=')).ok()?;
        bytes.try_into().ok().map(MasterKey)
    }

    pub(super) fn text(&self) -> String {
        STANDARD.encode(self.0)
    }
}

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MasterKey(…)")
    }
}

/// The keys of a call, one for each way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// How packets are authenticated, both ways.
    pub suite: Suite,
    /// What we encrypt with.
    pub local: MasterKey,
    /// What the other side encrypts with.
    pub remote: MasterKey,
}

/// Encrypts or decrypts `bytes` in place with the key stream that starts at `counter`.
fn key_stream(cipher: &Aes128, mut counter: [u8; 16], bytes: &mut [u8]) {
    for (index, chunk) in bytes.chunks_mut(16).enumerate() {
        // RTP packets are shorter than 2^16 blocks, so the last two bytes never carry over.
        counter[14..].copy_from_slice(&(index as u16).to_be_bytes());
        let mut block = Array::from(counter);
        cipher.encrypt_block(&mut block);
        for (byte, key) in chunk.iter_mut().zip(block.iter()) {
            *byte ^= key;
        }
    }
}

/// What one side's packets are encrypted and authenticated with.
struct Session {
    cipher: Aes128,
    salt: [u8; 14],
    authentication: hmac::Key,
    tag: usize,
}

impl Session {
    fn new(master: &MasterKey, suite: Suite) -> Session {
        let mut master_key = [0u8; 16];
        master_key.copy_from_slice(&master.0[..16]);
        let cipher = Aes128::new(&Array::from(master_key));
        let derive = |label: u8, out: &mut [u8]| {
            let mut counter = [0u8; 16];
            counter[..14].copy_from_slice(&master.0[16..]);
            counter[7] ^= label;
            key_stream(&cipher, counter, out);
        };
        let (mut key, mut authentication, mut salt) = ([0u8; 16], [0u8; 20], [0u8; 14]);
        derive(0, &mut key);
        derive(1, &mut authentication);
        derive(2, &mut salt);
        Session {
            cipher: Aes128::new(&Array::from(key)),
            salt,
            authentication: hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &authentication),
            tag: suite.tag(),
        }
    }

    fn counter(&self, ssrc: u32, index: u64) -> [u8; 16] {
        let mut counter = [0u8; 16];
        counter[..14].copy_from_slice(&self.salt);
        for (byte, value) in counter[4..8].iter_mut().zip(ssrc.to_be_bytes()) {
            *byte ^= value;
        }
        for (byte, value) in counter[8..14].iter_mut().zip(&index.to_be_bytes()[2..]) {
            *byte ^= value;
        }
        counter
    }

    fn tag(&self, packet: &[u8], index: u64) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.authentication);
        context.update(packet);
        context.update(&((index >> 16) as u32).to_be_bytes());
        context.sign()
    }
}

/// Encrypts what we send.
pub(super) struct Protect {
    session: Session,
    roll_over: u32,
    last: Option<u16>,
}

impl Protect {
    pub(super) fn new(keys: &Keys) -> Protect {
        Protect { session: Session::new(&keys.local, keys.suite), roll_over: 0, last: None }
    }

    /// Encrypts a packet that was written by us, in order of its sequence number.
    pub(super) fn packet(&mut self, bytes: &mut Vec<u8>) {
        let (Some(start), Some((sequence, ssrc))) = (rtp::header_length(bytes), rtp::identity(bytes)) else {
            return;
        };
        if self.last.is_some_and(|last| sequence < last) {
            self.roll_over = self.roll_over.wrapping_add(1);
        }
        self.last = Some(sequence);
        let index = u64::from(self.roll_over) << 16 | u64::from(sequence);
        let counter = self.session.counter(ssrc, index);
        key_stream(&self.session.cipher, counter, &mut bytes[start..]);
        let tag = self.session.tag(bytes, index);
        bytes.extend_from_slice(&tag.as_ref()[..self.session.tag]);
    }
}

/// What is known of one sender.
#[derive(Clone, Copy)]
struct Source {
    ssrc: u32,
    newest: u64,
    /// Bit n: packet `newest - n` was received.
    seen: u64,
}

impl Source {
    /// The index of a packet with this sequence number (RFC 3711 section 3.3.1).
    fn index(&self, sequence: u16) -> u64 {
        let (roll_over, last) = (self.newest >> 16, self.newest as u16);
        let roll_over = if last < 0x8000 {
            if sequence > last && sequence - last > 0x8000 { roll_over.saturating_sub(1) } else { roll_over }
        } else if last - 0x8000 > sequence {
            roll_over + 1
        } else {
            roll_over
        };
        roll_over << 16 | u64::from(sequence)
    }

    fn is_new(&self, index: u64) -> bool {
        match self.newest.checked_sub(index) {
            None => true,
            Some(behind) => behind < WINDOW && self.seen & (1 << behind) == 0,
        }
    }

    fn mark(&mut self, index: u64) {
        match self.newest.checked_sub(index) {
            Some(behind) => self.seen |= 1u64.checked_shl(behind as u32).unwrap_or(0),
            None => {
                let ahead = (index - self.newest).min(WINDOW) as u32;
                self.seen = self.seen.checked_shl(ahead).unwrap_or(0) | 1;
                self.newest = index;
            }
        }
    }
}

/// Decrypts what the other side sends.
pub(super) struct Unprotect {
    session: Session,
    sources: Vec<Source>,
}

impl Unprotect {
    pub(super) fn new(keys: &Keys) -> Unprotect {
        Unprotect { session: Session::new(&keys.remote, keys.suite), sources: Vec::new() }
    }

    /// Decrypts a packet in place and returns its length; none when it is not from the holder of the key, or
    /// a repetition.
    pub(super) fn packet(&mut self, bytes: &mut [u8]) -> Option<usize> {
        let (sequence, ssrc) = rtp::identity(bytes)?;
        let known = self.sources.iter().position(|source| source.ssrc == ssrc);
        let index = known.map_or(u64::from(sequence), |at| self.sources[at].index(sequence));
        if known.is_some_and(|at| !self.sources[at].is_new(index)) {
            return None;
        }
        let end = bytes.len().checked_sub(self.session.tag)?;
        let start = rtp::header_length(&bytes[..end])?;
        let tag = self.session.tag(&bytes[..end], index);
        let different =
            tag.as_ref().iter().zip(&bytes[end..]).fold(0, |sum, (one, other)| sum | (one ^ other));
        if different != 0 {
            return None;
        }
        match known {
            Some(at) => self.sources[at].mark(index),
            None => {
                if self.sources.len() == SOURCES {
                    self.sources.remove(0);
                }
                self.sources.push(Source { ssrc, newest: index, seen: 1 });
            }
        }
        let counter = self.session.counter(ssrc, index);
        key_stream(&self.session.cipher, counter, &mut bytes[start..end]);
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex")).collect()
    }

    /// RFC 3711 appendix B.3.
    fn master() -> MasterKey {
        let bytes = hex("E1F97A0D3E018BE0D64FA32C06DE41390EC675AD498AFEEBB6960B3AABE6");
        MasterKey(bytes.try_into().expect("30 bytes"))
    }

    fn keys(suite: Suite) -> Keys {
        Keys { suite, local: master(), remote: master() }
    }

    fn packet(sequence: u16, ssrc: u32) -> Vec<u8> {
        let mut bytes = vec![0x80, 0];
        bytes.extend(sequence.to_be_bytes());
        bytes.extend([0xde, 0xca, 0xfb, 0xad]);
        bytes.extend(ssrc.to_be_bytes());
        bytes.extend([0xab; 16]);
        bytes
    }

    #[test]
    fn the_key_stream_is_that_of_the_rfc() {
        // Appendix B.2.
        let cipher = Aes128::new(&Array::from(
            <[u8; 16]>::try_from(hex("2B7E151628AED2A6ABF7158809CF4F3C")).expect("16 bytes"),
        ));
        let mut counter = [0u8; 16];
        counter[..14].copy_from_slice(&hex("F0F1F2F3F4F5F6F7F8F9FAFBFCFD"));
        let mut stream = [0u8; 48];
        key_stream(&cipher, counter, &mut stream);
        let expected = "E03EAD0935C95E80E166B16DD92B4EB4D23513162B02D0F72A43A2FE4A5F97AB41E95B3BB0A2E8DD477901E4FCA894C0";
        assert_eq!(stream.to_vec(), hex(expected));
    }

    #[test]
    fn derived_keys_are_those_of_the_rfc() {
        // Appendix B.3: the cipher key shows in what it encrypts, the salt is kept, the authentication key
        // shows in a tag.
        let session = Session::new(&master(), Suite::AesCm128HmacSha1_80);
        assert_eq!(session.salt.to_vec(), hex("30CBBC08863D8C85D49DB34A9AE1"));
        let expected = Aes128::new(&Array::from(
            <[u8; 16]>::try_from(hex("C61E7A93744F39EE10734AFE3FF7A087")).expect("16 bytes"),
        ));
        let (mut ours, mut theirs) = ([0u8; 32], [0u8; 32]);
        key_stream(&session.cipher, [7; 16], &mut ours);
        key_stream(&expected, [7; 16], &mut theirs);
        assert_eq!(ours, theirs);
        let key = hex("CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4");
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key);
        let plain = [b"packet".as_slice(), &[0, 0, 0, 2]].concat();
        assert_eq!(session.tag(b"packet", 2 << 16).as_ref(), hmac::sign(&key, &plain).as_ref());
    }

    #[test]
    fn a_packet_of_another_implementation_is_understood_and_made() {
        // The validation packet of libsrtp's test driver (AES-128-ICM, HMAC-SHA1-80), which has the RFC's
        // master key.
        let plain = hex("800F1234DECAFBADCAFEBABEABABABABABABABABABABABABABABABAB");
        let cipher = hex("800F1234DECAFBADCAFEBABE4E55DC4CE79978D88CA4D215949D2402B78D6ACC99EA179B8DBB");
        let mut made = plain.clone();
        Protect::new(&keys(Suite::AesCm128HmacSha1_80)).packet(&mut made);
        assert_eq!(made, cipher);
        let mut read = cipher;
        let length = Unprotect::new(&keys(Suite::AesCm128HmacSha1_80)).packet(&mut read);
        assert_eq!(&read[..length.expect("authentic")], &plain[..]);
    }

    #[test]
    fn changed_foreign_and_repeated_packets_are_refused() {
        for suite in [Suite::AesCm128HmacSha1_80, Suite::AesCm128HmacSha1_32] {
            let mut sent = packet(5, 1);
            Protect::new(&keys(suite)).packet(&mut sent);
            let mut receiver = Unprotect::new(&keys(suite));
            for at in 0..sent.len() {
                let mut changed = sent.clone();
                changed[at] ^= 1;
                assert_eq!(receiver.packet(&mut changed), None, "byte {at}");
            }
            let foreign = Keys { remote: MasterKey::random(), ..keys(suite) };
            assert_eq!(Unprotect::new(&foreign).packet(&mut sent.clone()), None);
            assert!(receiver.packet(&mut sent.clone()).is_some());
            assert_eq!(receiver.packet(&mut sent), None);
        }
    }

    #[test]
    fn a_former_sender_cannot_be_played_again() {
        let mut sender = Protect::new(&keys(Suite::AesCm128HmacSha1_80));
        let mut receiver = Unprotect::new(&keys(Suite::AesCm128HmacSha1_80));
        let mut first = packet(5, 1);
        sender.packet(&mut first);
        assert!(receiver.packet(&mut first.clone()).is_some());
        let mut second = packet(9, 2);
        sender.packet(&mut second);
        assert!(receiver.packet(&mut second).is_some());
        assert_eq!(receiver.packet(&mut first), None);
    }

    proptest! {
        #[test]
        fn order_loss_and_wrap_around_do_not_matter(start: u16, steps in prop::collection::vec((0u16..40, 0usize..8), 1..300)) {
            let mut sender = Protect::new(&keys(Suite::AesCm128HmacSha1_80));
            let mut receiver = Unprotect::new(&keys(Suite::AesCm128HmacSha1_80));
            let mut sequence = start & 0x7fff;
            let mut sent = Vec::new();
            // 300 steps of up to 500 pass the wrap-around.
            for (lost, behind) in steps {
                sequence = sequence.wrapping_add(1 + lost * 12);
                let mut bytes = packet(sequence, 3);
                sender.packet(&mut bytes);
                sent.push((sent.len() + behind, sequence, bytes));
            }
            sent.sort_by_key(|(at, ..)| *at);
            let mut newest = None::<u16>;
            for (_, sequence, mut bytes) in sent {
                let behind = newest.map_or(0, |newest| newest.wrapping_sub(sequence) as i16);
                let read = receiver.packet(&mut bytes);
                // One that lies further back than the window is given up.
                if i64::from(behind) < WINDOW as i64 {
                    let length = read.expect("authentic");
                    prop_assert_eq!(&bytes[..length], &packet(sequence, 3)[..]);
                }
                if behind <= 0 {
                    newest = Some(sequence);
                }
            }
        }

        #[test]
        fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert_eq!(Unprotect::new(&keys(Suite::AesCm128HmacSha1_32)).packet(&mut bytes), None);
        }

        #[test]
        fn key_texts_never_panic(text in "\\PC*") {
            let _ = MasterKey::from_text(&text);
        }
    }
}
