//! Blind transfer: REFER and its NOTIFYs (RFC 3515).

use std::time::Duration;

use tokio::time::Instant;

/// How long news of a transfer is waited for.
const LIMIT: Duration = Duration::from_secs(60);

/// The transfer under way, if there is one.
#[derive(Debug, Default)]
pub(super) struct Transfer {
    news_by: Option<Instant>,
}

impl Transfer {
    /// The other side is asked; false while an earlier transfer is under way.
    pub fn begin(&mut self, now: Instant) -> bool {
        let free = self.news_by.is_none();
        self.news_by = self.news_by.or(Some(now + LIMIT));
        free
    }

    /// Whether a transfer is under way.
    pub fn under_way(&self) -> bool {
        self.news_by.is_some()
    }

    /// The transfer is over; false if there was none.
    pub fn end(&mut self) -> bool {
        self.news_by.take().is_some()
    }

    /// Whether no news has come for too long.
    pub fn given_up(&self, now: Instant) -> bool {
        self.news_by.is_some_and(|by| by <= now)
    }

    /// When to look again.
    pub fn due(&self) -> Option<Instant> {
        self.news_by
    }
}
