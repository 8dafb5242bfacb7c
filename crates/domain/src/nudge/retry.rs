//! When an unanswered dial is repeated (docs/contract/nudges.md#retries).

use std::fmt;

use super::codes::ResultCode;
use crate::time::{MINUTE, Timestamp};

/// The results after which a dial is repeated; at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RetryOn {
    pub no_answer: bool,
    /// The line was busy.
    pub busy: bool,
}

/// A valid retry policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Retry {
    max_retries: u8,
    on: RetryOn,
    delay_minutes: u16,
}

/// A part of the policy is out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryError {
    /// `maxRetries` is not 0 to 2.
    MaxRetries,
    /// `on` is empty or holds a word other than `no_answer` and `busy`.
    On,
    /// `delayMinutes` is not 10 to 240.
    DelayMinutes,
}

impl RetryError {
    /// Path of the field.
    pub fn field(self) -> &'static str {
        match self {
            RetryError::MaxRetries => "retry.maxRetries",
            RetryError::On => "retry.on",
            RetryError::DelayMinutes => "retry.delayMinutes",
        }
    }
}

impl fmt::Display for RetryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self {
            RetryError::MaxRetries => "must be a whole number from 0 to 2",
            RetryError::On => "must be a list of at least one of no_answer and busy",
            RetryError::DelayMinutes => "must be a whole number from 10 to 240",
        };
        write!(f, "{} {problem}", self.field())
    }
}

impl std::error::Error for RetryError {}

impl RetryOn {
    /// Reads the words of `on`. A duplicate is not an error.
    ///
    /// # Errors
    /// [`RetryError::On`] for an empty list or an unknown word.
    pub fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, RetryError> {
        let mut on = RetryOn { no_answer: false, busy: false };
        for word in words {
            match word {
                "no_answer" => on.no_answer = true,
                "busy" => on.busy = true,
                _ => return Err(RetryError::On),
            }
        }
        if on.no_answer || on.busy { Ok(on) } else { Err(RetryError::On) }
    }

    /// The words, `no_answer` first.
    pub fn words(self) -> Vec<&'static str> {
        [(self.no_answer, "no_answer"), (self.busy, "busy")]
            .into_iter()
            .filter(|(on, _)| *on)
            .map(|(_, word)| word)
            .collect()
    }
}

impl Default for RetryOn {
    fn default() -> Self {
        Self { no_answer: true, busy: true }
    }
}

impl Retry {
    /// A policy with each part within its bounds.
    ///
    /// # Errors
    /// The first part that is out of bounds.
    pub fn new(max_retries: i64, on: RetryOn, delay_minutes: i64) -> Result<Self, RetryError> {
        let max_retries =
            u8::try_from(max_retries).ok().filter(|retries| *retries <= 2).ok_or(RetryError::MaxRetries)?;
        if !on.no_answer && !on.busy {
            return Err(RetryError::On);
        }
        let delay_minutes = u16::try_from(delay_minutes)
            .ok()
            .filter(|minutes| (10..=240).contains(minutes))
            .ok_or(RetryError::DelayMinutes)?;
        Ok(Self { max_retries, on, delay_minutes })
    }

    /// Dials after the first, 0 to 2.
    pub fn max_retries(self) -> u8 {
        self.max_retries
    }

    /// Which results are repeated.
    pub fn on(self) -> RetryOn {
        self.on
    }

    /// Minutes between a dial's end and the next dial, 10 to 240.
    pub fn delay_minutes(self) -> u16 {
        self.delay_minutes
    }

    /// When to dial again after this result of a dial, with `attempts` dials made so far; `None` when there
    /// is no further dial. Among the `failed` results only an agent that failed to start is passed here, and
    /// it is repeated whatever `on` says.
    pub(super) fn next(
        self,
        result: ResultCode,
        attempts: u8,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Option<Timestamp> {
        let wanted = match result {
            ResultCode::NoAnswer => self.on.no_answer,
            ResultCode::Busy => self.on.busy,
            ResultCode::Failed => true,
            ResultCode::Connected
            | ResultCode::Voicemail
            | ResultCode::OptedOut
            | ResultCode::Blocked
            | ResultCode::Expired
            | ResultCode::Cancelled => false,
        };
        let at = now.plus(i64::from(self.delay_minutes) * MINUTE);
        (wanted && attempts <= self.max_retries && at <= expires_at).then_some(at)
    }
}

impl Default for Retry {
    /// No retries; both results; 30 minutes.
    fn default() -> Self {
        Self { max_retries: 0, on: RetryOn::default(), delay_minutes: 30 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds() {
        let both = RetryOn::default();
        assert_eq!(Retry::new(0, both, 30), Ok(Retry::default()));
        assert!(Retry::new(2, both, 10).is_ok() && Retry::new(2, both, 240).is_ok());
        for (max, delay, error) in [
            (-1, 30, RetryError::MaxRetries),
            (3, 30, RetryError::MaxRetries),
            (1, 9, RetryError::DelayMinutes),
            (1, 241, RetryError::DelayMinutes),
            (1, i64::MAX, RetryError::DelayMinutes),
        ] {
            assert_eq!(Retry::new(max, both, delay), Err(error));
        }
        assert_eq!(Retry::new(1, RetryOn { no_answer: false, busy: false }, 30), Err(RetryError::On));
        assert_eq!(
            RetryError::DelayMinutes.to_string(),
            "retry.delayMinutes must be a whole number from 10 to 240"
        );
    }

    #[test]
    fn words_of_on() {
        assert_eq!(
            RetryOn::parse(["busy", "no_answer", "busy"]).map(RetryOn::words),
            Ok(vec!["no_answer", "busy"])
        );
        assert_eq!(RetryOn::parse(["busy"]).map(RetryOn::words), Ok(vec!["busy"]));
        assert_eq!(RetryOn::parse([]), Err(RetryError::On));
        assert_eq!(RetryOn::parse(["failed"]), Err(RetryError::On));
    }
}
