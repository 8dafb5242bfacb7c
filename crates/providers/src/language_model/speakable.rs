//! The part of a model's text that is for the customer: without thoughts, and without markup when it is
//! spoken.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Filters text in a stream. Some self-hosted models write their thoughts into the text, between tags.
#[derive(Default)]
pub(super) struct Speakable {
    /// The end of the text so far, when it may be the beginning of a tag.
    held: String,
    /// An asterisk before it, which may be the first of a pair.
    star: bool,
    thinking: bool,
    spoken: bool,
}

impl Speakable {
    /// `spoken`: emphasis and code marks are left out, which a voice would read aloud.
    pub(super) fn new(spoken: bool) -> Self {
        Self { spoken, ..Self::default() }
    }

    /// The text that can be passed on now.
    pub(super) fn push(&mut self, text: &str) -> String {
        self.held.push_str(text);
        let mut out = String::new();
        loop {
            let tag = if self.thinking { CLOSE } else { OPEN };
            if let Some(at) = self.held.find(tag) {
                let rest = self.held.split_off(at + tag.len());
                self.held.truncate(at);
                if !self.thinking {
                    out.push_str(&self.held);
                }
                self.held = rest;
                self.thinking = !self.thinking;
                continue;
            }
            let kept = (1..tag.len()).rev().find(|length| self.held.ends_with(&tag[..*length])).unwrap_or(0);
            let mut rest = self.held.split_off(self.held.len() - kept);
            std::mem::swap(&mut rest, &mut self.held);
            if !self.thinking {
                out.push_str(&rest);
            }
            return self.plain(out);
        }
    }

    /// The text that was held back.
    pub(super) fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        let mut text = self.plain(if self.thinking { String::new() } else { held });
        if std::mem::take(&mut self.star) {
            text.push('*');
        }
        text
    }

    /// Emphasis is always a pair of asterisks or more: a single one may be a key of the telephone. One that
    /// ends a piece waits for the next.
    fn plain(&mut self, text: String) -> String {
        if !self.spoken || !(self.star || text.contains(['*', '`'])) {
            return text;
        }
        let mut plain = String::with_capacity(text.len());
        for letter in text.chars().filter(|letter| *letter != '`') {
            if letter == '*' {
                self.star = !self.star;
                continue;
            }
            if std::mem::take(&mut self.star) {
                plain.push('*');
            }
            plain.push(letter);
        }
        plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(spoken: bool, text: &str, size: usize) -> String {
        let mut filter = Speakable::new(spoken);
        let letters: Vec<char> = text.chars().collect();
        let mut out = String::new();
        for piece in letters.chunks(size) {
            out.push_str(&filter.push(&piece.iter().collect::<String>()));
        }
        out + &filter.finish()
    }

    #[test]
    fn thoughts_and_marks_are_left_out_however_the_text_is_cut() {
        for size in 1..60 {
            assert_eq!(
                said(true, "<think>the user is < 3</think>Hello **there**, 2 < 3, press *.", size),
                "Hello there, 2 < 3, press *."
            );
            assert_eq!(said(false, "**Hello** <thin", size), "**Hello** <thin");
            assert_eq!(said(true, "Hi <think>never closed", size), "Hi ");
            assert_eq!(said(true, "*`*a*`*`* b*<think>x</think>* *", size), "a* b *");
        }
    }
}
