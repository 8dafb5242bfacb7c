//! The index of one base: a folder that is built from the base's passages and can be rebuilt at any time
//! (docs/knowledge.md#the-index).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{self, AtomicI64};
use std::sync::{Mutex, PoisonError};

use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::query::{EnableScoring, Query, TermQuery, Weight};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TantivyDocument, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{DocId, IndexReader, IndexWriter, ReloadPolicy, Searcher, SegmentReader, Term};

use crate::terms;

/// Incremented whenever the same passages lead to other terms: an index of another format is rebuilt.
const FORMAT: &str = "3";
/// Memory of a writer.
const WRITER_BYTES: usize = 48 << 20;
/// Share of deleted passages from which a segment is rewritten.
const DELETED: f32 = 0.1;

/// Weights of a word in the headings and in the passage itself, beside those of its phonetic keys.
const IN_HEADING: f32 = 0.7;
const IN_BODY: f32 = 1.0;
/// How much more a frequent term of a passage may count: `k1 + 1` of BM25.
const MOST_OF_TERM: f32 = 2.2;

/// Candidates are selected before the postings of a term that one in this many passages has, or more.
const LOOK: f32 = 8.0;
/// Cost of looking a passage up in postings, in steps through them.
const SEEK: f32 = 4.0;

/// The folder has no usable index.
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

/// A hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Its number in the base.
    pub passage: u64,
    /// Its score, from 0 to 1 (docs/knowledge.md#scores).
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

    /// Creates an empty index in a folder, of version 0, and deletes what the folder had.
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
        self.version.load(atomic::Ordering::Acquire)
    }

    /// How many passages it has.
    pub fn passages(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// Begins a change. There is one at a time.
    ///
    /// # Errors
    /// Another one is in progress, or the folder is damaged.
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

    /// The best passages for a query, best first.
    ///
    /// # Errors
    /// The folder is damaged.
    pub fn search(&self, question: &str, limit: usize) -> Result<Vec<Ranked>, Broken> {
        let searcher = self.reader.searcher();
        if searcher.num_docs() == 0 || limit == 0 {
            return Ok(Vec::new());
        }
        let (wanted, most) = self.wanted(&searcher, question)?;
        let mut ranked = Vec::new();
        for segment in searcher.segment_readers() {
            let numbers = segment.fast_fields().u64("passage")?;
            for Sum(sum, doc) in best_of(segment, &wanted, limit)? {
                let passage = numbers.first(doc).ok_or_else(|| Broken("a passage without number".into()))?;
                ranked.push(Ranked { passage, score: (sum / most).clamp(0.0, 1.0) });
            }
        }
        // The split into segments must not decide.
        ranked.sort_by(|one, other| {
            other.score.total_cmp(&one.score).then_with(|| one.passage.cmp(&other.passage))
        });
        ranked.truncate(limit);
        Ok(ranked)
    }

    /// The query's terms that passages have, those with the largest possible contribution first, and the maximum score
    /// of a passage (docs/knowledge.md#scores).
    fn wanted(&self, searcher: &Searcher, question: &str) -> Result<(Vec<Wanted>, f32), Broken> {
        let passages = searcher.num_docs();
        // Deleted passages count until their segment is rewritten.
        let kept: u64 = searcher.segment_readers().iter().map(|segment| u64::from(segment.max_doc())).sum();
        let scoring = EnableScoring::enabled_from_searcher(searcher);
        let mut wanted = Vec::new();
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
                wanted.push(Wanted {
                    term: TermQuery::new(term, IndexRecordOption::WithFreqs).weight(scoring)?,
                    weight,
                    most: weight * rarity(found, kept) * MOST_OF_TERM,
                    share: found as f32 / kept as f32,
                });
                Ok(weight * rarity(found, passages) * MOST_OF_TERM)
            };
            let mut word = weigh(self.fields.body, &asked.stem, IN_BODY)?;
            weigh(self.fields.heading, &asked.stem, IN_HEADING)?;
            for (sound, weight) in &asked.sounds {
                word += weigh(self.fields.sounds, sound, *weight)?;
            }
            // A word that no passage has counts as the rarest: an unrelated query scores low.
            most += if known { word } else { rarity(0, passages) * MOST_OF_TERM * IN_BODY };
        }
        wanted.sort_by(|one, other| other.most.total_cmp(&one.most));
        Ok((wanted, most))
    }
}

/// Inverse document frequency of a term.
fn rarity(found: u64, passages: u64) -> f32 {
    let (found, passages) = (found.min(passages) as f32, passages as f32);
    (1.0 + (passages - found + 0.5) / (found + 0.5)).ln()
}

/// A term that is looked up.
struct Wanted {
    term: Box<dyn Weight>,
    /// Its weight.
    weight: f32,
    /// Its largest contribution to a passage.
    most: f32,
    /// The share of all passages that has it.
    share: f32,
}

/// The passages of a segment with the highest scores.
///
/// The terms with the largest possible contribution come first, over an array of all passages. They are rare, so their
/// postings are short. As soon as only few passages can still rank first, the other postings are looked up for these
/// alone: they are of common words and of common phonetic keys. The scores are those of all terms either way.
///
/// A query has a dozen terms or more, and those of one word have much the same postings; block-max WAND, which sorts
/// all postings after each step, takes longer (docs/performance.md#knowledge-bases).
fn best_of(segment: &SegmentReader, wanted: &[Wanted], limit: usize) -> Result<Vec<Sum>, Broken> {
    let mut sums = vec![0.0_f32; segment.max_doc() as usize];
    let mut left: f32 = wanted.iter().map(|one| one.most).sum();
    let all = segment.max_doc() as f32;
    for (at, one) in wanted.iter().enumerate() {
        // Selecting candidates costs about as much as postings of this length.
        if at > 0 && one.share * LOOK > 1.0 {
            let least = least(all_of(segment, &sums), limit, left);
            // Otherwise a passage may rank first that has none of the terms so far.
            if least > 0.0 {
                let candidates: Vec<Sum> = all_of(segment, &sums).filter(|sum| sum.0 >= least).collect();
                if candidates.len() as f32 * SEEK < one.share * all {
                    return among(segment, &wanted[at..], candidates, limit, left);
                }
            }
        }
        one.term.for_each(segment, &mut |doc, score| sums[doc as usize] += one.weight * score)?;
        left -= one.most;
    }
    let least = least(all_of(segment, &sums), limit, 0.0);
    Ok(all_of(segment, &sums).filter(|sum| sum.0 >= least).collect())
}

/// Continues with the passages that can still rank first.
fn among(
    segment: &SegmentReader,
    wanted: &[Wanted],
    mut candidates: Vec<Sum>,
    limit: usize,
    mut left: f32,
) -> Result<Vec<Sum>, Broken> {
    for one in wanted {
        let mut list = one.term.scorer(segment, 1.0)?;
        for Sum(sum, doc) in &mut candidates {
            if list.doc() < *doc {
                list.seek(*doc);
            }
            if list.doc() == *doc {
                *sum += one.weight * list.score();
            }
        }
        left -= one.most;
        let least = least(candidates.iter().copied(), limit, left);
        candidates.retain(|sum| sum.0 >= least);
    }
    Ok(candidates)
}

/// The passages of a segment that have a sum and were not removed, in their order.
fn all_of<'a>(segment: &'a SegmentReader, sums: &'a [f32]) -> impl Iterator<Item = Sum> + 'a {
    let alive = segment.alive_bitset();
    (0..)
        .zip(sums)
        .filter(move |(doc, sum)| **sum > 0.0 && alive.is_none_or(|alive| alive.is_alive(*doc)))
        .map(|(doc, sum)| Sum(*sum, doc))
}

/// The score that a passage must have to rank first, when each may still get `left` more; 0 and less when any may.
/// Rounding errors do not decide.
fn least(all: impl Iterator<Item = Sum>, limit: usize, left: f32) -> f32 {
    let mut first = BinaryHeap::with_capacity(limit + 1);
    let mut last = 0.0;
    for sum in all {
        if first.len() < limit {
            first.push(Reverse(sum));
        } else if sum.0 > last {
            first.pop();
            first.push(Reverse(sum));
        }
        if first.len() == limit {
            last = first.peek().map_or(0.0, |Reverse(sum)| sum.0);
        }
    }
    (last - left.max(0.0)) * (1.0 - 1e-5)
}

/// A passage with its score, ordered by that; of equals the one that was added first is the better.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sum(f32, DocId);

impl Eq for Sum {}

impl Ord for Sum {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then_with(|| other.1.cmp(&self.1))
    }
}

impl PartialOrd for Sum {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A change of an index. Nothing of it is visible, or stays, before [`Writing::commit`].
pub struct Writing {
    writer: IndexWriter,
    fields: Fields,
    memory: Mutex<terms::Memory>,
}

impl Writing {
    /// Deletes the passages of a document, but not those that this change adds afterwards.
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

    /// Commits the change as this version of the base.
    ///
    /// # Errors
    /// Those of the file system; the index is unchanged.
    pub fn commit(&mut self, index: &Index, version: i64) -> Result<(), Broken> {
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(&format!("{FORMAT} {version}"));
        prepared.commit()?;
        index.reader.reload()?;
        index.version.store(version, atomic::Ordering::Release);
        Ok(())
    }

    /// Ends the change after its commit: merges segments, which may take a while, and deletes the replaced files.
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

    /// Passages that cannot rank first are left out, and nothing else.
    #[test]
    fn the_first_ones_are_those_of_all_sums() {
        let folder = Folder::new("sums");
        let index = Index::create(&folder.0).unwrap();
        let mut state = 7_u64;
        let mut draw = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        // The first words are in most passages, the last ones in hardly any.
        let word = |rank: u64| {
            const PARTS: [&str; 8] = ["ka", "mo", "ri", "ta", "पा", "सि", "ne", "lu"];
            format!(
                "{}{}{}",
                PARTS[(rank % 8) as usize],
                PARTS[(rank / 8 % 8) as usize],
                PARTS[(rank / 64 % 8) as usize]
            )
        };
        let rank = move |draw: &mut dyn FnMut(u64) -> u64| 400 / (1 + draw(400));
        for version in 1..4 {
            let mut writing = index.write().unwrap();
            for number in 0..700 {
                let words: Vec<String> = (0..30).map(|_| word(rank(&mut draw))).collect();
                let heading = word(rank(&mut draw));
                let passage = version * 1_000 + number;
                writing.add(passage / 10, passage, Some(&heading), &words.join(" ")).unwrap();
            }
            if version == 3 {
                writing.remove(110);
            }
            writing.commit(&index, version as i64).unwrap();
        }
        let searcher = index.reader.searcher();
        assert!(searcher.segment_readers().len() > 1, "several files");
        for _ in 0..200 {
            let words: Vec<String> = (0..1 + draw(7)).map(|_| word(rank(&mut draw))).collect();
            let question = words.join(" ");
            let (wanted, _) = index.wanted(&searcher, &question).unwrap();
            for segment in searcher.segment_readers() {
                let mut sums = vec![0.0_f32; segment.max_doc() as usize];
                for one in &wanted {
                    one.term
                        .for_each(segment, &mut |doc, score| sums[doc as usize] += one.weight * score)
                        .unwrap();
                }
                let best = |mut all: Vec<Sum>| {
                    all.sort_by(|one, other| other.cmp(one));
                    all.truncate(5);
                    all
                };
                let found = best(best_of(segment, &wanted, 5).unwrap());
                assert_eq!(found, best(all_of(segment, &sums).collect()), "{question}");
            }
        }
    }
}
