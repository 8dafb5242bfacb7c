//! LRU cache of sentences.

use std::sync::{Arc, Mutex, PoisonError};

use hashlink::LinkedHashMap;

/// The cache key: language, variant of the voice, text.
pub(super) type Sentence = (&'static str, &'static str, String);

/// Longest text that is cached, in bytes: a fixed phrase is short, and a model's text is said once.
const LONGEST: usize = 400;

/// Sound by sentence, bounded in bytes; the least recently used is dropped first.
pub(super) struct Cache {
    limit: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The least recently used is in front.
    by_sentence: LinkedHashMap<Sentence, Arc<[i16]>>,
    bytes: usize,
}

fn weight(sentence: &Sentence, samples: &[i16]) -> usize {
    size_of_val(samples) + sentence.2.len() + 96
}

impl Cache {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, kept: Mutex::default() }
    }

    pub(super) fn get(&self, sentence: &Sentence) -> Option<Arc<[i16]>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.by_sentence.to_back(sentence).map(|samples| samples.clone())
    }

    pub(super) fn put(&self, sentence: Sentence, samples: Vec<i16>) {
        let size = weight(&sentence, &samples);
        if sentence.2.len() > LONGEST || size > self.limit || samples.is_empty() {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = kept.by_sentence.remove(&sentence) {
            kept.bytes -= weight(&sentence, &old);
        }
        while kept.bytes + size > self.limit {
            let Some((sentence, old)) = kept.by_sentence.pop_front() else { break };
            kept.bytes -= weight(&sentence, &old);
        }
        kept.bytes += size;
        kept.by_sentence.insert(sentence, samples.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(text: &str) -> Sentence {
        ("en", "+f3", text.to_owned())
    }

    #[test]
    fn what_was_not_said_for_longest_goes_first() {
        let cache = Cache::new(3 * (2000 + 97));
        for text in ["a", "b", "c"] {
            cache.put(sentence(text), vec![1; 1000]);
        }
        assert!(cache.get(&sentence("a")).is_some());
        cache.put(sentence("d"), vec![2; 1000]);
        let there = |text| cache.get(&sentence(text)).is_some();
        assert_eq!(["a", "b", "c", "d"].map(there), [true, false, true, true]);
    }

    #[test]
    fn what_does_not_fit_is_not_kept() {
        let cache = Cache::new(100);
        cache.put(sentence("a"), vec![1; 1000]);
        assert!(cache.get(&sentence("a")).is_none());
        let large = Cache::new(1 << 20);
        large.put(sentence(&"a".repeat(LONGEST + 1)), vec![1; 10]);
        assert!(large.get(&sentence(&"a".repeat(LONGEST + 1))).is_none());
    }
}
