//! Language models in order: one that fails or stalls before its first word is replaced; after a word the
//! turn ends with what was said.

use std::sync::Arc;

use domain::ports::{
    Analysis, AnalysisOrder, Answer, LanguageModel, ProviderError, ProviderFault, Said, TalkOrder, Talking,
};

use super::breaker::BreakerLimits;
use super::figures::Role;
use super::members::{Asked, Members, Tries};
use crate::http::Monotonic;

/// Language models in order of preference, as one.
pub struct LanguageModels {
    members: Arc<Members<dyn LanguageModel>>,
    name: String,
}

impl LanguageModels {
    /// A chain of these, the preferred first.
    pub fn new(providers: Vec<Arc<dyn LanguageModel>>, limits: BreakerLimits, clock: &Monotonic) -> Self {
        let named = providers.into_iter().map(|provider| (provider.name().to_owned(), provider)).collect();
        let members = Arc::new(Members::new(Role::Model, named, limits, clock));
        Self { name: members.names().join(","), members }
    }

    pub(super) fn members(&self) -> &Members<dyn LanguageModel> {
        &self.members
    }
}

impl LanguageModel for LanguageModels {
    fn name(&self) -> &str {
        &self.name
    }

    fn resident(&self) -> bool {
        self.members.iter().all(|provider| provider.resident())
    }

    fn talk(&self, order: TalkOrder) -> Answer<'_, Result<Box<dyn Talking>, ProviderError>> {
        Box::pin(async move {
            let mut talking = ChainTalking {
                tries: self.members.tries(|_| true),
                order,
                current: None,
                failure: None,
                said: false,
            };
            if !talking.open().await {
                return Err(talking
                    .failure
                    .unwrap_or_else(|| self.members.nobody("no language model is set up")));
            }
            Ok(Box::new(talking) as Box<dyn Talking>)
        })
    }

    fn analyse(&self, order: AnalysisOrder) -> Answer<'_, Result<Analysis, ProviderError>> {
        Box::pin(async move {
            let mut failure = self.members.nobody("no language model is set up");
            let mut tries = self.members.tries(|_| true);
            while let Some(asked) = tries.next() {
                match asked.member.provider.analyse(order.clone()).await {
                    Ok(analysis) => {
                        asked.succeeded();
                        return Ok(analysis);
                    }
                    Err(error) => {
                        asked.failed(&error);
                        failure = error;
                    }
                }
            }
            Err(failure)
        })
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(async move {
            let mut last = self.members.nobody("no language model is set up");
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

struct ChainTalking {
    tries: Tries<dyn LanguageModel>,
    order: TalkOrder,
    current: Option<(Box<dyn Talking>, Asked<dyn LanguageModel>)>,
    failure: Option<ProviderError>,
    /// Something was handed on: nobody else may begin again.
    said: bool,
}

impl ChainTalking {
    /// Begins with the next provider; false when nobody is left.
    async fn open(&mut self) -> bool {
        while let Some(asked) = self.tries.next() {
            match asked.member.provider.talk(self.order.clone()).await {
                Ok(talking) => {
                    self.current = Some((talking, asked));
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
}

impl Talking for ChainTalking {
    fn next(&mut self) -> Answer<'_, Option<Result<Said, ProviderError>>> {
        Box::pin(async move {
            loop {
                let (talking, asked) = self.current.as_mut()?;
                let error = match talking.next().await {
                    Some(Ok(said)) => {
                        asked.succeeded();
                        self.said = true;
                        return Some(Ok(said));
                    }
                    Some(Err(error)) => error,
                    None if self.said => {
                        self.current = None;
                        return None;
                    }
                    None => {
                        ProviderError::new(&asked.member.name, ProviderFault::Broken, "a turn without a word")
                    }
                };
                asked.failed(&error);
                self.current = None;
                if self.said {
                    return None;
                }
                if !self.open().await {
                    return Some(Err(self.failure.take().unwrap_or(error)));
                }
            }
        })
    }
}
