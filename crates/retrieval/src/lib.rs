//! Finding the passages that answer a question: words and their forms in eleven languages, passages of
//! documents, an index, ranking. It knows no tenant and no store.
//!
//! | file | holds |
//! |---|---|
//! | `text` | one spelling for what people type in many ways, and the words and sentences of a text |
//! | `stems` | the form of a word that its inflections share, and words that say little |
//! | `sounds` | how a word sounds, the same from Latin and from Indian letters |
//! | `terms` | what of a passage is indexed, and what of a question is looked up |
//! | `passages` | a document in pieces that can be an answer |
//! | `plain` | a plain text as a document |
//! | `index` | the index of one base, a folder |
//! | `vectors` | vectors of passages, and which are nearest to that of a question |
//! | `fusion` | one ranking out of several |
//!
//! What it promises is in docs/knowledge.md.

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
