//! Stop words: opt-out and opt-in by a customer's message (docs/contract/channel-messages.md#stop-words).
//!
//! Only a message that is nothing but such a word counts: `stop sending the old invoice` is for the agent.

use unicode_normalization::UnicodeNormalization;

use crate::conversation::speech::{STOP_WORDS, StopWordRow as Words, folded, opt_out};
use crate::invisible::is_invisible;

/// What a stop word asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopWord {
    /// No more messages; calls are as before.
    StopMessages,
    /// Neither messages nor calls.
    StopAll,
    Start,
    /// No more marketing; other messages are as before.
    StopMarketing,
    StartMarketing,
}

/// Longest text that can be a stop word, in characters: longer ones are not checked word by word.
const LONGEST: usize = 60;
/// Longest text that is searched for «do not call me», in characters.
const LONGEST_SENTENCE: usize = 400;
/// Polite words around a stop word.
const POLITE: &[&str] = &["please", "pls", "plz", "kindly"];

/// `No more` as one word: it stops what it names.
const NO_MORE: &str = "nomore";
/// What makes the stop of messages one of everything.
const ALL: &str = "al";

/// Whether a character is invisible: invisible by definition, a control, a mark, or an emoji selector.
fn is_unseen(sign: char) -> bool {
    is_invisible(sign)
        || matches!(sign, '\u{20e3}' | '\u{fff9}'..='\u{fffb}')
        || (sign.is_control() && !sign.is_whitespace())
}

/// Whether a sign around a word is no part of it: punctuation, an arrow, an emoji. Vowel signs and the like are not
/// letters either, but parts of words.
fn is_mark(sign: char) -> bool {
    sign.is_ascii_punctuation()
        || matches!(
            sign,
            '¡' | '¢'..='©' | '«' | '¬' | '®'..='±' | '´' | '¶'..='¸' | '»' | '¿' | '×' | '÷' | '।' | '॥' | '॰'
                | '،' | '؛' | '؟' | '۔'
                | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{2190}'..='\u{2bff}'
                | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3020}' | '\u{3030}'
                | '\u{1f000}'..='\u{1faff}'
        )
}

/// The normalised text: other forms of the same letters (full-width ones, say) become those letters, and invisible
/// characters are removed. At most `most` characters of it, which is enough to see that there are more.
fn seen(text: &str, most: usize) -> String {
    text.nfkc().filter(|sign| !is_unseen(*sign)).take(most).collect()
}

/// Lower case, one blank between words, without marks around them.
fn plain(seen: &str) -> String {
    let words: Vec<&str> = seen
        .split_whitespace()
        .map(|word| word.trim_matches(is_mark))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ").to_lowercase()
}

/// Words without the polite ones.
fn blunt(words: &str) -> String {
    let mut words: Vec<&str> = words.split(' ').collect();
    while words.len() > 1 && words.first().is_some_and(|word| POLITE.contains(word)) {
        words.remove(0);
    }
    while words.len() > 1 && words.last().is_some_and(|word| POLITE.contains(word)) {
        words.pop();
    }
    words.join(" ")
}

/// Whether a text is nothing but a word that means `stop` and `closed`: it depends on what was asked.
pub fn is_ambiguous(text: &str) -> bool {
    let words = folded(&plain(&seen(text, LONGEST + 1)));
    !words.is_empty() && words.split(' ').all(|word| STOP_WORDS.closed.has(word))
}

/// The meaning of folded words that are nothing but forms of these: stop, its object, and polite words.
fn composed(words: &str) -> Option<StopWord> {
    let known = &*STOP_WORDS;
    let words = words.replace("do not", "dont").replace("opt out", "optout");
    let words = words.replace("no more", NO_MORE);
    let unsent = known.do_not_send.iter().find_map(|phrase| words.strip_suffix(phrase)?.strip_suffix(' '));
    if let Some(what) = unsent {
        let about = what.split(' ').any(|word| known.objects.has(word));
        let only = what.split(' ').all(|word| known.objects.has(word) || known.fillers.has(word));
        return (about && only).then_some(StopWord::StopMessages);
    }
    let words: Vec<&str> = words.split(' ').collect();
    let has = |set: &Words| words.iter().any(|word| set.has(word));
    let only = |sets: &[&Words], also: &str| {
        words.iter().all(|word| *word == also || sets.iter().any(|set| set.has(word)))
    };
    let about = has(&known.objects) || has(&known.marketing);
    if has(&known.again) && has(&known.marketing) {
        let again = only(&[&known.again, &known.marketing, &known.objects, &known.make, &known.fillers], "");
        return again.then_some(StopWord::StartMarketing);
    }
    let beside = [&known.objects, &known.marketing, &known.fillers];
    let with = |sets: &[&'static Words], also: &str| only(&[sets, &beside[..]].concat(), also);
    let stops = has(&known.verbs) && with(&[&known.verbs, &known.make], ALL)
        || has(&known.close) && has(&known.make) && with(&[&known.close, &known.make], "")
        || words.contains(&NO_MORE) && about && with(&[&known.send], NO_MORE)
        || has(&known.dont) && has(&known.send) && about && with(&[&known.dont, &known.send], "");
    let all = words.contains(&ALL);
    match (stops, has(&known.marketing)) {
        (true, true) => Some(StopWord::StopMarketing),
        (true, false) if all => Some(StopWord::StopAll),
        (true, false) => Some(StopWord::StopMessages),
        (false, _) => None,
    }
}

/// Whether the letters of a text are nothing but STOP: `S T O P`, `S.T.O.P`, `STOPPP`.
fn spelled(seen: &str) -> bool {
    let letters: String = seen.chars().filter(|sign| sign.is_alphanumeric()).collect();
    letters.to_ascii_lowercase().strip_prefix("sto").is_some_and(|rest| {
        let rest = rest.trim_start_matches('o');
        !rest.is_empty() && rest.bytes().all(|letter| letter == b'p')
    })
}

/// The stop word in a message; `None` when it has none and is to be answered. `answers`: it answers a question, or is
/// the label of a button.
pub fn stop_word(text: &str, answers: bool) -> Option<StopWord> {
    let seen = seen(text, LONGEST_SENTENCE + 1);
    let length = seen.chars().count();
    if length <= LONGEST {
        let words = plain(&seen);
        let blunt = folded(&blunt(&words));
        if is_ambiguous(text) {
            return (!answers).then_some(StopWord::StopMessages);
        }
        if STOP_WORDS.stop_all.has(&blunt) {
            return Some(StopWord::StopAll);
        }
        if STOP_WORDS.stop.has(&blunt) {
            return Some(StopWord::StopMessages);
        }
        if STOP_WORDS.start.has(&folded(&words)) {
            return Some(StopWord::Start);
        }
        if spelled(&seen) {
            return Some(StopWord::StopMessages);
        }
        if let Some(word) = composed(&blunt) {
            return Some(word);
        }
    }
    let says = |text: &str| text.chars().count() <= LONGEST_SENTENCE && opt_out(text, "en");
    // Also as it came: joiners are part of how some scripts are written.
    (says(&seen) || says(text)).then_some(StopWord::StopAll)
}

/// The stop word in a button's payload, or in the id of a button or a row. The business chose these words, not the person,
/// so only `STOP` and `STOP ALL` count: a button with the id `start` may begin an order.
pub fn stop_word_of_button(id: &str) -> Option<StopWord> {
    match plain(&seen(id, LONGEST + 1)).replace(['_', '-'], " ").as_str() {
        "stop" => Some(StopWord::StopMessages),
        "stop all" | "stopall" => Some(StopWord::StopAll),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
