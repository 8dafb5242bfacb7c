//! The index of one base: a folder that is made of the base's passages and can be made anew at any time
//! (docs/knowledge.md#the-index).

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use tantivy::collector::TopDocs;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TantivyDocument, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{IndexReader, IndexWriter, ReloadPolicy, Term};

use crate::terms;

/// Changes whenever the same passages lead to other terms: an index of another format is made anew.
const FORMAT: &str = "1";
/// Memory of a writer.
const WRITER_BYTES: usize = 48 << 20;
/// Part of deleted passages from which a segment is written anew.
const DELETED: f32 = 0.1;

/// Weights of a word that stands in the headings and in the passage itself, beside those of its sounds.
const IN_HEADING: f32 = 0.7;
const IN_BODY: f32 = 1.0;
/// How much more a term may count that stands in a passage often: `k1 + 1` of BM25.
const MOST_OF_TERM: f32 = 2.2;

/// The folder does not hold a usable index.
#[derive(Debug)]
pub struct Broken(String);

impl fmt::Display for Broken {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for Broken {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

#[derive(Clone, Copy)]
struct Fields {
    document: Field,
    passage: Field,
    heading: Field,
    body: Field,
    sounds: Field,
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqs);
    let terms = TextOptions::default().set_indexing_options(indexing);
    let fields = Fields {
        document: schema.add_u64_field("document", INDEXED),
        passage: schema.add_u64_field("passage", FAST),
        heading: schema.add_text_field("heading", terms.clone()),
        body: schema.add_text_field("body", terms.clone()),
        sounds: schema.add_text_field("sounds", terms),
    };
    (schema.build(), fields)
}

/// The index of one base.
pub struct Index {
    index: tantivy::Index,
    reader: IndexReader,
    fields: Fields,
    version: AtomicI64,
}

/// A passage that fits a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Its number in the base.
    pub passage: u64,
    /// How much of the question it answers to, from 0 to 1 (docs/knowledge.md#scores).
    pub score: f32,
}

impl Index {
    /// Opens the index of a folder.
    ///
    /// # Errors
    /// There is none, or it is of another format, or damaged.
    pub fn open(folder: &Path) -> Result<Self, Broken> {
        let (schema, fields) = schema();
        let index = tantivy::Index::open_in_dir(folder)?;
        if index.schema() != schema {
            return Err(Broken("another schema".into()));
        }
        let payload = index.load_metas()?.payload;
        let version = payload.as_deref().and_then(|payload| payload.strip_prefix(FORMAT)?.strip_prefix(' '));
        let version = version.and_then(|version| version.parse().ok());
        let version = version.ok_or_else(|| Broken("another format".into()))?;
        Self::over(index, fields, version)
    }

    /// An empty index in a folder, of version 0. What the folder had is gone.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(folder: &Path) -> Result<Self, Broken> {
        if folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
        std::fs::create_dir_all(folder)?;
        let (schema, fields) = schema();
        Self::over(tantivy::Index::create_in_dir(folder, schema)?, fields, 0)
    }

    fn over(index: tantivy::Index, fields: Fields, version: i64) -> Result<Self, Broken> {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { index, reader, fields, version: AtomicI64::new(version) })
    }

    /// The version of the base that it shows.
    pub fn version(&self) -> i64 {
        self.version.load(Ordering::Acquire)
    }

    /// How many passages it has.
    pub fn passages(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// Begins a change. There is one at a time.
    ///
    /// # Errors
    /// Another one is under way, or the folder is damaged.
    pub fn write(&self) -> Result<Writing, Broken> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(WRITER_BYTES)
            .build();
        let writer: IndexWriter = self.index.writer_with_options(options)?;
        let mut policy = LogMergePolicy::default();
        policy.set_del_docs_ratio_before_merge(DELETED);
        writer.set_merge_policy(Box::new(policy));
        Ok(Writing { writer, fields: self.fields, memory: Mutex::default() })
    }

    /// The passages that fit a question best, best first.
    ///
    /// # Errors
    /// The folder is damaged.
    pub fn search(&self, question: &str, limit: usize) -> Result<Vec<Ranked>, Broken> {
        let searcher = self.reader.searcher();
        let passages = searcher.num_docs() as f32;
        if passages == 0.0 || limit == 0 {
            return Ok(Vec::new());
        }
        let rarity = |found: u64| {
            let found = (found as f32).min(passages);
            (1.0 + (passages - found + 0.5) / (found + 0.5)).ln()
        };
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let mut most = 0.0;
        for asked in terms::of_question(question) {
            let mut known = false;
            let mut weigh = |field: Field, text: &str, weight: f32| -> Result<f32, Broken> {
                let term = Term::from_field_text(field, text);
                let found = searcher.doc_freq(&term)?;
                if found == 0 {
                    return Ok(0.0);
                }
                known = true;
                let one = TermQuery::new(term, IndexRecordOption::WithFreqs);
                clauses.push((Occur::Should, Box::new(BoostQuery::new(Box::new(one), weight))));
                Ok(weight * rarity(found) * MOST_OF_TERM)
            };
            let mut word = weigh(self.fields.body, &asked.stem, IN_BODY)?;
            weigh(self.fields.heading, &asked.stem, IN_HEADING)?;
            for (sound, weight) in &asked.sounds {
                word += weigh(self.fields.sounds, sound, *weight)?;
            }
            // A word that no passage has counts as the rarest: a question about something else scores low.
            most += if known { word } else { rarity(0) * MOST_OF_TERM * IN_BODY };
        }
        if clauses.is_empty() {
            return Ok(Vec::new());
        }
        let found =
            searcher.search(&BooleanQuery::new(clauses), &TopDocs::with_limit(limit).order_by_score())?;
        let mut ranked = Vec::with_capacity(found.len());
        for (score, address) in found {
            let numbers = searcher.segment_reader(address.segment_ord).fast_fields().u64("passage")?;
            let passage =
                numbers.first(address.doc_id).ok_or_else(|| Broken("a passage without number".into()))?;
            ranked.push(Ranked { passage, score: (score / most).clamp(0.0, 1.0) });
        }
        // How the index happens to be parted into files decides nothing.
        ranked.sort_by(|one, other| {
            other.score.total_cmp(&one.score).then_with(|| one.passage.cmp(&other.passage))
        });
        Ok(ranked)
    }
}

/// A change of an index. Nothing of it is seen, or stays, before [`Writing::commit`].
pub struct Writing {
    writer: IndexWriter,
    fields: Fields,
    memory: Mutex<terms::Memory>,
}

impl Writing {
    /// Takes the passages of a document away, but not those that this change adds afterwards.
    pub fn remove(&self, document: u64) {
        self.writer.delete_term(Term::from_field_u64(self.fields.document, document));
    }

    /// Adds a passage of a document.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn add(
        &self,
        document: u64,
        passage: u64,
        heading: Option<&str>,
        content: &str,
    ) -> Result<(), Broken> {
        let mut row = TantivyDocument::default();
        row.add_u64(self.fields.document, document);
        row.add_u64(self.fields.passage, passage);
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let body = memory.of_text(content);
        let mut sounds = body.sounds;
        if let Some(heading) = heading {
            let heading = memory.of_text(heading);
            row.add_pre_tokenized_text(self.fields.heading, tokens(heading.stems));
            sounds.extend(heading.sounds);
        }
        drop(memory);
        row.add_pre_tokenized_text(self.fields.body, tokens(body.stems));
        row.add_pre_tokenized_text(self.fields.sounds, tokens(sounds));
        self.writer.add_document(row)?;
        Ok(())
    }

    /// Makes `index` show the change as this version of the base.
    ///
    /// # Errors
    /// Those of the file system; the index shows what it showed before.
    pub fn commit(&mut self, index: &Index, version: i64) -> Result<(), Broken> {
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(&format!("{FORMAT} {version}"));
        prepared.commit()?;
        index.reader.reload()?;
        index.version.store(version, Ordering::Release);
        Ok(())
    }

    /// Ends the change after its commit: merges files, which may take a while, and lets go of what they
    /// replace.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn finish(self, index: &Index) -> Result<(), Broken> {
        self.writer.wait_merging_threads()?;
        index.reader.reload()?;
        Ok(())
    }
}

fn tokens(texts: Vec<String>) -> PreTokenizedString {
    let tokens = texts
        .into_iter()
        .enumerate()
        .map(|(position, text)| Token { text, position, position_length: 1, ..Token::default() })
        .collect();
    PreTokenizedString { text: String::new(), tokens }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("retrieval-{}-{name}", std::process::id()));
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).ok();
        }
    }

    fn fill(index: &Index, version: i64, texts: &[(u64, &str)]) {
        let mut writing = index.write().unwrap();
        for (at, (document, text)) in texts.iter().enumerate() {
            writing.add(*document, version as u64 * 100 + at as u64, None, text).unwrap();
        }
        writing.commit(index, version).unwrap();
        writing.finish(index).unwrap();
    }

    fn found(index: &Index, question: &str) -> Vec<u64> {
        index.search(question, 10).unwrap().into_iter().map(|ranked| ranked.passage).collect()
    }

    #[test]
    fn a_question_in_other_letters_finds_its_passage() {
        let folder = Folder::new("letters");
        let index = Index::create(&folder.0).unwrap();
        let texts = [
            (1, "आपका पार्सल दो दिन में पहुँच जाएगा। पार्सल का नंबर संदेश में है।"),
            (2, "रिफंड सात दिन में आपके खाते में आ जाता है।"),
            (3, "The shop opens at nine and closes at six."),
            (4, "உங்கள் பார்சல் இரண்டு நாட்களில் வரும்."),
        ];
        fill(&index, 1, &texts);
        assert_eq!(found(&index, "mera parcel kahan hai")[0], 100);
        assert_eq!(found(&index, "refund kab milega")[0], 101);
        assert_eq!(found(&index, "दुकान shop कब खुलती है")[0], 102);
        assert_eq!(found(&index, "பார்சல் எப்போது வரும்")[0], 103);
        assert!(found(&index, "parcel").contains(&103));
        assert_eq!(found(&index, "insurance policy"), Vec::<u64>::new());
        assert_eq!(found(&index, "?!"), Vec::<u64>::new());
        for ranked in index.search("parcel", 10).unwrap() {
            assert!((0.0..=1.0).contains(&ranked.score), "{ranked:?}");
        }
    }

    #[test]
    fn a_document_is_replaced_and_removed_and_the_version_is_kept() {
        let folder = Folder::new("versions");
        let index = Index::create(&folder.0).unwrap();
        fill(&index, 1, &[(1, "red apples"), (2, "green pears")]);
        let mut writing = index.write().unwrap();
        writing.remove(1);
        writing.add(1, 200, None, "yellow bananas").unwrap();
        writing.remove(2);
        assert_eq!(found(&index, "apples"), [100], "not before the commit");
        writing.commit(&index, 2).unwrap();
        writing.finish(&index).unwrap();
        assert_eq!(found(&index, "apples pears bananas"), [200]);
        drop(index);
        let again = Index::open(&folder.0).unwrap();
        assert_eq!((again.version(), again.passages()), (2, 1));
        assert_eq!(found(&again, "bananas"), [200]);
    }

    #[test]
    fn a_change_that_is_given_up_leaves_nothing() {
        let folder = Folder::new("given-up");
        let index = Index::create(&folder.0).unwrap();
        fill(&index, 1, &[(1, "red apples")]);
        let writing = index.write().unwrap();
        writing.remove(1);
        writing.add(2, 7, None, "green pears").unwrap();
        drop(writing);
        assert_eq!((found(&index, "apples pears"), index.version()), (vec![100], 1));
        fill(&index, 2, &[(3, "blue plums")]);
        assert_eq!(found(&index, "pears"), Vec::<u64>::new());
    }

    #[test]
    fn a_damaged_folder_is_no_index() {
        let folder = Folder::new("damaged");
        assert!(Index::open(&folder.0).is_err(), "nothing is there");
        let index = Index::create(&folder.0).unwrap();
        assert!(Index::open(&folder.0).is_err(), "nothing was committed");
        fill(&index, 1, &[(1, "red apples")]);
        drop(index);
        std::fs::write(folder.0.join("meta.json"), b"{").unwrap();
        assert!(Index::open(&folder.0).is_err());
        assert_eq!(Index::create(&folder.0).unwrap().passages(), 0);
    }

    #[test]
    fn a_heading_counts() {
        let folder = Folder::new("heading");
        let index = Index::create(&folder.0).unwrap();
        let mut writing = index.write().unwrap();
        writing.add(1, 1, Some("Shop › Opening hours"), "From nine to six, every day.").unwrap();
        writing
            .add(1, 2, Some("Shop › Returns"), "Every day, at the counter, in the opening weeks.")
            .unwrap();
        writing.commit(&index, 1).unwrap();
        assert_eq!(found(&index, "opening hours")[0], 1);
        assert_eq!(found(&index, "returns"), [2]);
    }
}
