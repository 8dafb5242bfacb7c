//! What payloads and their samples share.

use domain::ids::{Id, Kind};
use domain::time::Timestamp;

/// A member that only some events of a type have. It is absent where it is `None`; samples show it as null.
pub type Sometimes<T> = Option<Option<T>>;

pub(super) const AGENT: &str = "agt_01k9v5x2m8e6fs4v0q3n7w1y2z";
pub(super) const CONTACT: &str = "con_01k9v5x2m8e6fs4v0q3n7w1y30";
pub(super) const CALL: &str = "call_01k9v5x2m8e6fs4v0q3n7w1y31";
pub(super) const CHAT: &str = "chatsess_01k9v5x2m8e6fs4v0q3n7w1y32";
pub(super) const PHONE: &str = "+919812345678";
pub(super) const BUSINESS: &str = "+918045670001";
pub(super) const PHONE_NUMBER_ID: &str = "106540352242922";
pub(super) const CUSTOMER_REF: &str = "cust_1042";

/// An id of a sample.
pub(super) fn id<K: Kind>(text: &str) -> Id<K> {
    text.parse().expect("samples have ids of the right kind")
}

/// A moment of a sample.
pub(super) fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).expect("samples have moments in ISO 8601")
}
