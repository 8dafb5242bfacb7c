//! People (docs/contract/contacts.md).

use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::envelope::Deleted;
use crate::error_codes::{
    CONFLICT, CONTACT_ERASED, CONTACT_HAS_HISTORY, OPT_OUT_DOWNGRADE, PHONE_IMMUTABLE, PHONE_TAKEN,
};
use crate::operation::Method::{DELETE, GET, POST, PUT};
use crate::operation::{Operation, operation};
use crate::schema::{Field, Schema, cursor, data, given, limit, page, request};
use crate::scopes::{CONTACTS_ERASE, CONTACTS_READ, CONTACTS_WRITE};

/// Most attributes of a contact.
pub const MAX_ATTRIBUTES: usize = 100;
/// Longest name of an attribute, characters.
pub const MAX_ATTRIBUTE_NAME: usize = 120;
/// Largest attributes of a contact as compact JSON, bytes.
pub const MAX_ATTRIBUTES_BYTES: usize = 16 * 1024;
/// Most contacts in a batch.
pub const MAX_BATCH: usize = 500;
/// Bytes of names and texts in one item of a batch.
const MAX_ITEM: usize = 96 * 1024;

/// A person.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Contact {
    /// Its id.
    pub id: Id<ids::Contact>,
    /// Your own id of the person.
    pub external_ref: Option<String>,
    /// Number, E.164.
    pub phone: Option<String>,
    /// The number is on the platform do-not-call registry.
    pub dnd: bool,
    /// Whether the person opted out.
    pub opt_out: bool,
    /// `en` or `hi`.
    pub preferred_language: String,
    /// Last call or message.
    pub last_contact_at: Option<Timestamp>,
    /// Free attributes.
    #[schemars(with = "Map<String, Value>")]
    pub attributes: Value,
    /// Name.
    pub name: Option<String>,
    /// E-mail address.
    pub email: Option<String>,
    /// Company.
    pub company: Option<String>,
    /// The person's id on the chat channel.
    pub chatapp_user_id: Option<String>,
    /// The person's name on the chat channel.
    pub chatapp_username: Option<String>,
    /// Time zone, an IANA name.
    pub timezone: String,
}

/// A contact with what only a single read tells.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactDetail {
    /// What a list shows.
    #[serde(flatten)]
    pub contact: Contact,
    /// Calls are blocked: the contact opted out or its number is on the workspace do-not-call list.
    pub do_not_call: bool,
    /// The recorded basis for calling, for compliance packs that require one.
    #[schemars(with = "Option<Consent>")]
    pub consent: Option<Value>,
    /// What the person said on the messaging channel.
    pub chatapp: ChannelConsent,
}

/// What a person said on the messaging channel.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelConsent {
    /// Whether messages may be sent: false after a STOP, on the do-not-call list, and after an opt-out.
    pub messages_allowed: bool,
    /// Since when the person wants no messages.
    pub stopped_at: Option<Timestamp>,
    /// Who said so: `chatapp`.
    pub stop_source: Option<String>,
    /// Since when the person wants no marketing, said to the channel's provider.
    pub marketing_stopped_at: Option<Timestamp>,
    /// When the person allowed marketing.
    pub opted_in_at: Option<Timestamp>,
    /// How.
    pub opt_in_source: Option<String>,
}

/// A recorded basis for calling.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Consent {
    /// Its id.
    pub id: String,
    /// How the person agreed.
    pub source: String,
    /// When the person agreed.
    pub captured_at: Timestamp,
    /// Your own proof.
    pub reference: Option<String>,
    /// When it was recorded here.
    pub recorded_at: Timestamp,
}

/// What is to be known of a person; what is absent stays, or has its default in a new contact.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactChange {
    /// Your own id of the person.
    #[serde(default)]
    #[schemars(length(min = 1, max = 120))]
    pub external_ref: String,
    /// Number in any usual Indian writing.
    #[schemars(length(min = 8, max = 20))]
    pub phone: Option<String>,
    /// Language of calls.
    #[schemars(with = "Option<ContactLanguage>")]
    pub preferred_language: Option<String>,
    /// IANA name; Asia/Kolkata for a new contact.
    #[schemars(length(min = 1, max = 64))]
    pub timezone: Option<String>,
    /// Replaces all attributes: up to 100, names of 1-120 characters, 16 KB together as JSON.
    #[schemars(extend("maxProperties" = MAX_ATTRIBUTES, "x-maxBytes" = 4 * MAX_ATTRIBUTES_BYTES))]
    pub attributes: Option<Map<String, Value>>,
    /// true adds the number to the do-not-call list; false never lifts an opt-out.
    pub opt_out: Option<bool>,
    /// Name; null clears it.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = 200), extend("x-nullable" = true))]
    pub name: Option<Option<String>>,
    /// E-mail address; null clears it.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 3, max = 254), extend("x-nullable" = true))]
    pub email: Option<Option<String>>,
    /// Company; null clears it.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = 200), extend("x-nullable" = true))]
    pub company: Option<Option<String>>,
    /// Records the basis for calling, for compliance packs that require one.
    pub consent: Option<NewConsent>,
}

/// A language of calls.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContactLanguage {
    /// English.
    En,
    /// Hindi.
    Hi,
}

/// How and when a person agreed to be called.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewConsent {
    /// How the person agreed.
    #[schemars(with = "ConsentSource")]
    pub source: String,
    /// When the person agreed; not in the future.
    pub captured_at: Timestamp,
    /// Your own proof, such as a document number.
    #[schemars(length(min = 1, max = 200), extend("x-nullable" = true))]
    pub reference: Option<String>,
}

/// How a person agreed to be called.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ConsentSource {
    WebForm,
    App,
    Call,
    Sms,
    Email,
    Chatapp,
    Paper,
    Branch,
    Import,
    Other,
}

/// Contacts to be created or updated.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContactBatch {
    /// Bodies of upserts.
    #[schemars(with = "Vec<BatchItem>", length(min = 1, max = MAX_BATCH))]
    pub contacts: Vec<Value>,
}

/// An item is checked by itself, so that a wrong one does not refuse the others.
#[derive(JsonSchema)]
#[schemars(inline, extend("x-maxBytes" = MAX_ITEM))]
#[allow(dead_code, reason = "only its schema is used")]
struct BatchItem(Value);

/// What became of a batch.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContactBatchResult {
    /// Items that were taken.
    pub succeeded: usize,
    /// Items that were refused.
    pub failed: usize,
    /// Each item, in the order of the request.
    pub results: Vec<ContactBatchItem>,
}

/// What became of one item of a batch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactBatchItem {
    /// What the single upsert would answer.
    pub status: u16,
    /// Your own id of the person, as it was sent.
    pub external_ref: Option<String>,
    /// The contact, when the item was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Contact>,
    /// Why it was refused, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it was refused, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The contact that has the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub existing_id: Option<Value>,
}

/// What an erasure did.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Erasure {
    /// The contact.
    pub contact_id: Id<ids::Contact>,
    /// When it was erased.
    pub erased_at: Timestamp,
    /// How much was erased.
    pub erased: Erased,
    /// Whether an earlier request did it.
    pub already_erased: bool,
}

/// How much an erasure erased.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
pub struct Erased {
    /// Calls whose numbers, variables and metadata were emptied.
    pub calls: u64,
    /// Transcripts.
    pub transcripts: u64,
    /// Recordings.
    pub recordings: u64,
    /// Messages of chats.
    pub messages: u64,
    /// Pending nudges that were cancelled.
    pub nudges_cancelled: u64,
    /// Webhook deliveries whose payload was emptied.
    pub deliveries_redacted: u64,
}

/// Body of an upsert; every item of a batch is checked against it by itself.
pub fn new_contact() -> Schema {
    request::<ContactChange>().variant("NewContact", |field| {
        let required = matches!(&*field.name, "externalRef" | "phone");
        Some(Field { required, default: None, ..field })
    })
}

fn contact_change() -> Schema {
    request::<ContactChange>()
        .variant("ContactChange", |field| Some(Field { required: false, default: None, ..field }))
}

fn list_query() -> Vec<Field> {
    vec![limit(200), cursor()]
}

const fn row(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Contacts", summary)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(GET, "/v1/contacts", "listContacts", "Contacts, newest first")
        .scope(CONTACTS_READ)
        .query(list_query)
        .answers(&[(200, Some(page::<Contact>))]),
    row(GET, "/v1/contacts/{id}", "getContact", "One contact")
        .scope(CONTACTS_READ)
        .answers(&[(200, Some(data::<ContactDetail>))])
        .errors(&[CONTACT_ERASED]),
    row(POST, "/v1/contacts", "upsertContact", "Create a contact, or update the one with this externalRef")
        .scope(CONTACTS_WRITE)
        .live_only()
        .body(new_contact)
        .answers(&[(201, Some(data::<Contact>)), (200, Some(data::<Contact>))])
        .errors(&[PHONE_IMMUTABLE, PHONE_TAKEN, OPT_OUT_DOWNGRADE, CONFLICT]),
    row(POST, "/v1/contacts/batch", "upsertContacts", "Up to 500 upserts; each succeeds or fails by itself")
        .scope(CONTACTS_WRITE)
        .live_only()
        .body(request::<ContactBatch>)
        .answers(&[(200, Some(data::<ContactBatchResult>))]),
    row(PUT, "/v1/contacts/{id}", "updateContact", "Update a contact")
        .scope(CONTACTS_WRITE)
        .live_only()
        .body(contact_change)
        .answers(&[(200, Some(data::<Contact>))])
        .errors(&[PHONE_IMMUTABLE, PHONE_TAKEN, OPT_OUT_DOWNGRADE, CONFLICT, CONTACT_ERASED]),
    row(DELETE, "/v1/contacts/{id}", "deleteContact", "Delete a contact that was never called")
        .scope(CONTACTS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<Deleted>))])
        .errors(&[CONTACT_HAS_HISTORY, CONTACT_ERASED]),
    row(
        POST,
        "/v1/contacts/{id}/erase",
        "eraseContact",
        "Erase a person's data for good; non-personal proof remains",
    )
    .scope(CONTACTS_ERASE)
    .live_only()
    .answers(&[(200, Some(data::<Erasure>))]),
];
