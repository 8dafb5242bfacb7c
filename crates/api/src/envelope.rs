//! The envelope of answers (docs/contract/README.md#requests-and-answers), and answers that
//! several nouns share. The generic types are named after what they hold (`CallPage`).

use schemars::JsonSchema;
use serde::Serialize;

/// An answer with one object.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}Response")]
pub struct Data<T> {
    /// The object that was requested, created or changed.
    pub data: T,
}

/// An answer with all objects of a kind, without paging.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}List")]
pub struct List<T> {
    /// All objects, in the order that the operation names.
    pub data: Vec<T>,
}

/// A page of a list that is read with a cursor.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "{T}Page")]
pub struct Page<'a, T> {
    /// The objects of this page.
    pub data: &'a [T],
    /// `cursor` of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// A page of a list that is read with an offset.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Counted{T}List")]
pub struct Counted<T> {
    /// The objects of this page.
    pub data: Vec<T>,
    /// Number of objects on all pages together.
    pub total: i64,
}

/// An object that was deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Deleted {
    /// Id of the deleted object.
    pub id: String,
    /// Always true; a failed deletion is an error.
    pub deleted: bool,
}

/// An object without an id was deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Removed {
    /// Always true; a failed deletion is an error.
    pub deleted: bool,
}
