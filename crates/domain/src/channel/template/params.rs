//! The template values of a request, and their validation.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Values of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Values {
    /// By number, from the first.
    Numbered(Vec<String>),
    Named(std::collections::BTreeMap<String, String>),
}

/// The content of a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderValue {
    /// `text`, `image`, `video` or `document`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The value of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The address of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The name of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

/// What a button gets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ButtonValue {
    /// Its place among the template's buttons, from 0.
    pub index: usize,
    /// The end of an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What a tap brings back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
    /// The code to be copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The values of a template.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Values>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<HeaderValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buttons: Vec<ButtonValue>,
    /// The components themselves, which are passed on as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub components: Option<Vec<Value>>,
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// Where: `params.body.name`.
    pub field: String,
    /// `missing`, `extra`, `too_long` or `invalid`.
    pub code: &'static str,
    pub message: String,
}
