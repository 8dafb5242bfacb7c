//! The objects in the bucket that the store references.

use crate::db::{DbError, Tx};
use crate::params;

/// A noun with objects in the bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptNoun {
    /// Recordings of calls; the object's name is the recording's id.
    Recordings,
    /// Files of documents that were handed in; the name is the key.
    Documents,
    /// Received files of the messaging channel; the name is the key.
    Media,
}

impl KeptNoun {
    pub const ALL: [Self; 3] = [Self::Recordings, Self::Documents, Self::Media];

    /// Its objects after a text and a number, in order: name, size, and where the next page begins.
    pub(crate) const fn page_sql(self) -> &'static str {
        match self {
            Self::Recordings => {
                "select id, bytes, id, cast(0 as bigint) from recordings \
                 where kept_at is not null and id > ?1 and cast(?2 as bigint) >= 0 order by id limit ?3"
            }
            Self::Documents => {
                "select object, bytes, document, seq from document_parts \
                 where (document, seq) > (?1, cast(?2 as bigint)) order by document, seq limit ?3"
            }
            Self::Media => {
                "select media_object, media_bytes, id, cast(0 as bigint) from channel_messages \
                 where media_object is not null and id > ?1 and cast(?2 as bigint) >= 0 order by id limit ?3"
            }
        }
    }
}

/// A referenced object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptObject {
    pub noun: KeptNoun,
    /// Its id or key ([`KeptNoun`]).
    pub name: String,
    /// Its size, where that is stored.
    pub bytes: Option<i64>,
}

/// Where a page of [`page`] begins.
pub type Cursor = (String, i64);

/// Across workspaces: objects of a noun after a cursor (at first `("", 0)`), in order, at most `limit`, and the
/// cursor after them.
pub fn page(
    tx: &mut Tx<'_>,
    noun: KeptNoun,
    after: &Cursor,
    limit: i64,
) -> Result<(Vec<KeptObject>, Cursor), DbError> {
    let rows: Vec<(String, Option<i64>, String, i64)> =
        tx.all(noun.page_sql(), params![&after.0, after.1, limit])?;
    let next = rows.last().map_or_else(|| after.clone(), |(_, _, text, number)| (text.clone(), *number));
    let objects = rows.into_iter().map(|(name, bytes, ..)| KeptObject { noun, name, bytes }).collect();
    Ok((objects, next))
}
