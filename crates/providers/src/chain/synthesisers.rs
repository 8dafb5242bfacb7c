//! Synthesisers in order. One that fails before its first sample is replaced for the whole text. One that
//! fails later is replaced for the text after the sentence in which it failed.

use domain::ports::{Answer, ProviderError, ProviderFault, SAMPLE_RATE, SpeakOrder, Speaking, Synthesiser};

use super::members::{Asked, Chain, Tries};

/// Letters spoken in a second, roughly. It estimates the sentence in which a voice broke off.
const LETTERS_A_SECOND: usize = 14;

/// Synthesisers in order of preference, as one.
pub type Synthesisers = Chain<dyn Synthesiser>;

impl Synthesiser for Synthesisers {
    fn name(&self) -> &str {
        self.names()
    }

    fn resident(&self) -> bool {
        self.all_resident()
    }

    fn speaks(&self, language: &str) -> bool {
        self.iter().any(|provider| provider.speaks(language))
    }

    fn voices(&self) -> Vec<(String, String, String)> {
        self.iter().flat_map(|provider| provider.voices()).collect()
    }

    fn speak(&self, order: SpeakOrder) -> Answer<'_, Result<Box<dyn Speaking>, ProviderError>> {
        Box::pin(async move {
            let owner =
                |provider: &dyn Synthesiser| provider.voices().iter().any(|(id, _, _)| *id == order.voice);
            // Providers that have the voice come first; the others speak with a voice of their own.
            let mine = self.tries(|provider| provider.speaks(&order.language) && owner(provider));
            let others = self.tries(|provider| provider.speaks(&order.language) && !owner(provider));
            let tries = mine.then(others);
            let mut speaking = ChainSpeaking { tries, order, current: None, given: 0 };
            if !speaking.order.text.chars().any(char::is_alphanumeric) {
                return Ok(Box::new(Nothing) as Box<dyn Speaking>);
            }
            if !speaking.open().await {
                return Err(speaking.tries.take_failure().unwrap_or_else(|| self.none()));
            }
            Ok(Box::new(speaking) as Box<dyn Speaking>)
        })
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(self.check_in_order())
    }
}

/// The sound of a text without letters or digits: none.
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
    /// Samples from the current one.
    given: usize,
}

impl ChainSpeaking {
    /// Begins with the next provider; false when none is left.
    async fn open(&mut self) -> bool {
        self.current = self.tries.begin(|voice| voice.speak(self.order.clone())).await;
        self.given = 0;
        self.current.is_some()
    }

    /// Continues after a failure. `None` when nothing is left to say.
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
        if self.open().await { Some(Ok(())) } else { Some(Err(self.tries.take_failure().unwrap_or(error))) }
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
