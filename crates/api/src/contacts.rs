//! People (docs/contract/contacts.md).

use domain::ids::{Contact as Person, Id};
use domain::time::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::error_codes::{
    CONFLICT, CONTACT_ERASED, CONTACT_HAS_HISTORY, OPT_OUT_DOWNGRADE, PHONE_IMMUTABLE, PHONE_TAKEN,
};
use crate::operations::Method::{DELETE, GET, POST, PUT};
use crate::operations::{Operation, operation};
use crate::schema::{
    Field, Schema, any, boolean, choice, count, cursor, data, id, limit, list, list_of, map, map_of, may,
    need, object, page, text, text_of, time,
};
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
/// Ways in which a person can have agreed to be called.
pub const CONSENT_SOURCES: &[&str] =
    &["web_form", "app", "call", "sms", "email", "chatapp", "paper", "branch", "import", "other"];

/// A contact as clients see it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Contact {
    /// Its id.
    pub id: Id<Person>,
    /// The customer's own id.
    pub external_ref: Option<String>,
    /// E.164.
    pub phone: Option<String>,
    /// Whether the number is on the platform registry.
    pub dnd: bool,
    /// Whether the person opted out.
    pub opt_out: bool,
    /// `en` or `hi`.
    pub preferred_language: String,
    /// Last call or message.
    pub last_contact_at: Option<Timestamp>,
    /// Free attributes.
    pub attributes: Value,
    /// Name.
    pub name: Option<String>,
    /// E-mail.
    pub email: Option<String>,
    /// Company.
    pub company: Option<String>,
    /// The channel's user id.
    pub chatapp_user_id: Option<String>,
    /// The channel's user name.
    pub chatapp_username: Option<String>,
    /// IANA name.
    pub timezone: String,
}

/// A contact with what only a single read tells.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContactDetail {
    /// The contact.
    #[serde(flatten)]
    pub contact: Contact,
    /// Whether calls are blocked: the person opted out or the number is on the workspace's list.
    pub do_not_call: bool,
    /// The recorded basis for calling.
    pub consent: Option<Value>,
}

/// Body of an upsert or of an update; what is absent stays, or has its default in a new contact.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContactChange {
    /// The customer's own id; upserts only.
    pub external_ref: String,
    /// Number in any usual Indian writing.
    pub phone: Option<String>,
    /// `en` or `hi`.
    pub preferred_language: Option<String>,
    /// IANA name.
    pub timezone: Option<String>,
    /// Replaces all attributes.
    pub attributes: Option<Map<String, Value>>,
    /// Opts out; `false` never lifts an opt-out.
    pub opt_out: Option<bool>,
    /// Name; null clears it.
    #[serde(deserialize_with = "given")]
    pub name: Option<Option<String>>,
    /// E-mail; null clears it.
    #[serde(deserialize_with = "given")]
    pub email: Option<Option<String>>,
    /// Company; null clears it.
    #[serde(deserialize_with = "given")]
    pub company: Option<Option<String>>,
    /// Records a basis for calling.
    pub consent: Option<NewConsent>,
}

/// How and when a person agreed to be called.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewConsent {
    /// One of [`CONSENT_SOURCES`].
    pub source: String,
    /// When; not in the future.
    pub captured_at: Timestamp,
    /// The customer's own proof, such as a document number.
    #[serde(default)]
    pub reference: Option<String>,
}

/// A field that was given, null included.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

/// What an erasure did (docs/contract/contacts.md#erasure).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Erasure {
    /// The contact.
    pub contact_id: Id<Person>,
    /// When it was erased.
    pub erased_at: Timestamp,
    /// How much was.
    pub erased: Erased,
    /// An earlier request did it.
    pub already_erased: bool,
}

/// How much an erasure erased.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
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

fn fields() -> Vec<Field> {
    vec![
        need("id", id::<Person>()),
        need("externalRef", text().or_null()),
        need("phone", text().or_null()),
        need("dnd", boolean().doc("The number is on the platform do-not-call registry.")),
        need("optOut", boolean()),
        need("preferredLanguage", text()),
        need("lastContactAt", time().or_null()),
        need("attributes", map(any())),
        need("name", text().or_null()),
        need("email", text().or_null()),
        need("company", text().or_null()),
        need("chatappUserId", text().or_null()),
        need("chatappUsername", text().or_null()),
        need("timezone", text()),
    ]
}

/// Shape of [`Contact`].
pub fn contact() -> Schema {
    object(fields())
}

fn consent() -> Schema {
    object(vec![
        need("id", text()),
        need("source", text()),
        need("capturedAt", time()),
        need("reference", text().or_null()),
        need("recordedAt", time()),
    ])
}

fn detail_answer() -> Schema {
    data(contact().and(vec![
        need("doNotCall", boolean().doc("Calls are blocked: the contact opted out or its number is on the workspace do-not-call list.")),
        need("consent", consent().or_null().doc("The recorded basis for calling, for compliance packs that require one.")),
    ]))
}

fn attributes() -> Schema {
    map_of(any(), MAX_ATTRIBUTES).within(4 * MAX_ATTRIBUTES_BYTES)
}

fn change_fields() -> Vec<Field> {
    vec![
        may("preferredLanguage", choice(&["en", "hi"])),
        may("timezone", text_of(1, 64).doc("IANA name; Asia/Kolkata for a new contact.")),
        may(
            "attributes",
            attributes().doc(
                "Replaces all attributes: up to 100, names of 1-120 characters, 16 KB together as JSON.",
            ),
        ),
        may(
            "optOut",
            boolean().doc("true adds the number to the do-not-call list; false never lifts an opt-out."),
        ),
        may("name", text_of(0, 200).or_null()),
        may("email", text_of(3, 254).or_null()),
        may("company", text_of(0, 200).or_null()),
        may(
            "consent",
            object(vec![
                need("source", choice(CONSENT_SOURCES)),
                need("capturedAt", time()),
                may("reference", text_of(1, 200).or_null()),
            ])
            .doc("Records the basis for calling, for compliance packs that require one."),
        ),
    ]
}

/// Shape of the body of an upsert; every item of a batch is held against it by itself.
pub fn upsert_body() -> Schema {
    object(vec![need("externalRef", text_of(1, 120)), need("phone", text_of(8, 20))]).and(change_fields())
}

fn update_body() -> Schema {
    object(vec![may("phone", text_of(8, 20))]).and(change_fields())
}

fn batch_body() -> Schema {
    object(vec![need("contacts", list_of(any().within(MAX_ITEM), 1, MAX_BATCH).doc("Bodies of upserts."))])
}

fn batch_answer() -> Schema {
    data(object(vec![
        need("succeeded", count()),
        need("failed", count()),
        need(
            "results",
            list(object(vec![
                need("status", count().doc("What the single upsert would answer.")),
                need("externalRef", text().or_null()),
                may("data", contact()),
                may("error", text()),
                may("code", text()),
                may("existingId", text()),
            ])),
        ),
    ]))
}

fn contact_answer() -> Schema {
    data(contact())
}

fn page_answer() -> Schema {
    page(contact())
}

fn list_query() -> Vec<Field> {
    vec![limit(200), cursor()]
}

fn deleted_answer() -> Schema {
    data(object(vec![need("id", id::<Person>()), need("deleted", boolean())]))
}

fn erasure_answer() -> Schema {
    data(object(vec![
        need("contactId", id::<Person>()),
        need("erasedAt", time()),
        need(
            "erased",
            object(
                ["calls", "transcripts", "recordings", "messages", "nudgesCancelled", "deliveriesRedacted"]
                    .into_iter()
                    .map(|name| need(name, count()))
                    .collect(),
            ),
        ),
        need("alreadyErased", boolean()),
    ]))
}

const fn row(
    method: crate::operations::Method,
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
        .answers(&[(200, Some(page_answer))]),
    row(GET, "/v1/contacts/{id}", "getContact", "One contact")
        .scope(CONTACTS_READ)
        .answers(&[(200, Some(detail_answer))])
        .errors(&[CONTACT_ERASED]),
    row(POST, "/v1/contacts", "upsertContact", "Create a contact, or update the one with this externalRef")
        .scope(CONTACTS_WRITE)
        .live_only()
        .body(upsert_body)
        .answers(&[(201, Some(contact_answer)), (200, Some(contact_answer))])
        .errors(&[PHONE_IMMUTABLE, PHONE_TAKEN, OPT_OUT_DOWNGRADE, CONFLICT]),
    row(POST, "/v1/contacts/batch", "upsertContacts", "Up to 500 upserts; each succeeds or fails by itself")
        .scope(CONTACTS_WRITE)
        .live_only()
        .body(batch_body)
        .answers(&[(200, Some(batch_answer))]),
    row(PUT, "/v1/contacts/{id}", "updateContact", "Update a contact")
        .scope(CONTACTS_WRITE)
        .live_only()
        .body(update_body)
        .answers(&[(200, Some(contact_answer))])
        .errors(&[PHONE_IMMUTABLE, PHONE_TAKEN, OPT_OUT_DOWNGRADE, CONTACT_ERASED]),
    row(DELETE, "/v1/contacts/{id}", "deleteContact", "Delete a contact that was never called")
        .scope(CONTACTS_WRITE)
        .live_only()
        .answers(&[(200, Some(deleted_answer))])
        .errors(&[CONTACT_HAS_HISTORY, CONTACT_ERASED]),
    row(
        POST,
        "/v1/contacts/{id}/erase",
        "eraseContact",
        "Erase a person's data for good; non-personal proof remains",
    )
    .scope(CONTACTS_ERASE)
    .live_only()
    .answers(&[(200, Some(erasure_answer))]),
];
