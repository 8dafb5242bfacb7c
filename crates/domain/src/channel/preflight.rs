//! Estimates of the duration of a campaign on the messaging channel, and of the provider's charges
//! (docs/contract/campaigns.md#preflight-on-the-messaging-channel).

use super::Category;
use super::limits::TIER_TIME;
use crate::campaign::{Schedule, Window};
use crate::time::{MINUTE, Timestamp};

/// Steps of the search for the end: windows and days.
const STEPS: usize = 2_000;

/// When the messages of a campaign are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// The first one; none when its window never opens.
    pub starts_at: Option<Timestamp>,
    /// The last one; `None` when it is not reached before its end.
    pub finishes_at: Option<Timestamp>,
    /// Spans of 24 hours that the messaging limit needs.
    pub days: i64,
    /// Minutes of sending at its rate.
    pub minutes: i64,
}

/// When this many people are messaged: at a rate a minute, within the schedule, and at most `limit` people in 24 hours,
/// of whom `room` are left now.
pub fn forecast(
    schedule: &Schedule,
    people: i64,
    rate: i64,
    limit: Option<i64>,
    room: Option<i64>,
    now: Timestamp,
) -> Forecast {
    let rate = rate.max(1);
    let days = match limit {
        Some(limit) => {
            let later = (people - room.unwrap_or(limit)).max(0);
            1 + (later + limit.max(1) - 1) / limit.max(1)
        }
        None => 1,
    };
    let mut forecast = Forecast {
        starts_at: None,
        finishes_at: None,
        days: if people > 0 { days } else { 0 },
        minutes: (people + rate - 1) / rate,
    };
    let (mut left, mut at, mut block, mut allowed) = (people, now, now, room.or(limit));
    for _ in 0..STEPS {
        match schedule.window(at) {
            Window::Over | Window::Closed { opens: None } => return forecast,
            Window::Closed { opens: Some(opens) } => at = opens,
            Window::Open { until } => {
                forecast.starts_at.get_or_insert(at);
                while at.0 - block.0 >= TIER_TIME {
                    block = block.plus(TIER_TIME);
                    allowed = limit;
                }
                let by_time = until.map_or(i64::MAX, |until| (until.0 - at.0).saturating_mul(rate) / MINUTE);
                let count = left.min(by_time).min(allowed.unwrap_or(i64::MAX));
                left -= count;
                allowed = allowed.map(|allowed| allowed - count);
                let took = count.saturating_mul(MINUTE) / rate;
                if left <= 0 {
                    forecast.finishes_at = Some(at.plus(took));
                    return forecast;
                }
                at = match (allowed, until) {
                    (Some(0), _) => block.plus(TIER_TIME).max(at.plus(took)),
                    (_, Some(until)) => until,
                    (_, None) => return forecast,
                };
            }
        }
    }
    forecast
}

/// The expected price of a message, from the installation's settings: nobody has verified it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    /// The currency, a code of three letters.
    pub currency: String,
    /// Of a marketing template, in ten-thousandths of the currency.
    pub marketing: i64,
    /// Of a utility template.
    pub utility: i64,
    /// Of an authentication template.
    pub authentication: i64,
}

impl Prices {
    /// Parses a price: digits, at most four of them after the point.
    pub fn read(text: &str) -> Option<i64> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || whole.len() > 6 || part.len() > 4 || !digits(whole) || !digits(part) {
            return None;
        }
        Some(whole.parse::<i64>().ok()? * 10_000 + format!("{part:0<4}").parse::<i64>().ok()?)
    }

    /// Of one message with a template of this category.
    pub fn of(&self, category: Category) -> i64 {
        match category {
            Category::Marketing => self.marketing,
            Category::Utility => self.utility,
            Category::Authentication => self.authentication,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::{DayTime, Settings};
    use crate::time::{DAY, HOUR};

    fn nine_to_nine() -> Schedule {
        let settings = Settings {
            daily_from: DayTime::parse("09:00"),
            daily_to: DayTime::parse("21:00"),
            ..Settings::default()
        };
        Schedule::of(&settings).unwrap()
    }

    #[test]
    fn prices_have_four_digits_behind_the_point() {
        for (text, price) in [
            ("0.8631", Some(8_631)),
            ("0.115", Some(1_150)),
            ("2", Some(20_000)),
            ("0", Some(0)),
            ("12.", Some(120_000)),
        ] {
            assert_eq!(Prices::read(text), price, "{text}");
        }
        for wrong in ["", ".5", "-1", "1.23456", "1,5", "1234567", "1.2.3", " 1"] {
            assert_eq!(Prices::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_small_campaign_is_done_in_minutes() {
        // 2026-01-01 10:00 in India.
        let now = Timestamp(1_767_242_400_000 - 30 * MINUTE);
        let forecast = forecast(&nine_to_nine(), 600, 60, Some(1_000), Some(1_000), now);
        assert_eq!(forecast.starts_at, Some(now));
        assert_eq!(forecast.finishes_at, Some(now.plus(10 * MINUTE)));
        assert_eq!((forecast.days, forecast.minutes), (1, 10));
    }

    #[test]
    fn the_limit_of_the_account_spreads_it_over_days() {
        let now = Timestamp(1_767_242_400_000 - 30 * MINUTE);
        let long = forecast(&nine_to_nine(), 2_500, 600, Some(1_000), Some(500), now);
        assert_eq!(long.days, 3);
        assert_eq!(long.finishes_at, Some(now.plus(2 * DAY + 100_000)));
        let any = forecast(&nine_to_nine(), 600 * 60 * 13, 600, None, None, now);
        assert!(any.finishes_at.unwrap() > now.plus(DAY - 2 * HOUR));
        assert_eq!(forecast(&nine_to_nine(), 0, 60, None, None, now).days, 0);
    }
}
