//! Days and times in India, without a clock: what it is now comes in as an argument.

use std::fmt;

/// India's time is this much ahead of UTC, in minutes; it has no summer time.
const INDIA: i64 = 330;
const MINUTES_A_DAY: i64 = 24 * 60;

/// A day of the Gregorian calendar, as days since 1 January 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(i64);

impl Date {
    /// The day; `None` if the calendar lacks it or it is not within 1900 to 2100.
    pub fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let in_range = (1900..=2100).contains(&year) && (1..=12).contains(&month);
        (in_range && (1..=length(year, month)).contains(&day)).then(|| Self(days(year, month, day)))
    }

    /// Year, month and day.
    pub fn parts(self) -> (i64, i64, i64) {
        let shifted = self.0 + 719_468;
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        (year + era * 400 + i64::from(month <= 2), month, day)
    }

    /// 0 for Monday to 6 for Sunday.
    pub fn weekday(self) -> i64 {
        (self.0 + 3).rem_euclid(7)
    }

    /// So many days later; `None` beyond the years of [`Date::new`].
    pub fn plus(self, days: i64) -> Option<Self> {
        let later = Self(self.0.checked_add(days).filter(|days| days.abs() < 200_000)?);
        (1900..=2100).contains(&later.parts().0).then_some(later)
    }

    /// The same day so many months later; `None` if that month lacks it.
    pub fn plus_months(self, months: i64) -> Option<Self> {
        let (year, month, day) = self.parts();
        let all = (year * 12 + month - 1).checked_add(months).filter(|all| all.abs() < 100_000)?;
        Self::new(all.div_euclid(12), all.rem_euclid(12) + 1, day)
    }

    /// Days from `other` to this day.
    pub fn since(self, other: Self) -> i64 {
        self.0 - other.0
    }
}

/// `YYYY-MM-DD`.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.parts();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

fn length(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// A time of day, as minutes since midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time(i64);

impl Time {
    /// The time; `None` if no clock shows it.
    pub fn new(hour: i64, minute: i64) -> Option<Self> {
        ((0..24).contains(&hour) && (0..60).contains(&minute)).then(|| Self(hour * 60 + minute))
    }

    /// Hour and minute.
    pub fn parts(self) -> (i64, i64) {
        (self.0 / 60, self.0 % 60)
    }

    /// So many minutes later, past midnight if need be.
    pub fn plus(self, minutes: i64) -> Self {
        Self((self.0 + minutes % MINUTES_A_DAY).rem_euclid(MINUTES_A_DAY))
    }
}

/// `HH:MM`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute) = self.parts();
        write!(f, "{hour:02}:{minute:02}")
    }
}

/// A moment, as a clock in India shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub(crate) today: Date,
    pub(crate) time: Time,
}

impl Moment {
    /// The moment that is `unix_millis` milliseconds after 1 January 1970, UTC; `None` beyond the years 1900 to 2100.
    pub fn in_india(unix_millis: i64) -> Option<Self> {
        let minutes = unix_millis.div_euclid(60_000) + INDIA;
        let today = Date(minutes.div_euclid(MINUTES_A_DAY)).plus(0)?;
        Some(Self { today, time: Time(minutes.rem_euclid(MINUTES_A_DAY)) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_moment_is_read_in_india() {
        for (millis, date, time, weekday) in [
            (0, "1970-01-01", "05:30", 3),
            (1_795_804_199_999, "2026-11-27", "23:59", 4),
            (1_795_804_200_000, "2026-11-28", "00:00", 5),
            (951_782_400_000, "2000-02-29", "05:30", 1),
            (-1, "1970-01-01", "05:29", 3),
        ] {
            let moment = Moment::in_india(millis).unwrap();
            assert_eq!((moment.today.to_string(), moment.time.to_string()), (date.into(), time.into()));
            assert_eq!(moment.today.weekday(), weekday, "{date}");
        }
        assert_eq!(Moment::in_india(i64::MAX), None);
        assert_eq!(Moment::in_india(i64::MIN), None);
    }

    #[test]
    fn the_calendar_lacks_some_days() {
        for (year, month, day) in
            [(2026, 2, 29), (2026, 4, 31), (2026, 13, 1), (2026, 0, 1), (1899, 1, 1), (2100, 2, 29)]
        {
            assert_eq!(Date::new(year, month, day), None);
        }
        let last = Date::new(2026, 1, 31).unwrap();
        assert_eq!(last.plus_months(1), None);
        assert_eq!(last.plus_months(2).map(|date| date.to_string()).as_deref(), Some("2026-03-31"));
        assert_eq!(last.plus_months(-1).map(|date| date.to_string()).as_deref(), Some("2025-12-31"));
        assert_eq!(last.plus(i64::MAX), None);
    }

    proptest! {
        #[test]
        fn a_day_is_its_parts(days in -25_000_i64..45_000) {
            let date = Date(days);
            let (year, month, day) = date.parts();
            prop_assert_eq!(Date::new(year, month, day), Some(date));
        }
    }
}
