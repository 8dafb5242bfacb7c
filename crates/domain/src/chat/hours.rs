//! Business hours of agents (docs/contract/chats.md#business-hours).

use jiff::tz::TimeZone;

use crate::campaign::DayTime;
use crate::time::Timestamp;

/// Most spans of an agent's hours.
pub const MAX_SPANS: usize = 50;

/// Hours of some days of the week.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSpan {
    /// Days of the week; Monday is 0.
    pub days: Vec<u8>,
    /// First minute inside.
    pub from: DayTime,
    /// First minute after; before `from`, it is on the next day.
    pub to: DayTime,
}

/// When new chats are accepted: the spans of the week, in a time zone.
#[derive(Debug, Clone)]
pub struct BusinessHours {
    zone: TimeZone,
    spans: Vec<OpenSpan>,
}

/// What is wrong with business hours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrongHours {
    /// There is no such time zone.
    Timezone,
    /// The time is not `HH:MM`; which span, and which of its fields.
    Time(usize, &'static str),
    /// The span is empty.
    Empty(usize),
}

impl BusinessHours {
    /// Hours from what is sent and stored: days, and times as `HH:MM`.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read<'a>(
        timezone: &str,
        spans: impl IntoIterator<Item = (Vec<u8>, &'a str, &'a str)>,
    ) -> Result<Self, WrongHours> {
        let zone = TimeZone::get(timezone).map_err(|_| WrongHours::Timezone)?;
        let mut read = Vec::new();
        for (at, (days, from, to)) in spans.into_iter().enumerate() {
            let time = |text: &str, name| DayTime::parse(text).ok_or(WrongHours::Time(at, name));
            let span = OpenSpan { days, from: time(from, "from")?, to: time(to, "to")? };
            if span.from == span.to || span.from == DayTime::END {
                return Err(WrongHours::Empty(at));
            }
            read.push(span);
        }
        Ok(Self { zone, spans: read })
    }

    /// Whether a chat may be opened at this time.
    pub fn is_open(&self, now: Timestamp) -> bool {
        let Ok(moment) = jiff::Timestamp::from_millisecond(now.0) else { return false };
        let local = moment.to_zoned_datetime(self.zone.clone());
        let minute = local.hour() as u16 * 60 + local.minute() as u16;
        let day = local.weekday().to_monday_zero_offset() as u8;
        self.spans.iter().any(|span| span.holds(day, minute))
    }
}

impl OpenSpan {
    fn holds(&self, day: u8, minute: u16) -> bool {
        let (from, to) = (self.from.minute(), self.to.minute());
        if from < to {
            return self.days.contains(&day) && (from..to).contains(&minute);
        }
        // Through midnight: the evening belongs to its own day, the morning to the day before.
        let before = (day + 6) % 7;
        (self.days.contains(&day) && minute >= from) || (self.days.contains(&before) && minute < to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn open_and_closed() {
        // 2026-01-05 is a Monday.
        let hours = BusinessHours::read("Asia/Kolkata", [(vec![0, 1], "09:00", "18:00")]).unwrap();
        for (moment, open) in [
            ("2026-01-05T03:29:59.999Z", false),
            ("2026-01-05T03:30:00.000Z", true),
            ("2026-01-05T12:29:59.999Z", true),
            ("2026-01-05T12:30:00.000Z", false),
            ("2026-01-06T06:00:00.000Z", true),
            ("2026-01-07T06:00:00.000Z", false),
        ] {
            assert_eq!(hours.is_open(at(moment)), open, "{moment}");
        }
    }

    #[test]
    fn a_span_may_go_through_midnight() {
        let hours = BusinessHours::read("Asia/Kolkata", [(vec![4], "20:00", "02:00")]).unwrap();
        // Friday evening and Saturday morning, India time.
        for (moment, open) in [
            ("2026-01-09T14:29:00.000Z", false),
            ("2026-01-09T14:30:00.000Z", true),
            ("2026-01-09T20:29:00.000Z", true),
            ("2026-01-09T20:30:00.000Z", false),
            ("2026-01-10T15:00:00.000Z", false),
        ] {
            assert_eq!(hours.is_open(at(moment)), open, "{moment}");
        }
    }

    #[test]
    fn the_zone_has_its_summer_time() {
        let hours = BusinessHours::read("Europe/London", [(vec![0, 1, 2, 3, 4], "09:00", "17:00")]).unwrap();
        assert!(!hours.is_open(at("2026-01-05T08:30:00.000Z")));
        assert!(hours.is_open(at("2026-07-06T08:30:00.000Z")));
    }

    #[test]
    fn no_span_is_never_open() {
        assert!(!BusinessHours::read("Asia/Kolkata", []).unwrap().is_open(Timestamp(0)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let read = |zone, from, to| BusinessHours::read(zone, [(vec![0], from, to)]).unwrap_err();
        assert_eq!(read("Asia/Nowhere", "09:00", "10:00"), WrongHours::Timezone);
        assert_eq!(read("Asia/Kolkata", "9", "10:00"), WrongHours::Time(0, "from"));
        assert_eq!(read("Asia/Kolkata", "09:00", "25:00"), WrongHours::Time(0, "to"));
        assert_eq!(read("Asia/Kolkata", "09:00", "09:00"), WrongHours::Empty(0));
    }
}
