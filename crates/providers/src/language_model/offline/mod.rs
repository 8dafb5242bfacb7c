//! Answers by rules in place of a language model. It needs no account, no network and no graphics card. It is
//! deterministic, says nothing beyond its input, and understands only what its rules cover.
//!
//! | file | holds |
//! |---|---|
//! | `lines` | the few sentences of its own, in eleven languages |
//! | `prompt` | what a prompt says: who speaks, why, what to ask, what is known, what must not be said |
//! | `retrieval` | the sentence that fits a question best |
//! | `exits` | which condition applies |
//! | `turn` | what it says next |
//! | `analysis`, `extraction`, `sentiment` | analysis of a conversation that is over |
//!
//! Tools are never called: rules cannot choose the arguments.

mod analysis;
mod exits;
mod extraction;
mod lines;
mod prompt;
mod retrieval;
mod sentiment;
#[cfg(test)]
mod tests;
mod turn;

use std::collections::VecDeque;

use domain::evaluation::Grades;
use domain::ports::{
    Analysis, AnalysisOrder, Answer, GradeOrder, LanguageModel, ProviderError, ProviderFault, Said,
    TalkOrder, Talking,
};
use domain::speech::sentences;

/// The answerer by rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflineAnswerer;

impl LanguageModel for OfflineAnswerer {
    fn name(&self) -> &str {
        "offline"
    }

    fn resident(&self) -> bool {
        true
    }

    fn talk(&self, order: TalkOrder) -> Answer<'_, Result<Box<dyn Talking>, ProviderError>> {
        let turn = turn::next(&order);
        let mut pieces: VecDeque<Said> = sentences(&turn.text)
            .enumerate()
            .map(|(at, sentence)| Said::Text(if at == 0 { sentence } else { format!(" {sentence}") }))
            .collect();
        pieces.extend(turn.then);
        Box::pin(std::future::ready(Ok(Box::new(Turn(pieces)) as Box<dyn Talking>)))
    }

    fn analyse(&self, order: AnalysisOrder) -> Answer<'_, Result<Analysis, ProviderError>> {
        Box::pin(std::future::ready(Ok(analysis::read(&order))))
    }

    /// It has no judgement: a grade of its would be a guess.
    fn grade(&self, _: GradeOrder) -> Answer<'_, Result<Grades, ProviderError>> {
        let error =
            ProviderError::new("offline", ProviderFault::Refused, "the offline answerer does not grade");
        Box::pin(std::future::ready(Err(error)))
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(std::future::ready(Ok("answers by rules, from prompt and knowledge".to_owned())))
    }
}

/// A turn, a sentence at a time.
struct Turn(VecDeque<Said>);

impl Talking for Turn {
    fn next(&mut self) -> Answer<'_, Option<Result<Said, ProviderError>>> {
        Box::pin(std::future::ready(self.0.pop_front().map(Ok)))
    }
}
