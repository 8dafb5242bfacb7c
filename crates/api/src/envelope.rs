//! What stands around the data of an answer (docs/contract/README.md#requests-and-answers), and answers that
//! several nouns share. The generic types are named after what they hold (`CallPage`), which says enough: they
//! have no description in the OpenAPI document.

use schemars::JsonSchema;
use serde::Serialize;

/// One thing.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}Response", description = "")]
pub struct Data<T> {
    /// The thing.
    #[schemars(description = "")]
    pub data: T,
}

/// All things of a kind.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}List", description = "")]
pub struct List<T> {
    /// The things.
    #[schemars(description = "")]
    pub data: Vec<T>,
}

/// A page of things.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}Page", description = "")]
pub struct Page<'a, T> {
    /// The things.
    #[schemars(description = "")]
    pub data: &'a [T],
    /// The `cursor` of the next page; null on the last one.
    pub next_cursor: Option<String>,
}

/// A page of things, by offset.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Counted{T}List", description = "")]
pub struct Counted<T> {
    /// The things.
    #[schemars(description = "")]
    pub data: Vec<T>,
    /// How many there are in all.
    pub total: i64,
}

/// What was deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Deleted {
    /// Its id.
    pub id: String,
    /// Always true.
    pub deleted: bool,
}

/// Something without an id was deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Removed {
    /// Always true.
    pub deleted: bool,
}
