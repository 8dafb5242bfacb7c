//! A text as it is said, and how far it was heard.

/// What a voice is given for a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    written: String,
    said: String,
    length: usize,
    /// For each word of the written text: where it ends there, in bytes, and how many characters of the spoken
    /// form there are up to its end.
    words: Vec<(usize, usize)>,
}

impl Spoken {
    /// A text that is said as it is written.
    pub fn plain(text: &str) -> Self {
        let mut spoken = Making::begin(text);
        while spoken.copy() {}
        spoken.end()
    }

    pub(super) fn begin(text: &str) -> Making<'_> {
        Making::begin(text)
    }

    /// As it is written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// As it is said.
    pub fn said(&self) -> &str {
        &self.said
    }

    /// The length of [`Self::said`], in characters.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The written words that fit into `played` of `length` of the sound, whole ones only. A number counts as
    /// heard when all of its words were.
    pub fn heard(&self, played: u64, length: u64) -> String {
        let share = u128::from(played.min(length)) * self.length as u128 / u128::from(length.max(1));
        let end =
            self.words.iter().take_while(|word| word.1 as u128 <= share).last().map_or(0, |word| word.0);
        let heard = self.written.get(..end).unwrap_or_default();
        heard.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// A spoken form in the making.
pub(super) struct Making<'a> {
    text: &'a str,
    rest: std::str::CharIndices<'a>,
    said: String,
    length: usize,
    words: Vec<(usize, usize)>,
    in_word: bool,
}

impl<'a> Making<'a> {
    fn begin(text: &'a str) -> Self {
        Self {
            text,
            rest: text.char_indices(),
            said: String::with_capacity(text.len()),
            length: 0,
            words: Vec::new(),
            in_word: false,
        }
    }

    /// Takes one written character; the words before it end where the spoken form is now.
    fn take(&mut self) -> Option<char> {
        let (at, letter) = self.rest.next()?;
        if letter.is_whitespace() {
            self.end_word(at);
        } else {
            self.in_word = true;
        }
        Some(letter)
    }

    fn end_word(&mut self, at: usize) {
        if std::mem::take(&mut self.in_word) {
            self.words.push((at, self.length));
        }
    }

    /// The next character is said as it is written; false at the end.
    pub(super) fn copy(&mut self) -> bool {
        let Some(letter) = self.take() else { return false };
        self.said.push(letter);
        self.length += 1;
        true
    }

    /// The next `length` written characters are said like this.
    pub(super) fn replace(&mut self, length: usize, said: &str) {
        if !self.said.is_empty()
            && !self.said.ends_with(|last: char| last.is_whitespace() || "(\"'“‘[-/".contains(last))
        {
            self.said.push(' ');
            self.length += 1;
        }
        self.said.push_str(said);
        self.length += said.chars().count();
        for _ in 0..length {
            self.take();
        }
    }

    pub(super) fn end(mut self) -> Spoken {
        self.end_word(self.text.len());
        Spoken { written: self.text.to_owned(), said: self.said, length: self.length, words: self.words }
    }
}
