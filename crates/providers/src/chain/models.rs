//! Language models in order. One that fails or stalls before its first word is replaced. After a word, the
//! turn ends with what was said.

use domain::evaluation::Grades;
use domain::ports::{
    Analysis, AnalysisOrder, Answer, GradeOrder, LanguageModel, ProviderError, ProviderFault, Said,
    TalkOrder, Talking,
};

use super::members::{Asked, Chain, Tries};

/// Language models in order of preference, as one.
pub type LanguageModels = Chain<dyn LanguageModel>;

impl LanguageModel for LanguageModels {
    fn name(&self) -> &str {
        self.names()
    }

    fn resident(&self) -> bool {
        self.all_resident()
    }

    fn talk(&self, order: TalkOrder) -> Answer<'_, Result<Box<dyn Talking>, ProviderError>> {
        Box::pin(async move {
            let tries = self.tries(|_| true).of(order.workspace);
            let mut talking = ChainTalking { tries, order, current: None, said: false };
            if !talking.open().await {
                return Err(talking.tries.take_failure().unwrap_or_else(|| self.none()));
            }
            Ok(Box::new(talking) as Box<dyn Talking>)
        })
    }

    fn analyse(&self, order: AnalysisOrder) -> Answer<'_, Result<Analysis, ProviderError>> {
        Box::pin(async move {
            let mut tries = self.tries(|_| true).of(order.workspace);
            let Some((analysis, asked)) = tries.begin(|model| model.analyse(order.clone())).await else {
                return Err(tries.take_failure().unwrap_or_else(|| self.none()));
            };
            asked.succeeded();
            Ok(analysis)
        })
    }

    fn grade(&self, order: GradeOrder) -> Answer<'_, Result<Grades, ProviderError>> {
        Box::pin(async move {
            let mut tries = self.tries(|_| true).of(order.workspace);
            let Some((grades, asked)) = tries.begin(|model| model.grade(order.clone())).await else {
                return Err(tries.take_failure().unwrap_or_else(|| self.none()));
            };
            asked.succeeded();
            Ok(grades)
        })
    }

    fn check(&self) -> Answer<'_, Result<String, ProviderError>> {
        Box::pin(self.check_in_order())
    }
}

struct ChainTalking {
    tries: Tries<dyn LanguageModel>,
    order: TalkOrder,
    current: Option<(Box<dyn Talking>, Asked<dyn LanguageModel>)>,
    /// Output was passed on, so no other model may begin again.
    said: bool,
}

impl ChainTalking {
    /// Begins with the next provider; false when none is left.
    async fn open(&mut self) -> bool {
        self.current = self.tries.begin(|model| model.talk(self.order.clone())).await;
        self.current.is_some()
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
                        ProviderError::new(&asked.member.name, ProviderFault::Silent, "a turn without a word")
                    }
                };
                asked.failed(&error);
                self.current = None;
                if self.said {
                    return None;
                }
                if !self.open().await {
                    return Some(Err(self.tries.take_failure().unwrap_or(error)));
                }
            }
        })
    }
}
