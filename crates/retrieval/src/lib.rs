//! Full-text search over passages: tokenising and stemming in eleven languages, cutting documents, an index, ranking.
//! It knows no tenant and no store.
//!
//! | file | holds |
//! |---|---|
//! | `text` | spelling normalisation, and segmentation into words and sentences |
//! | `stems` | stemming, and stop words |
//! | `sounds` | phonetic keys, the same from Latin and from Indian letters |
//! | `terms` | the terms of passages and of queries |
//! | `passages` | cutting a document into passages |
//! | `plain` | a plain text as a document |
//! | `index` | the index of one base, a folder |
//! | `vectors` | vectors of passages, and which are nearest to that of a question |
//! | `fusion` | merging rankings |
//!
//! The description is in docs/knowledge.md.

mod fusion;
mod index;
mod passages;
mod plain;
mod sounds;
mod stems;
mod terms;
mod text;
pub mod vectors;

pub use fusion::fuse;
pub use index::{Broken, Index, Ranked, Writing};
pub use passages::{Passage, cut};
pub use plain::read_text;
