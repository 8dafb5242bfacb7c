//! Templates of the messaging channel (docs/contract/channel.md#templates).

use domain::channel::template::{
    ButtonValue, HeaderValue, MAX_BUTTONS, MAX_BYTES, MAX_COMPONENTS, MAX_NAME, MAX_VALUES, Params, Values,
};
use domain::channel::{Category, TemplateStatus};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::envelope::Deleted;
use crate::error_codes as codes;
use crate::operation::Method::{DELETE, GET, PATCH, POST};
use crate::operation::{Operation, operation};
use crate::schema::{Field, choice, cursor, data, limit, may, page, request, text_of};
use crate::scopes::{CHATAPP_READ, CHATAPP_WRITE};

/// Templates of one workspace.
pub const MAX_TEMPLATES: i64 = 6_000;

/// A component of a template in the channel's own form, such as `{type: BODY, text, example}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("maxProperties" = 50))]
pub struct TemplateComponent(pub Map<String, Value>);

/// A message template of the messaging channel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelTemplate {
    /// Id of the template, `tpl_…`; `TEST_…` in an answer to a test key, which stores nothing.
    pub id: String,
    /// The name of the template; unique together with its language.
    pub name: String,
    /// Language of the template, such as `en` or `en_US`.
    pub language: String,
    /// Category of the template; the provider may change it.
    pub category: Category,
    /// The category that the provider will give it; null if none is pending.
    pub pending_category: Option<Category>,
    /// Status at the provider; only an `APPROVED` template can be sent.
    pub status: TemplateStatus,
    /// The components, in the channel's own form; empty until they were read from the provider.
    pub components: Vec<TemplateComponent>,
    /// The provider's quality rating: `GREEN`, `YELLOW`, `RED` or `UNKNOWN`; null before the first rating.
    pub quality_score: Option<String>,
    /// The provider's word for why it was rejected; null if it was not.
    pub rejected_reason: Option<String>,
    /// When the template was first known here.
    pub created_at: Timestamp,
    /// When the template last changed.
    pub updated_at: Timestamp,
}

/// The request to create a template, which the provider then reviews.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewChannelTemplate {
    /// Name of the template: a-z, 0-9 and `_`; unique together with its language.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub name: String,
    /// Language of the template, such as `en` or `en_US`.
    #[schemars(length(min = 2, max = 20))]
    pub language: String,
    /// Category of the template; the provider may change it.
    pub category: Category,
    /// The components in the channel's own form: one of each type, a `BODY` among them; 64 KB as JSON.
    #[schemars(length(min = 1, max = MAX_COMPONENTS), extend("x-maxBytes" = MAX_BYTES))]
    pub components: Vec<TemplateComponent>,
}

/// A change of a template, which the provider then reviews again. Exactly what is given changes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelTemplateChange {
    /// All components of the template; they replace the current ones.
    #[schemars(length(min = 1, max = MAX_COMPONENTS), extend("x-maxBytes" = MAX_BYTES))]
    pub components: Option<Vec<TemplateComponent>>,
    /// Another category; not possible for an approved template.
    pub category: Option<Category>,
}

/// What the provider's list of templates changed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct SyncedTemplates {
    /// Number of templates that are new.
    pub added: i64,
    /// Number of templates that changed.
    pub updated: i64,
    /// Number of templates that the provider does not have any more.
    pub removed: i64,
}

/// An uploaded sample of a template's header.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HeaderSample {
    /// The handle of the sample, for `example.header_handle` of a header component.
    pub handle: String,
}

/// A template with its values, as requests that send one name it: by `id`, or by `name` and `language`.
// Where a conversation is started, its schema refuses unknown fields (`Schema::strict`).
/// A template with its values: either `id`, or `name` and `language`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct TemplateUse {
    /// Id of the template, `tpl_…`; not together with `name` and `language`.
    #[schemars(length(min = 1, max = 64))]
    pub id: Option<String>,
    /// Name of the template; needs `language`.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub name: Option<String>,
    /// Language of the template; needs `name`.
    #[schemars(length(min = 2, max = 20))]
    pub language: Option<String>,
    /// Values of the template's placeholders.
    pub params: Option<TemplateParams>,
}

/// Values of a template's placeholders.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
pub struct TemplateParams {
    /// Values of the body: an object for named placeholders, a list for numbered ones.
    #[schemars(with = "Option<BodyParams>")]
    pub body: Option<Value>,
    /// Value of the header; absent for a header without a placeholder.
    pub header: Option<HeaderParam>,
    /// Values of buttons whose address, payload or code is variable.
    #[schemars(length(max = MAX_BUTTONS), extend("default" = []))]
    #[serde(default)]
    pub buttons: Vec<ButtonParam>,
    /// The components in the channel's own form, in place of all other values; passed on unchanged, for
    /// cards, catalogues and forms.
    #[schemars(length(max = MAX_COMPONENTS), extend("x-maxBytes" = MAX_BYTES))]
    pub components: Option<Vec<TemplateComponent>>,
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
enum BodyParams {
    Numbered(#[schemars(length(max = MAX_VALUES), inner(length(max = 4_096)))] Vec<String>),
    Named(
        #[schemars(extend("maxProperties" = MAX_VALUES, "x-maxBytes" = MAX_BYTES))]
        std::collections::BTreeMap<String, String>,
    ),
}

/// Value of a template's header.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct HeaderParam {
    /// Kind of header: `text`, `image`, `video` or `document`.
    #[schemars(with = "HeaderKind")]
    pub r#type: String,
    /// For `text`: the value of its placeholder.
    #[schemars(length(max = 1_024))]
    pub text: Option<String>,
    /// For a file: its public https:// address.
    #[schemars(length(max = 2_000))]
    pub url: Option<String>,
    /// For `document`: the file name that the customer sees.
    #[schemars(length(max = 240))]
    pub filename: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(inline, extend("enum" = ["text", "image", "video", "document"]))]
#[allow(dead_code, reason = "only its schema is used")]
struct HeaderKind(String);

/// Value of a template's button.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct ButtonParam {
    /// Index of the button in the template, from 0.
    #[schemars(range(min = 0, max = 9))]
    pub index: i64,
    /// For a link: the variable end of the address.
    #[schemars(length(max = 2_000))]
    pub text: Option<String>,
    /// For a quick reply: your own text, returned when it is tapped.
    #[schemars(length(max = 256))]
    pub payload: Option<String>,
    /// For a code button: the code that it copies.
    #[schemars(length(max = 100))]
    pub code: Option<String>,
}

impl From<TemplateParams> for Params {
    fn from(given: TemplateParams) -> Self {
        let header = given.header.map(|header| HeaderValue {
            kind: header.r#type,
            text: header.text,
            url: header.url,
            filename: header.filename,
        });
        let buttons = given.buttons.into_iter().map(|button| ButtonValue {
            index: usize::try_from(button.index).unwrap_or(usize::MAX),
            text: button.text,
            payload: button.payload,
            code: button.code,
        });
        Self {
            // The schema lets lists and objects of texts through, nothing else.
            body: given.body.and_then(|body| serde_json::from_value::<Values>(body).ok()),
            header,
            buttons: buttons.collect(),
            components: given
                .components
                .map(|parts| parts.into_iter().map(|part| Value::Object(part.0)).collect()),
        }
    }
}

fn list_query() -> Vec<Field> {
    let statuses: Vec<&'static str> = TemplateStatus::ALL.iter().map(|status| status.as_str()).collect();
    vec![
        may("name", text_of(1, MAX_NAME).doc("Only templates with this name.")),
        may("status", choice(&statuses).doc("Only templates with this status.")),
        limit(100),
        cursor(),
    ]
}

const TAG: &str = "Messaging channel";
const PATH: &str = "/v1/chatapp/templates";
const ONE: &str = "/v1/chatapp/templates/{id}";

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, PATH, "listChannelTemplates", TAG, "Message templates, newest first")
        .scope(CHATAPP_READ)
        .query(list_query)
        .answers(&[(200, Some(page::<ChannelTemplate>))]),
    operation(POST, PATH, "createChannelTemplate", TAG, "Create a message template")
        .about(
            "The provider reviews it: `status` is `PENDING` until then. A name and language exist once \
             (409 `conflict`). With a test key nothing is stored.",
        )
        .scope(CHATAPP_WRITE)
        .body(request::<NewChannelTemplate>)
        .answers(&[(201, Some(data::<ChannelTemplate>))])
        .errors(WRITE_ERRORS),
    operation(
        POST,
        "/v1/chatapp/templates/sync",
        "syncChannelTemplates",
        TAG,
        "Update all templates from the provider's list",
    )
    .about("Templates that the provider does not have any more are removed.")
    .scope(CHATAPP_WRITE)
    .answers(&[(200, Some(data::<SyncedTemplates>))])
    .errors(WRITE_ERRORS),
    operation(
        POST,
        "/v1/chatapp/templates/header-sample",
        "uploadHeaderSample",
        TAG,
        "Upload a sample for a template's header",
    )
    .about("JPEG, PNG, MP4 or PDF of at most 16 MB. The connection needs an `appId`.")
    .scope(CHATAPP_WRITE)
    .upload()
    .answers(&[(200, Some(data::<HeaderSample>))])
    .errors(WRITE_ERRORS),
    operation(GET, ONE, "getChannelTemplate", TAG, "One message template")
        .scope(CHATAPP_READ)
        .answers(&[(200, Some(data::<ChannelTemplate>))]),
    operation(PATCH, ONE, "updateChannelTemplate", TAG, "Change a message template")
        .about("The provider reviews it again: `status` is `PENDING` until then.")
        .scope(CHATAPP_WRITE)
        .body(request::<ChannelTemplateChange>)
        .answers(&[(200, Some(data::<ChannelTemplate>))])
        .errors(WRITE_ERRORS),
    operation(DELETE, ONE, "deleteChannelTemplate", TAG, "Delete a message template in its language")
        .about("Deletes it at the provider, too.")
        .scope(CHATAPP_WRITE)
        .answers(&[(200, Some(data::<Deleted>))])
        .errors(WRITE_ERRORS),
];

/// Errors of everything that asks the provider.
const WRITE_ERRORS: &[&codes::ErrorCode] = &[
    codes::CHATAPP_DISABLED,
    codes::CHATAPP_NOT_CONNECTED,
    codes::CONFLICT,
    codes::PROVIDER_REFUSED,
    codes::PROVIDER_UNAVAILABLE,
];
