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

/// A part of a template in the channel's own form, such as `{type: BODY, text, example}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("maxProperties" = 50))]
pub struct TemplateComponent(pub Map<String, Value>);

/// A template.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelTemplate {
    /// Its id; `TEST_…` for what a test key would have made.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: String,
    /// What it is for; the provider may change it.
    pub category: Category,
    /// The category that it is about to get.
    pub pending_category: Option<Category>,
    /// Whether it can be sent.
    pub status: TemplateStatus,
    /// Its parts, in the channel's own form.
    pub components: Vec<TemplateComponent>,
    /// `GREEN`, `YELLOW`, `RED` or `UNKNOWN`; null before it is rated.
    pub quality_score: Option<String>,
    /// Why it was rejected, in the provider's word.
    pub rejected_reason: Option<String>,
    /// When it became known here.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A template to be handed in.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewChannelTemplate {
    /// Its name: a-z, 0-9 and `_`.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub name: String,
    /// Its language: `en`, `en_US`.
    #[schemars(length(min = 2, max = 20))]
    pub language: String,
    /// What it is for.
    pub category: Category,
    /// Its parts, in the channel's own form.
    #[schemars(length(min = 1, max = MAX_COMPONENTS), extend("x-maxBytes" = MAX_BYTES))]
    pub components: Vec<TemplateComponent>,
}

/// What is to change of a template.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelTemplateChange {
    /// All of its parts.
    #[schemars(length(min = 1, max = MAX_COMPONENTS), extend("x-maxBytes" = MAX_BYTES))]
    pub components: Option<Vec<TemplateComponent>>,
    /// Another category; not possible once it is approved.
    pub category: Option<Category>,
}

/// What a look at the provider's list changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct SyncedTemplates {
    /// Templates that were new.
    pub added: i64,
    /// Templates that had changed.
    pub updated: i64,
    /// Templates that are gone.
    pub removed: i64,
}

/// A sample that was uploaded.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HeaderSample {
    /// What a template's header names in `example.header_handle`.
    pub handle: String,
}

/// A template with its values, as requests that send one name it: by `id`, or by `name` and `language`.
// Where a conversation is started, its schema refuses unknown fields (`Schema::strict`).
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct TemplateUse {
    /// Its id.
    #[schemars(length(min = 1, max = 64))]
    pub id: Option<String>,
    /// Its name.
    #[schemars(length(min = 1, max = MAX_NAME))]
    pub name: Option<String>,
    /// Its language.
    #[schemars(length(min = 2, max = 20))]
    pub language: Option<String>,
    /// Its values.
    pub params: Option<TemplateParams>,
}

/// The values of a template.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
pub struct TemplateParams {
    /// An object for variables with names, a list for variables with numbers.
    #[schemars(with = "Option<BodyParams>")]
    pub body: Option<Value>,
    /// The value of the header.
    pub header: Option<HeaderParam>,
    /// Values of buttons.
    #[schemars(length(max = MAX_BUTTONS), extend("default" = []))]
    #[serde(default)]
    pub buttons: Vec<ButtonParam>,
    /// The parts themselves in the channel's own form, for cards, catalogues and forms; passed on as they are.
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

/// The value of a template's header.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct HeaderParam {
    /// What the header is.
    #[schemars(with = "HeaderKind")]
    pub r#type: String,
    /// The text of its variable.
    #[schemars(length(max = 1_024))]
    pub text: Option<String>,
    /// The https:// address of its file.
    #[schemars(length(max = 2_000))]
    pub url: Option<String>,
    /// The name of a document.
    #[schemars(length(max = 240))]
    pub filename: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(inline, extend("enum" = ["text", "image", "video", "document"]))]
#[allow(dead_code, reason = "only its schema is used")]
struct HeaderKind(String);

/// The value of a template's button.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct ButtonParam {
    /// Its place among the buttons, from 0.
    #[schemars(range(min = 0, max = 9))]
    pub index: i64,
    /// The end of its address.
    #[schemars(length(max = 2_000))]
    pub text: Option<String>,
    /// What a tap brings back.
    #[schemars(length(max = 256))]
    pub payload: Option<String>,
    /// The code that it copies.
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
        may("name", text_of(1, MAX_NAME).doc("Templates of this name only.")),
        may("status", choice(&statuses).doc("Templates with this status only.")),
        limit(100),
        cursor(),
    ]
}

const TAG: &str = "Messaging channel";
const PATH: &str = "/v1/chatapp/templates";
const ONE: &str = "/v1/chatapp/templates/{id}";

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(GET, PATH, "listChannelTemplates", TAG, "Templates, newest first")
        .scope(CHATAPP_READ)
        .query(list_query)
        .answers(&[(200, Some(page::<ChannelTemplate>))]),
    operation(POST, PATH, "createChannelTemplate", TAG, "Hand a template in")
        .scope(CHATAPP_WRITE)
        .body(request::<NewChannelTemplate>)
        .answers(&[(201, Some(data::<ChannelTemplate>))])
        .errors(WRITE_ERRORS),
    operation(
        POST,
        "/v1/chatapp/templates/sync",
        "syncChannelTemplates",
        TAG,
        "Read the provider's list of templates",
    )
    .scope(CHATAPP_WRITE)
    .answers(&[(200, Some(data::<SyncedTemplates>))])
    .errors(WRITE_ERRORS),
    operation(
        POST,
        "/v1/chatapp/templates/header-sample",
        "uploadHeaderSample",
        TAG,
        "Upload a sample for a template's header (jpeg, png, mp4, pdf)",
    )
    .scope(CHATAPP_WRITE)
    .upload()
    .answers(&[(200, Some(data::<HeaderSample>))])
    .errors(WRITE_ERRORS),
    operation(GET, ONE, "getChannelTemplate", TAG, "One template")
        .scope(CHATAPP_READ)
        .answers(&[(200, Some(data::<ChannelTemplate>))]),
    operation(
        PATCH,
        ONE,
        "updateChannelTemplate",
        TAG,
        "Change a template, which the provider then looks at anew",
    )
    .scope(CHATAPP_WRITE)
    .body(request::<ChannelTemplateChange>)
    .answers(&[(200, Some(data::<ChannelTemplate>))])
    .errors(WRITE_ERRORS),
    operation(DELETE, ONE, "deleteChannelTemplate", TAG, "Delete a template in its language")
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
