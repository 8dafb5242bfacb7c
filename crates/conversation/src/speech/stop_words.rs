//! The words of stopping and starting messages in the eleven languages: `languages/*/stopwords.toml`. What a message of
//! such words means is decided by `domain::channel::consent`.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::fold;
use crate::language::folders::{files, parsed};

/// A row of words of all languages, folded.
#[derive(Debug, Default)]
pub struct StopWordRow(HashSet<String>);

impl StopWordRow {
    /// Whether a folded word, or a phrase of folded words with one blank between them, is in the row.
    pub fn has(&self, folded: &str) -> bool {
        self.0.contains(folded)
    }

    /// The words and phrases, folded, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    fn add(&mut self, rows: &[String]) {
        self.0.extend(rows.iter().map(|row| folded(row)));
    }
}

/// A text as it is looked up in [`StopWordRow`].
pub fn folded(text: &str) -> String {
    fold(text).join(" ")
}

/// Makes [`StopWords`] and the rows of a file, which have the same names.
macro_rules! rows {
    ($($(#[doc = $doc:literal])* $row:ident,)*) => {
        /// The rows of the files, each with the words of all languages.
        #[derive(Debug, Default)]
        pub struct StopWords {
            $($(#[doc = $doc])* pub $row: StopWordRow,)*
        }

        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            $($row: Vec<String>,)*
        }

        impl StopWords {
            fn add(&mut self, written: &Written) {
                $(self.$row.add(&written.$row);)*
            }
        }
    };
}

rows! {
    /// Messages that stop messages.
    stop,
    /// Messages that stop messages and calls.
    stop_all,
    /// Messages that allow messages again.
    start,
    /// Words that stop by themselves, beside `objects`, `marketing` and `fillers`.
    verbs,
    /// Words that mean `stop` and `closed`: alone they stop messages unless they answer a question.
    closed,
    /// `Closed`, which stops together with a word of `make`.
    close,
    /// Requests to do something.
    make,
    /// `Do not`, which stops together with a word of `send` and an object.
    dont,
    /// `Send`.
    send,
    /// `Do not send` as one phrase, which stops together with an object.
    do_not_send,
    /// `Start`, which allows marketing again together with a word of `marketing`.
    again,
    /// Messages, as what is to stop.
    objects,
    /// Promotions, as what is to stop.
    marketing,
    /// Words beside these that change nothing.
    fillers,
}

/// The words, read once.
pub static STOP_WORDS: LazyLock<StopWords> = LazyLock::new(|| {
    let mut words = StopWords::default();
    for (code, text) in files!("stopwords.toml") {
        words.add(&parsed(code, "stopwords.toml", text));
    }
    words
});
