//! The sentence that fits a question best: BM25 over sentences, with stems instead of words.

use std::collections::{BTreeMap, BTreeSet};

use domain::speech::fold;

/// BM25's k1 (how fast repetitions of a word stop counting) and b (how much long sentences are penalised).
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;
/// Smallest part of a question's significant words that a sentence must contain.
const COVERAGE: f64 = 0.34;

/// Words that say nothing about the subject, folded when used.
const STOP: &str = "a an the is are was were be been am i me my we our you your yours he she it its they them their this that these those of to in on at by for with from about as and or but if so not no \
    do does did done have has had will would can could shall should may might must what which who whom when where why how there here please tell know want wants say said just any some all more much many \
    get got give need let also than then too very am ok okay yes yeah hello hi sir madam maam ji could would \
    hai hain ho hoon hun tha thi the ka ki ke ko se mein me par pe kya kaun kab kahan kaise kitna kitni kitne kyon aur ya to bhi mujhe mera meri mere aap aapka aapki main hum ye yeh wo woh batao bataiye ji nahi \
    है हैं हो हूँ था थी थे का की के को से में पर क्या कौन कब कहाँ कैसे कितना कितनी कितने क्यों और या तो भी मुझे मेरा मेरी मेरे आप आपका आपकी मैं हम यह वह बताइए बताओ जी नहीं";

/// The significant words of a text, as stems.
pub(super) fn stems(text: &str) -> Vec<String> {
    let stop = stop_words();
    fold(text).into_iter().filter(|word| !stop.contains(word)).map(|word| stem(&word)).collect()
}

fn stop_words() -> &'static BTreeSet<String> {
    static WORDS: std::sync::LazyLock<BTreeSet<String>> = std::sync::LazyLock::new(|| fold_all(STOP));
    &WORDS
}

/// The folded words of a list.
pub(super) fn fold_all(text: &str) -> BTreeSet<String> {
    text.split_whitespace().flat_map(fold).collect()
}

/// An English word without its ending; others as they are.
fn stem(word: &str) -> String {
    for ending in ["ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ed", "es", "s", "y", "e"]
    {
        if let Some(root) = word.strip_suffix(ending)
            && root.chars().count() >= 3
        {
            return root.to_owned();
        }
    }
    word.to_owned()
}

/// The sentence that answers a question best, if one does; the first of several with the same score.
pub(super) fn best<'a>(question: &str, sentences: &[&'a str]) -> Option<&'a str> {
    let wanted: BTreeSet<String> = stems(question).into_iter().collect();
    if wanted.is_empty() || sentences.is_empty() {
        return None;
    }
    let documents: Vec<Vec<String>> = sentences.iter().map(|sentence| stems(sentence)).collect();
    let average = documents.iter().map(Vec::len).sum::<usize>() as f64 / documents.len() as f64;
    let mut known_in: BTreeMap<&str, f64> = BTreeMap::new();
    for document in &documents {
        for word in document.iter().collect::<BTreeSet<_>>() {
            *known_in.entry(word).or_default() += 1.0;
        }
    }
    let count = documents.len() as f64;
    let mut found: Option<(f64, &str)> = None;
    for (document, sentence) in documents.iter().zip(sentences) {
        let mut score = 0.0;
        let mut covered = 0;
        for word in &wanted {
            let times = document.iter().filter(|other| *other == word).count() as f64;
            if times > 0.0 {
                covered += 1;
                let rare = (1.0
                    + (count - known_in.get(word.as_str()).copied().unwrap_or(0.0) + 0.5)
                        / (known_in.get(word.as_str()).copied().unwrap_or(0.0) + 0.5))
                    .ln();
                score += rare * times * (SATURATION + 1.0)
                    / (times
                        + SATURATION * (1.0 - LENGTH + LENGTH * document.len() as f64 / average.max(1.0)));
            }
        }
        let enough = f64::from(covered) / wanted.len() as f64 >= COVERAGE;
        if enough && found.is_none_or(|(best, _)| score > best) {
            found = Some((score, sentence));
        }
    }
    found.map(|(_, sentence)| sentence)
}
