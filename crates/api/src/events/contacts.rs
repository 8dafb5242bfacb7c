//! Events of contacts.

use domain::ids::{self, Id};
use schemars::JsonSchema;
use serde::Serialize;

use super::samples::{CALL, CONTACT, CUSTOMER_REF, PHONE, Sometimes, id};

/// A contact that opted out of calls or messages.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OptedOutContact {
    /// Id of the contact, `con_…`.
    pub contact_id: Id<ids::Contact>,
    /// Your own id of the contact; null without one.
    pub external_ref: Option<String>,
    /// The number, E.164; null for a contact without one.
    pub phone: Option<String>,
    /// Where the contact opted out: `call`, `console`, `api` or `chatapp`.
    pub source: String,
    /// Id of the call, for `source: call`; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<Id<ids::Call>>,
    /// `chatapp` for an opt-out on the messaging channel only; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Sometimes<String>,
}

impl OptedOutContact {
    pub(super) fn sample() -> Self {
        Self {
            contact_id: id(CONTACT),
            external_ref: Some(CUSTOMER_REF.into()),
            phone: Some(PHONE.into()),
            source: "call".into(),
            call_id: Some(id(CALL)),
            channel: Some(None),
        }
    }
}
