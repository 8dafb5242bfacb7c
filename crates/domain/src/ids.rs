//! Ids are TypeIDs: a prefix, `_`, and 26 base32 characters of a UUIDv7. They sort by the time they were made
//! and are opaque to clients.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// The noun that an [`Id`] names; its prefix is what clients see in front of every id of this kind.
pub trait Kind: Send + Sync + 'static {
    /// Leading part of the text form, without the underscore.
    const PREFIX: &'static str;
    /// The prefix under which ids of this kind are stored. It is another one where the prefix was changed: rows keep the
    /// former, so that nodes of both versions find them, and a client that kept such an id can go on using it.
    const STORED: &'static str = Self::PREFIX;
}

/// Declares the kinds and their prefixes (docs/contract/README.md#ids).
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal $(stored as $stored:literal)?,)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub enum $name {}
            impl Kind for $name {
                const PREFIX: &'static str = $prefix;
                $(const STORED: &'static str = $stored;)?
            }
        )*

        /// The former prefix of ids that begin with `prefix`, if it was changed: requests may still use it.
        pub fn former_prefix(prefix: &str) -> Option<&'static str> {
            [$(($name::PREFIX, $name::STORED)),*]
                .into_iter()
                .find(|(now, stored)| *now == prefix && now != stored)
                .map(|(_, stored)| stored)
        }
    };
}

kinds! {
    Workspace = "ws",
    /// An API key.
    ApiKey = "key",
    /// A voice or chat agent.
    Agent = "agt",
    /// A call; also the interaction id of nudge attempts and webhook payloads.
    Call = "call",
    Contact = "con",
    Campaign = "cmp",
    /// One on-demand call with its own states and a single result.
    Nudge = "ndg",
    /// A call at a set time.
    ScheduledCall = "scall",
    /// A line of the wallet ledger.
    WalletTransaction = "wtx",
    /// The carrier's id of a call.
    ProviderCall = "prov",
    WebhookEndpoint = "whe",
    /// One event on its way to one endpoint.
    Delivery = "whd",
    Event = "evt",
    /// A phone number that a workspace owns.
    Number = "num",
    /// A tool that an agent may use.
    Tool = "tool",
    /// A member of a workspace: a person with a role there.
    User = "usr",
    /// A person who signs in.
    Person = "psn",
    /// A session of a signed-in person.
    Session = "sess",
    /// An invitation into a workspace.
    Invitation = "invt",
    /// A link that signs a person in once.
    SignInLink = "sil",
    /// A compliance pack made by the operator.
    CompliancePack = "cpk",
    Recording = "rec",
    /// A recorded consent, or its withdrawal.
    Consent = "cns",
    /// A row of a campaign's calling list.
    ListRow = "row",
    /// A run of a campaign: one session of dialling.
    CampaignRun = "run",
    /// An e-mail that a campaign owes.
    Mail = "mail",
    /// An outcome board.
    Board = "brd",
    /// A column of a board.
    BoardColumn = "col",
    /// A person on a board.
    Card = "card",
    /// A move of a card into another column.
    BoardMove = "move",
    DataStream = "dst",
    /// A record that arrived in a data stream.
    StreamRecord = "dsr",
    /// An account of an outside system.
    Integration = "int",
    KnowledgeBase = "kb",
    /// A document of a knowledge base.
    KnowledgeDocument = "kdoc",
    /// A conversation in writing.
    Chat = "chatsess",
    /// A label that a team puts on chats.
    ChatLabel = "lbl",
    /// A private note of a team on a chat.
    ChatNote = "note",
    /// An answer that a team keeps to write it again.
    SavedAnswer = "ans",
    /// A document that a customer handed in.
    Document = "doc",
    /// An evaluation of one conversation.
    EvaluationRun = "evr",
    /// An evaluation of many past conversations.
    EvaluationSweep = "evs",
    /// A message on the messaging channel.
    ChannelMessage = "camsg",
    /// All messages between a business number and a person.
    ChannelThread = "msgth" stored as "cathr",
    /// A template of the messaging channel.
    ChannelTemplate = "tpl" stored as "catpl",
    /// A workspace's account with the messaging channel.
    ChannelConnection = "cacon",
    /// A business number on the messaging channel.
    ChannelNumber = "canum",
    /// A notification that the messaging channel sent.
    ChannelNotification = "canot",
    /// A run of a flow by its author, before anybody talks with it.
    FlowTry = "try",
    /// A link with which an agent can be tested in a chat.
    TestLink = "tlnk",
    /// Something that concerns a member.
    Notification = "ntf",
}

/// An id of one kind. It is cheap to copy. Its text form is `prefix_` and 26 characters.
pub struct Id<K> {
    bits: u128,
    kind: PhantomData<fn() -> K>,
}

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Value of each letter of the alphabet; 255 for every other byte.
const VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut at = 0;
    while at < 32 {
        values[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    values
};

/// Longest text form: the longest prefix, `_`, and 26 characters.
const LONGEST: usize = 40;

impl<K: Kind> Id<K> {
    /// Writes the text form and hands it to `read`, without allocating.
    pub fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        self.with_prefix(K::PREFIX, read)
    }

    /// The text under which the id is stored ([`Kind::STORED`]); clients never see it.
    pub fn stored(&self) -> String {
        self.with_prefix(K::STORED, str::to_owned)
    }

    fn with_prefix<T>(&self, prefix: &str, read: impl FnOnce(&str) -> T) -> T {
        let mut text = [0u8; LONGEST];
        let prefix = prefix.as_bytes();
        let end = prefix.len() + 27;
        text[..prefix.len()].copy_from_slice(prefix);
        text[prefix.len()] = b'_';
        let mut bits = self.bits;
        for slot in text[prefix.len() + 1..end].iter_mut().rev() {
            *slot = ALPHABET[(bits & 31) as usize];
            bits >>= 5;
        }
        read(std::str::from_utf8(&text[..end]).unwrap_or_default())
    }

    /// An id from a moment (milliseconds since 1970) and 74 random bits; the order of ids of one millisecond
    /// is the order of `random`.
    pub fn new(unix_ms: i64, random: u128) -> Self {
        let time = (unix_ms.max(0) as u128) & 0xFFFF_FFFF_FFFF;
        let rand_a = (random >> 62) & 0xFFF;
        let rand_b = random & ((1 << 62) - 1);
        Self::from_bits((time << 80) | (7 << 76) | (rand_a << 64) | (0b10 << 62) | rand_b)
    }

    /// The id made of these 128 bits.
    pub fn from_bits(bits: u128) -> Self {
        Self { bits, kind: PhantomData }
    }

    /// The 128 bits behind the text form.
    pub fn bits(&self) -> u128 {
        self.bits
    }

    /// Milliseconds since 1970 at which the id was made.
    pub fn unix_ms(&self) -> i64 {
        (self.bits >> 80) as i64
    }
}

/// The text is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAnId {
    /// Prefix that the text should have had.
    pub expected: &'static str,
}

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "must be an id that starts with {}_", self.expected)
    }
}

impl std::error::Error for NotAnId {}

impl<K: Kind> FromStr for Id<K> {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let wrong = || NotAnId { expected: K::PREFIX };
        let after = |prefix: &str| text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
        let body = after(K::PREFIX).or_else(|| after(K::STORED)).ok_or_else(wrong)?;
        if body.len() != 26 || !(b'0'..=b'7').contains(&body.as_bytes()[0]) {
            return Err(wrong());
        }
        let mut bits = 0u128;
        for byte in body.bytes() {
            let digit = VALUES[usize::from(byte)];
            if digit == 255 {
                return Err(wrong());
            }
            bits = (bits << 5) | u128::from(digit);
        }
        Ok(Self::from_bits(bits))
    }
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| f.pad(text))
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}
impl<K> Eq for Id<K> {}
impl<K> std::hash::Hash for Id<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.bits.hash(state);
    }
}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.bits.cmp(&other.bits)
    }
}

impl<K: Kind> serde::Serialize for Id<K> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_text(|text| serializer.serialize_str(text))
    }
}

impl<'de, K: Kind> serde::Deserialize<'de> for Id<K> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        let id = Id::<Nudge>::new(1_763_700_000_000, 0x3FF_FFFF_0000_1234);
        let text = id.to_string();
        assert_eq!(text.len(), "ndg_".len() + 26);
        assert_eq!(text.parse::<Id<Nudge>>().unwrap(), id);
        assert_eq!(id.unix_ms(), 1_763_700_000_000);
    }

    #[test]
    fn other_kinds_and_rubbish_are_refused() {
        let id = Id::<Nudge>::new(1, 1).to_string();
        assert!(id.parse::<Id<Call>>().is_err());
        for text in [
            "",
            "ndg_",
            "ndg_8zzzzzzzzzzzzzzzzzzzzzzzzz",
            "ndg_0000000000000000000000000u",
            "ndg_é0000000000000000000000000",
        ] {
            assert!(text.parse::<Id<Nudge>>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_id_is_read_with_its_former_prefix_and_stored_under_it() {
        let id = Id::<ChannelTemplate>::new(1_763_700_000_000, 7);
        let (shown, stored) = (id.to_string(), id.stored());
        assert_eq!((&shown[..4], &stored[..6]), ("tpl_", "catpl_"));
        assert_eq!((shown.parse(), stored.parse()), (Ok(id), Ok(id)));
        assert_eq!((former_prefix("tpl"), former_prefix("ndg")), (Some("catpl"), None));
        let nudge = Id::<Nudge>::new(1, 1);
        assert_eq!(nudge.stored(), nudge.to_string());
    }

    #[test]
    fn later_ids_sort_later_as_text() {
        let early = Id::<Call>::new(1000, u128::MAX).to_string();
        let late = Id::<Call>::new(1001, 0).to_string();
        assert!(early < late);
    }
}
