//! People (docs/contract/contacts.md).

use domain::ids::{self, Id};
use domain::tenant::Role;
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

/// A contact: a person who is called or written to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Contact {
    /// Id of the contact, `con_…`.
    pub id: Id<ids::Contact>,
    /// Your own id of the contact; null if none was given. It never changes once it is set.
    pub external_ref: Option<String>,
    /// The number, E.164; null for a contact without one.
    pub phone: Option<String>,
    /// Whether the number is on the platform's do-not-call registry.
    pub dnd: bool,
    /// Whether the contact opted out of calls and messages.
    pub opt_out: bool,
    /// Language of the contact: `en` or `hi`.
    pub preferred_language: String,
    /// When the contact was last called or written to; null before that.
    pub last_contact_at: Option<Timestamp>,
    /// Your own values by name. Those that are text, numbers or booleans are variables of the contact's
    /// calls.
    #[schemars(with = "Map<String, Value>")]
    pub attributes: Value,
    /// The contact's name; null if it is unknown.
    pub name: Option<String>,
    /// The contact's e-mail address; null if it is unknown.
    pub email: Option<String>,
    /// The contact's company; null if it is unknown.
    pub company: Option<String>,
    /// The contact's id on the messaging channel; null if the channel reports none.
    pub chatapp_user_id: Option<String>,
    /// The contact's username on the messaging channel; null without one.
    pub chatapp_username: Option<String>,
    /// IANA name of the contact's time zone.
    pub timezone: String,
}

/// A contact with its consents and opt-outs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactDetail {
    /// The fields that a list shows.
    #[serde(flatten)]
    pub contact: Contact,
    /// Whether calls are blocked: the contact opted out, or its number is on the workspace's do-not-call
    /// list.
    pub do_not_call: bool,
    /// The newest recorded consent to be called, for compliance packs that require one; null without one.
    #[schemars(with = "Option<Consent>")]
    pub consent: Option<Value>,
    /// Consents and opt-outs on the messaging channel.
    pub chatapp: ChannelConsent,
}

/// Consents and opt-outs of a contact on the messaging channel.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelConsent {
    /// Whether messages may be sent: false after a STOP, on the do-not-call list, and after an opt-out.
    pub messages_allowed: bool,
    /// When the contact stopped messages; null if it did not.
    pub stopped_at: Option<Timestamp>,
    /// How the contact stopped messages: `chatapp`; null if it did not.
    pub stop_source: Option<String>,
    /// When the contact stopped marketing with the channel's provider; null if it did not.
    pub marketing_stopped_at: Option<Timestamp>,
    /// When the contact agreed to marketing; null if no opt-in is recorded.
    pub opted_in_at: Option<Timestamp>,
    /// How the contact agreed to marketing; null if no opt-in is recorded.
    pub opt_in_source: Option<String>,
}

/// A recorded consent to be called.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Consent {
    /// Id of the consent, `cns_…`.
    pub id: String,
    /// How the contact agreed, such as `web_form`.
    pub source: String,
    /// When the contact agreed.
    pub captured_at: Timestamp,
    /// Your own proof of the consent; null if none was given.
    pub reference: Option<String>,
    /// When the consent was recorded here.
    pub recorded_at: Timestamp,
}

/// Fields of a contact. An absent field is not changed; in a new contact it gets its default.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactChange {
    /// Your own id of the contact; it never changes once it is set.
    #[serde(default)]
    #[schemars(length(min = 1, max = 120))]
    pub external_ref: String,
    /// An Indian subscriber number in any usual notation; it cannot change once it is set (400
    /// `phone_immutable`).
    #[schemars(length(min = 8, max = 20))]
    pub phone: Option<String>,
    /// Language of the contact; `en` for a new contact.
    #[schemars(with = "Option<ContactLanguage>")]
    pub preferred_language: Option<String>,
    /// IANA name of the time zone; `Asia/Kolkata` for a new contact.
    #[schemars(length(min = 1, max = 64))]
    pub timezone: Option<String>,
    /// Your own values by name; they replace all attributes. Names of 1-120 characters, 16 KB in all as JSON.
    #[schemars(extend("maxProperties" = MAX_ATTRIBUTES, "x-maxBytes" = 4 * MAX_ATTRIBUTES_BYTES))]
    pub attributes: Option<Map<String, Value>>,
    /// `true` opts the contact out and adds its number to the do-not-call list; `false` never lifts an
    /// opt-out (409 `opt_out_downgrade`).
    pub opt_out: Option<bool>,
    /// The contact's name; null removes it.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = 200), extend("x-nullable" = true))]
    pub name: Option<Option<String>>,
    /// The contact's e-mail address; null removes it.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 3, max = 254), extend("x-nullable" = true))]
    pub email: Option<Option<String>>,
    /// The contact's company; null removes it.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = 200), extend("x-nullable" = true))]
    pub company: Option<Option<String>>,
    /// Records a consent to be called, for compliance packs that require one.
    pub consent: Option<NewConsent>,
}

/// Language of a contact: `en` (English) or `hi` (Hindi).
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContactLanguage {
    /// English.
    En,
    /// Hindi.
    Hi,
}

/// A consent to be called.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewConsent {
    /// How the contact agreed, such as `web_form`.
    #[schemars(with = "ConsentSource")]
    pub source: String,
    /// When the contact agreed; not in the future.
    pub captured_at: Timestamp,
    /// Your own proof of the consent, such as a document number; null for none.
    #[schemars(length(min = 1, max = 200), extend("x-nullable" = true))]
    pub reference: Option<String>,
}

/// How a contact agreed to be called.
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

/// Contacts that are created or updated.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContactBatch {
    /// Bodies of single upserts, up to 64 KB each; one invalid item does not affect the others.
    #[schemars(with = "Vec<BatchItem>", length(min = 1, max = MAX_BATCH))]
    pub contacts: Vec<Value>,
}

/// An upsert, which is checked separately from the others.
#[derive(JsonSchema)]
#[schemars(inline, extend("x-maxBytes" = MAX_ITEM))]
#[allow(dead_code, reason = "only its schema is used")]
struct BatchItem(Value);

/// The result of a batch, item by item.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContactBatchResult {
    /// Number of items that were stored.
    pub succeeded: usize,
    /// Number of items that were refused.
    pub failed: usize,
    /// The result of each item, in the order of the request.
    pub results: Vec<ContactBatchItem>,
}

/// The result of one item of a batch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactBatchItem {
    /// HTTP status that the single upsert would have had, such as 201.
    pub status: u16,
    /// `externalRef` of the item as it was sent; null without one.
    pub external_ref: Option<String>,
    /// The contact; only if the item was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Contact>,
    /// Why the item was refused, for people; absent if it was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why the item was refused, for programs; absent if it was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// Id of the contact that has the number or the reference; only for `phone_taken` and `conflict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub existing_id: Option<Value>,
}

/// The result of an erasure.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Erasure {
    /// Id of the contact, `con_…`.
    pub contact_id: Id<ids::Contact>,
    /// When the contact was erased.
    pub erased_at: Timestamp,
    /// Number of objects that were erased.
    pub erased: Erased,
    /// True if an earlier request erased the contact.
    pub already_erased: bool,
}

/// Number of objects that an erasure emptied or deleted.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
pub struct Erased {
    /// Calls whose numbers, variables and metadata were emptied.
    pub calls: u64,
    /// Transcripts of calls that were emptied.
    pub transcripts: u64,
    /// Recordings of calls that are deleted.
    pub recordings: u64,
    /// Messages of chats that were emptied.
    pub messages: u64,
    /// Waiting nudges that were cancelled.
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
    row(GET, "/v1/contacts/{id}", "getContact", "One contact with its consents and opt-outs")
        .about("410 `contact_erased` once it is erased.")
        .scope(CONTACTS_READ)
        .answers(&[(200, Some(data::<ContactDetail>))])
        .errors(&[CONTACT_ERASED]),
    row(
        POST,
        "/v1/contacts",
        "upsertContact",
        "Create a contact, or update the one with this reference or number",
    )
    .about(
        "201 if a contact was created, 200 if one was updated; a repeat changes nothing. 409 \
         `phone_taken` if the number belongs to a contact with another reference.",
    )
    .scope(CONTACTS_WRITE)
    .live_only()
    .body(new_contact)
    .answers(&[(201, Some(data::<Contact>)), (200, Some(data::<Contact>))])
    .errors(&[PHONE_IMMUTABLE, PHONE_TAKEN, OPT_OUT_DOWNGRADE, CONFLICT]),
    row(POST, "/v1/contacts/batch", "upsertContacts", "Create or update up to 500 contacts")
        .about("Each item succeeds or fails by itself, with the status of a single upsert.")
        .scope(CONTACTS_WRITE)
        .live_only()
        .body(request::<ContactBatch>)
        .answers(&[(200, Some(data::<ContactBatchResult>))]),
    row(PUT, "/v1/contacts/{id}", "updateContact", "Change fields of a contact")
        .about("Only fields in the body change; a repeat changes nothing.")
        .scope(CONTACTS_WRITE)
        .live_only()
        .body(contact_change)
        .answers(&[(200, Some(data::<Contact>))])
        .errors(&[PHONE_IMMUTABLE, PHONE_TAKEN, OPT_OUT_DOWNGRADE, CONFLICT, CONTACT_ERASED]),
    row(DELETE, "/v1/contacts/{id}", "deleteContact", "Delete a contact without any call or message")
        .about(
            "409 `contact_has_history` otherwise: erase it instead. Its number stays on the do-not-call \
             list.",
        )
        .scope(CONTACTS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<Deleted>))])
        .errors(&[CONTACT_HAS_HISTORY, CONTACT_ERASED]),
    row(POST, "/v1/contacts/{id}/erase", "eraseContact", "Erase the personal data of a contact")
        .role(Role::Owner)
        .about(
            "Cannot be undone. Live calls end first; the decision log and the ledger keep ids and \
             amounts. A repeat returns the first answer with `alreadyErased: true`.",
        )
        .scope(CONTACTS_ERASE)
        .live_only()
        .answers(&[(200, Some(data::<Erasure>))]),
];
