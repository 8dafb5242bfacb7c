//! Synthesisers in order: one that fails before its first sample is replaced for the whole text, one that
//! fails later for what comes after the sentence it broke.

use std::sync::Arc;

use domain::ports::{Answer, ProviderError, ProviderFault, SAMPLE_RATE, SpeakOrder, Speaking, Synthesiser};

use super::breaker::BreakerLimits;
use super::figures::Role;
use super::members::{Asked, Members, Tries};
use crate::http::Monotonic;

/// Letters that are spoken in a second, about: to find the sentence in which a voice broke off.
const LETTERS_A_SECOND: usize = 14;

/// Synthesisers in order of preference, as one.
pub struct Synthesisers {
    members: Arc<Members<dyn Synthesiser>>,
    name: String,
}

impl Synthesisers {
    /// A chain of these, the preferred first.
    pub fn new(providers: Vec<Arc<dyn Synthesiser>>, limits: BreakerLimits, clock: &Monotonic) -> Self {
        let named = providers.into_iter().map(|provider| (provider.name().to_owned(), provider)).collect();
        let members = Arc::new(Members::new(Role::FromText, named, limits, clock));
        Self { name: members.names().join(","), members }
    }

    pub(super) fn members(&self) -> &Members<dyn Synthesiser> {
        &self.members
    }
}

impl Synthesiser for Synthesisers {
    fn name(&self) -> &str {
        &self.name
    }

    fn resident(&self) -> bool {
        self.members.iter().all(|provider| provider.resident())
    }

    fn speaks(&self, language: &str) -> bool {
        self.members.iter().any(|provider| provider.speaks(language))
    }

    fn voices(&self) -> Vec<(String, String, String)> {
        self.members.iter().flat_map(|provider| provider.voices()).collect()
    }

    fn speak(&self, order: SpeakOrder) -> Answer<'_, Result<Box<dyn Speaking>, ProviderError>> {
        Box::pin(async move {
            let owner =
                |provider: &dyn Synthesiser| provider.voices().iter().any(|(id, _, _)| *id == order.voice);
            // Whoever has the voice comes first; the others speak with their own.
            let mine = self.members.tries(|provider| provider.speaks(&order.language) && owner(provider));
            let others = self.members.tries(|provider| provider.speaks(&order.language) && !owner(provider));
            let tries = mine.then(others);
            let mut speaking = ChainSpeaking { tries, order, current: None, failure: None, given: 0 };
            if !speaking.order.text.chars().any(char::is_alphanumeric) {
                return Ok(Box::new(Nothing) as Box<dyn Speaking>);
            }
            if !speaking.open().await {
                return Err(speaking
                    .failure
                    .unwrap_or_else(|| self.members.nobody("no synthesiser is set up for this language")));
            }
            Ok(Box::new(speaking) as Box<dyn Speaking>)
        })
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(async move {
            let mut last = self.members.nobody("no synthesiser is set up");
            for provider in self.members.iter() {
                match provider.check().await {
                    Ok(words) => return Ok(format!("{}: {words}", provider.name())),
                    Err(error) => last = error,
                }
            }
            Err(last)
        })
    }
}

/// A text without a single letter.
struct Nothing;

impl Speaking for Nothing {
    fn next(&mut self) -> Answer<'_, Option<Result<Vec<i16>, ProviderError>>> {
        Box::pin(std::future::ready(None))
    }
}

struct ChainSpeaking {
    tries: Tries<dyn Synthesiser>,
    order: SpeakOrder,
    current: Option<(Box<dyn Speaking>, Asked<dyn Synthesiser>)>,
    failure: Option<ProviderError>,
    /// Samples that the current one gave.
    given: usize,
}

impl ChainSpeaking {
    /// Begins with the next provider; false when nobody is left.
    async fn open(&mut self) -> bool {
        while let Some(asked) = self.tries.next() {
            match asked.member.provider.speak(self.order.clone()).await {
                Ok(speaking) => {
                    self.current = Some((speaking, asked));
                    self.given = 0;
                    return true;
                }
                Err(error) => {
                    asked.failed(&error);
                    self.failure = Some(error);
                }
            }
        }
        false
    }

    /// Goes on after a failure. False when there is nothing more to say or nobody to say it.
    async fn go_on(&mut self, error: ProviderError) -> Option<Result<(), ProviderError>> {
        if let Some((_, asked)) = self.current.take() {
            asked.failed(&error);
        }
        if self.given > 0 {
            self.order.text = rest(&self.order.text, self.given).to_owned();
            if !self.order.text.chars().any(char::is_alphanumeric) {
                return None;
            }
        }
        if self.open().await { Some(Ok(())) } else { Some(Err(self.failure.take().unwrap_or(error))) }
    }
}

impl Speaking for ChainSpeaking {
    fn next(&mut self) -> Answer<'_, Option<Result<Vec<i16>, ProviderError>>> {
        Box::pin(async move {
            loop {
                let (speaking, asked) = self.current.as_mut()?;
                let error = match speaking.next().await {
                    Some(Ok(samples)) if samples.is_empty() => continue,
                    Some(Ok(samples)) => {
                        asked.succeeded();
                        self.given += samples.len();
                        return Some(Ok(samples));
                    }
                    Some(Err(error)) => error,
                    None if self.given > 0 => {
                        self.current = None;
                        return None;
                    }
                    None => {
                        ProviderError::new(&asked.member.name, ProviderFault::Broken, "ended without a sound")
                    }
                };
                match self.go_on(error).await {
                    Some(Ok(())) => {}
                    Some(Err(error)) => return Some(Err(error)),
                    None => return None,
                }
            }
        })
    }
}

/// The text after the sentence that was being spoken when `samples` had been given.
fn rest(text: &str, samples: usize) -> &str {
    let spoken = samples * LETTERS_A_SECOND / SAMPLE_RATE as usize;
    let mut letters = text.char_indices().skip(spoken).peekable();
    while let Some((_, letter)) = letters.next() {
        let ends = matches!(letter, '.' | '!' | '?' | '।' | '॥' | '\n');
        if let Some((at, _)) = letters.peek().copied().filter(|(_, next)| ends && next.is_whitespace()) {
            return text[at..].trim_start();
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_begins_with_the_next_sentence() {
        let text = "Namaste, this is Asha. Your parcel of Rs. 500 arrives today. Shall I go on?";
        assert_eq!(rest(text, 1), "Your parcel of Rs. 500 arrives today. Shall I go on?");
        assert_eq!(rest(text, 8000), "Your parcel of Rs. 500 arrives today. Shall I go on?");
        assert_eq!(rest(text, 8000 * 4), "Shall I go on?");
        assert_eq!(rest(text, 8000 * 9), "");
        assert_eq!(rest("एक वाक्य। दूसरा।", 100), "दूसरा।");
        assert_eq!(rest("one sentence", 100), "");
    }
}
