//! Cutting a document into passages (docs/knowledge.md#passages).

use domain::knowledge::{Block, BlockKind, ReadDocument};

use crate::text::{count, sentences};

/// Words from which a passage is long enough to stand alone.
const ENOUGH: usize = 120;
/// Most words of a passage; only a single sentence or row may have more, up to [`LONGEST`].
const MOST: usize = 200;
/// Most characters of a passage, for text without spaces.
const LONGEST: usize = 4_000;
/// Longest path of headings, in characters.
const LONGEST_HEADING: usize = 300;

/// A piece of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    pub content: String,
    /// The headings above it, from the highest, joined with ` › `.
    pub heading: Option<String>,
    /// The page that it begins on.
    pub page: Option<u32>,
}

/// Cuts a document at its headings, and the text between two headings into passages of about [`ENOUGH`] to [`MOST`]
/// words, at blocks and sentences. Rows of a table stay whole.
pub fn cut(document: &ReadDocument) -> Vec<Passage> {
    let mut cutter = Cutter::default();
    for block in &document.blocks {
        match block.kind {
            BlockKind::Heading(level) => cutter.heading(level, block),
            BlockKind::Paragraph => cutter.paragraph(block),
            BlockKind::TableRow => cutter.piece(&block.text, block.page, "\n"),
        }
    }
    cutter.close();
    cutter.done
}

#[derive(Default)]
struct Cutter {
    done: Vec<Passage>,
    headings: Vec<(u8, String, Option<u32>)>,
    /// Whether the last heading has text.
    under: bool,
    content: String,
    words: usize,
    page: Option<u32>,
}

impl Cutter {
    fn heading(&mut self, level: u8, block: &Block) {
        let text = block.text.trim();
        if text.is_empty() {
            return;
        }
        self.flush();
        if self.headings.last().is_some_and(|(last, ..)| *last >= level) {
            self.keep_bare_heading();
        }
        while self.headings.last().is_some_and(|(last, ..)| *last >= level) {
            self.headings.pop();
        }
        self.headings.push((level, text.to_owned(), block.page));
        self.under = false;
    }

    /// A heading without text is a passage of its own: it may be all there is to say.
    fn keep_bare_heading(&mut self) {
        if !self.under
            && let Some((_, text, page)) = self.headings.last().cloned()
        {
            self.content = text.chars().take(LONGEST).collect();
            self.page = page;
            self.flush();
        }
    }

    fn close(&mut self) {
        self.flush();
        if !self.headings.is_empty() {
            self.keep_bare_heading();
        }
    }

    fn paragraph(&mut self, block: &Block) {
        if count(&block.text) <= MOST && block.text.chars().count() <= LONGEST {
            return self.piece(&block.text, block.page, "\n");
        }
        for (at, sentence) in sentences(&block.text).into_iter().enumerate() {
            self.piece(sentence, block.page, if at == 0 { "\n" } else { " " });
        }
    }

    /// Adds what is not to be cut, unless it is longer than any passage may be.
    fn piece(&mut self, text: &str, page: Option<u32>, glue: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let words = count(text);
        let long = text.chars().count();
        let too_much = self.words + words > MOST || self.content.chars().count() + long > LONGEST;
        if !self.content.is_empty() && (too_much || self.words >= ENOUGH) {
            self.flush();
        }
        if long > LONGEST || words > 2 * MOST {
            return self.cut_anywhere(text, page);
        }
        if self.content.is_empty() {
            self.page = page;
        } else {
            self.content.push_str(glue);
        }
        self.content.push_str(text);
        self.words += words;
        self.under = true;
    }

    /// A sentence that does not end, cut at spaces, or anywhere if it has none.
    fn cut_anywhere(&mut self, text: &str, page: Option<u32>) {
        for word in text.split_whitespace() {
            let mut rest = word;
            while !rest.is_empty() {
                let to = rest.char_indices().nth(LONGEST / 2).map_or(rest.len(), |(to, _)| to);
                let (part, left) = rest.split_at(to);
                rest = left;
                if self.words >= MOST || self.content.chars().count() + part.chars().count() >= LONGEST {
                    self.flush();
                }
                if self.content.is_empty() {
                    self.page = page;
                } else {
                    self.content.push(' ');
                }
                self.content.push_str(part);
                self.words += 1;
            }
        }
        self.under = true;
        self.flush();
    }

    fn flush(&mut self) {
        let content = std::mem::take(&mut self.content);
        self.words = 0;
        if content.is_empty() {
            return;
        }
        let path = self.headings.iter().map(|(_, text, _)| text.as_str()).collect::<Vec<_>>().join(" › ");
        let heading: String = path.chars().take(LONGEST_HEADING).collect();
        self.done.push(Passage {
            content,
            heading: (!heading.is_empty()).then_some(heading),
            page: self.page,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: BlockKind, text: &str, page: u32) -> Block {
        Block { kind, text: text.into(), page: Some(page) }
    }

    fn words(from: usize, many: usize) -> String {
        (from..from + many).map(|at| format!("w{at}")).collect::<Vec<_>>().join(" ")
    }

    fn cut_blocks(blocks: Vec<Block>) -> Vec<Passage> {
        cut(&ReadDocument { title: None, blocks })
    }

    #[test]
    fn headings_part_passages_and_name_their_path() {
        let passages = cut_blocks(vec![
            block(BlockKind::Heading(1), "Shop", 1),
            block(BlockKind::Heading(2), "Returns", 1),
            block(BlockKind::Paragraph, "Within 30 days.", 1),
            block(BlockKind::Heading(2), "Hours", 2),
            block(BlockKind::Paragraph, "From nine.", 3),
            block(BlockKind::Heading(1), "Closed on Sundays", 4),
        ]);
        let shown: Vec<(&str, Option<&str>, Option<u32>)> = passages
            .iter()
            .map(|passage| (passage.content.as_str(), passage.heading.as_deref(), passage.page))
            .collect();
        assert_eq!(
            shown,
            [
                ("Within 30 days.", Some("Shop › Returns"), Some(1)),
                ("From nine.", Some("Shop › Hours"), Some(3)),
                ("Closed on Sundays", Some("Closed on Sundays"), Some(4)),
            ]
        );
    }

    #[test]
    fn passages_have_about_as_many_words_as_an_answer() {
        let passages =
            cut_blocks((0..20).map(|at| block(BlockKind::Paragraph, &words(at * 50, 50), 1)).collect());
        let (last, others) = passages.split_last().unwrap();
        assert!(others.iter().all(|passage| (ENOUGH..=MOST).contains(&count(&passage.content))));
        assert!(count(&last.content) <= MOST);
        let all: Vec<&str> = passages.iter().flat_map(|passage| passage.content.split_whitespace()).collect();
        assert_eq!(all.len(), 1000, "no word is lost");
    }

    #[test]
    fn a_long_paragraph_is_cut_at_sentences() {
        let text = (0..10).map(|at| format!("The {}.", words(at * 60, 60))).collect::<Vec<_>>().join(" ");
        let passages = cut_blocks(vec![block(BlockKind::Paragraph, &text, 1)]);
        assert!(passages.len() >= 4 && passages.iter().all(|passage| passage.content.ends_with('.')));
    }

    #[test]
    fn rows_stay_whole() {
        let row = |at| format!("plan: {at}; price: {}", words(at, 40));
        let blocks = (0..12).map(|at| block(BlockKind::TableRow, &row(at), 1)).collect();
        for passage in cut_blocks(blocks) {
            assert!(passage.content.lines().all(|line| line.starts_with("plan: ") && count(line) == 43));
        }
    }

    #[test]
    fn text_without_stops_or_spaces_is_cut_too() {
        for text in ["x".repeat(100_000), words(0, 20_000), "क".repeat(50_000)] {
            let passages = cut_blocks(vec![block(BlockKind::Paragraph, &text, 1)]);
            assert!(
                passages.iter().all(|passage| passage.content.chars().count() <= LONGEST + 1),
                "{}",
                text.len()
            );
            let kept: usize = passages
                .iter()
                .flat_map(|passage| passage.content.chars())
                .filter(|c| !c.is_whitespace())
                .count();
            assert_eq!(kept, text.chars().filter(|c| !c.is_whitespace()).count());
        }
    }

    #[test]
    fn an_empty_document_has_none() {
        assert_eq!(cut(&ReadDocument::default()), []);
        assert_eq!(cut_blocks(vec![block(BlockKind::Paragraph, " \n ", 1)]), []);
    }
}
