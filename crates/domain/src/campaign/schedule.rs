//! When a campaign dials: its dates and its daily window, in its own time zone
//! (docs/contract/campaigns.md#schedule). The hours of the agent's compliance pack apply besides, row by row.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use crate::time::{DAY, Timestamp};
use crate::window::DAY_MINUTES;

/// The time zone of a campaign that names none.
pub const DEFAULT_ZONE: &str = "Asia/Kolkata";

/// How many days ahead the search for an opening goes. A window opens every day, except on those that a change
/// of the clocks shortens.
const SEARCH_DAYS: i64 = 4;

/// What is wrong with a schedule; the name of the setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleError {
    /// No IANA time zone.
    Timezone,
    /// Not a time of the day, `HH:MM`.
    DailyFrom,
    /// The same.
    DailyTo,
    /// It does not end after it starts.
    EndAt,
}

/// Whether a campaign may dial at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Yes, until then at the latest; `None` without an end.
    Open {
        /// The end of the window of this day, or of the campaign.
        until: Option<Timestamp>,
    },
    /// Not before then; `None` when it never opens again.
    Closed {
        /// The next opening.
        opens: Option<Timestamp>,
    },
    /// Its end date has come.
    Over,
}

/// The schedule of a campaign.
#[derive(Debug, Clone)]
pub struct Schedule {
    zone: TimeZone,
    start_at: Option<Timestamp>,
    end_at: Option<Timestamp>,
    /// Minutes of the day, including the first and excluding the second. A window with the second before the
    /// first goes on past midnight.
    daily: Option<(u16, u16)>,
}

/// Minutes after midnight of `HH:MM`.
pub fn minute_of_day(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let two = |part: &str| {
        (part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit())).then(|| part.parse::<u16>().ok())?
    };
    let (hour, minute) = (two(hour)?, two(minute)?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

impl Schedule {
    /// The schedule of these settings.
    ///
    /// # Errors
    /// The first setting that cannot be read.
    pub fn new(
        timezone: Option<&str>,
        start_at: Option<Timestamp>,
        end_at: Option<Timestamp>,
        daily_from: Option<&str>,
        daily_to: Option<&str>,
    ) -> Result<Self, ScheduleError> {
        let zone =
            TimeZone::get(timezone.unwrap_or(DEFAULT_ZONE)).map_err(|_| ScheduleError::Timezone)?;
        let read = |text: Option<&str>, error| match text {
            Some(text) => minute_of_day(text).map(Some).ok_or(error),
            None => Ok(None),
        };
        let from = read(daily_from, ScheduleError::DailyFrom)?;
        let to = read(daily_to, ScheduleError::DailyTo)?;
        if let (Some(start), Some(end)) = (start_at, end_at)
            && end <= start
        {
            return Err(ScheduleError::EndAt);
        }
        let daily = match (from, to) {
            (None, None) => None,
            // From midnight to midnight is the whole day, and so is any window that ends where it began.
            (from, to) => Some((from.unwrap_or(0), to.unwrap_or(DAY_MINUTES)))
                .filter(|(from, to)| from % DAY_MINUTES != to % DAY_MINUTES),
        };
        Ok(Self { zone, start_at, end_at, daily })
    }

    /// Whether it may dial now.
    pub fn standing(&self, now: Timestamp) -> Standing {
        if self.end_at.is_some_and(|end| end <= now) {
            return Standing::Over;
        }
        let from = self.start_at.map_or(now, |start| start.max(now));
        let before_end = |at: &Timestamp| self.end_at.is_none_or(|end| *at < end);
        match self.window_at(from) {
            _ if from > now => Standing::Closed { opens: self.first_open(from).filter(before_end) },
            Some(close) => {
                let until = [close, self.end_at].into_iter().flatten().min();
                Standing::Open { until }
            }
            None => Standing::Closed { opens: self.first_open(from).filter(before_end) },
        }
    }

    /// When it has to be looked at next for the sake of its dates: the next opening, else its end.
    pub fn next_opening(&self, now: Timestamp) -> Option<Timestamp> {
        match self.standing(now) {
            Standing::Open { .. } => Some(now),
            Standing::Closed { opens } => opens.or(self.end_at),
            Standing::Over => None,
        }
    }

    /// The end date, if it has one.
    pub fn end_at(&self) -> Option<Timestamp> {
        self.end_at
    }

    /// The day of the campaign that a moment belongs to, counted from 1970-01-01.
    pub fn day(&self, now: Timestamp) -> i64 {
        days_of(self.date(now))
    }

    /// When the next day of the campaign begins.
    pub fn next_day(&self, now: Timestamp) -> Timestamp {
        let next = self.date(now).tomorrow().ok().and_then(|date| self.moment(date, 0));
        // Only at the end of all time is there no next day.
        next.filter(|at| *at > now).unwrap_or(now.plus(DAY))
    }

    /// Whether the daily window is open at a moment, and when it closes (`None`: it never does).
    fn window_at(&self, now: Timestamp) -> Option<Option<Timestamp>> {
        let Some((from, to)) = self.daily else { return Some(None) };
        let today = self.date(now);
        let yesterday = today.yesterday().ok().filter(|_| to < from);
        [yesterday, Some(today)].into_iter().flatten().find_map(|date| {
            let (open, close) = self.window_of(date, from, to)?;
            (open <= now && now < close).then_some(Some(close))
        })
    }

    /// The first moment at or after `from` at which the daily window is open.
    fn first_open(&self, from: Timestamp) -> Option<Timestamp> {
        if self.window_at(from).is_some() {
            return Some(from);
        }
        let (open, close) = self.daily?;
        let mut date = self.date(from);
        for _ in 0..SEARCH_DAYS {
            let window = self.window_of(date, open, close);
            if let Some((opening, _)) = window.filter(|(opening, _)| *opening >= from) {
                return Some(opening);
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    /// The window that opens on a day; `None` when a change of the clocks leaves nothing of it.
    fn window_of(&self, date: Date, from: u16, to: u16) -> Option<(Timestamp, Timestamp)> {
        let last = if to < from { date.tomorrow().ok()? } else { date };
        let (open, close) = (self.moment(date, from)?, self.moment(last, to)?);
        (open < close).then_some((open, close))
    }

    fn date(&self, at: Timestamp) -> Date {
        let moment = jiff::Timestamp::from_millisecond(at.0).unwrap_or(if at.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        });
        self.zone.to_datetime(moment).date()
    }

    /// The moment of a minute of a day; of one that a change of the clocks leaves out, the moment after it.
    fn moment(&self, date: Date, minute: u16) -> Option<Timestamp> {
        let (date, minute) =
            if minute >= DAY_MINUTES { (date.tomorrow().ok()?, minute - DAY_MINUTES) } else { (date, minute) };
        let time = Time::new((minute / 60) as i8, (minute % 60) as i8, 0, 0).ok()?;
        let moment = self.zone.to_ambiguous_timestamp(date.to_datetime(time)).compatible().ok()?;
        Some(Timestamp(moment.as_millisecond()))
    }
}

fn days_of(date: Date) -> i64 {
    let first = Date::constant(1970, 1, 1);
    date.since(first).map_or(0, |span| i64::from(span.get_days()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{HOUR, MINUTE};

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn daily(zone: &str, from: &str, to: &str) -> Schedule {
        Schedule::new(Some(zone), None, None, Some(from), Some(to)).unwrap()
    }

    #[test]
    fn without_settings_it_is_always_open() {
        let schedule = Schedule::new(None, None, None, None, None).unwrap();
        assert_eq!(schedule.standing(at("2026-11-23T22:00:00Z")), Standing::Open { until: None });
        let midnight = daily("UTC", "00:00", "00:00");
        assert_eq!(midnight.standing(at("2026-11-23T22:00:00Z")), Standing::Open { until: None });
    }

    #[test]
    fn the_daily_window_is_in_the_zone_of_the_campaign() {
        let schedule = daily("Asia/Kolkata", "10:00", "18:30");
        assert_eq!(
            schedule.standing(at("2026-11-23T09:59:59.999+05:30")),
            Standing::Closed { opens: Some(at("2026-11-23T10:00:00+05:30")) }
        );
        assert_eq!(
            schedule.standing(at("2026-11-23T10:00:00+05:30")),
            Standing::Open { until: Some(at("2026-11-23T18:30:00+05:30")) }
        );
        assert_eq!(
            schedule.standing(at("2026-11-23T18:30:00+05:30")),
            Standing::Closed { opens: Some(at("2026-11-24T10:00:00+05:30")) }
        );
        let dubai = daily("Asia/Dubai", "10:00", "18:30");
        assert_eq!(
            dubai.standing(at("2026-11-23T11:00:00+05:30")),
            Standing::Closed { opens: Some(at("2026-11-23T10:00:00+04:00")) }
        );
    }

    #[test]
    fn half_a_window_lasts_to_midnight_and_one_may_go_past_it() {
        let evening = Schedule::new(None, None, None, Some("17:00"), None).unwrap();
        assert_eq!(
            evening.standing(at("2026-11-23T23:59:00+05:30")),
            Standing::Open { until: Some(at("2026-11-24T00:00:00+05:30")) }
        );
        let morning = Schedule::new(None, None, None, None, Some("11:00")).unwrap();
        assert_eq!(
            morning.standing(at("2026-11-23T11:00:00+05:30")),
            Standing::Closed { opens: Some(at("2026-11-24T00:00:00+05:30")) }
        );
        let night = daily("Asia/Kolkata", "22:00", "02:00");
        for inside in ["2026-11-23T22:00:00+05:30", "2026-11-24T01:59:00+05:30"] {
            assert_eq!(
                night.standing(at(inside)),
                Standing::Open { until: Some(at("2026-11-24T02:00:00+05:30")) },
                "{inside}"
            );
        }
        assert_eq!(
            night.standing(at("2026-11-24T02:00:00+05:30")),
            Standing::Closed { opens: Some(at("2026-11-24T22:00:00+05:30")) }
        );
    }

    #[test]
    fn dates_bound_the_windows() {
        let (start, end) = (at("2026-11-24T12:00:00+05:30"), at("2026-11-25T12:00:00+05:30"));
        let schedule = Schedule::new(None, Some(start), Some(end), Some("10:00"), Some("18:00")).unwrap();
        let standing = |text: &str| schedule.standing(at(text));
        assert_eq!(standing("2026-11-23T11:00:00+05:30"), Standing::Closed { opens: Some(start) });
        assert_eq!(
            standing("2026-11-24T12:00:00+05:30"),
            Standing::Open { until: Some(at("2026-11-24T18:00:00+05:30")) }
        );
        assert_eq!(standing("2026-11-25T11:00:00+05:30"), Standing::Open { until: Some(end) });
        assert_eq!(standing("2026-11-25T12:00:00+05:30"), Standing::Over);
        assert_eq!(schedule.next_opening(at("2026-11-26T00:00:00Z")), None);
        // The last window has closed before the end: it is looked at once more, at its end.
        let short = Schedule::new(None, None, Some(at("2026-11-25T03:00:00+05:30")), Some("10:00"), Some("18:00"))
            .unwrap();
        let evening = at("2026-11-24T19:00:00+05:30");
        assert_eq!(short.standing(evening), Standing::Closed { opens: None });
        assert_eq!(short.next_opening(evening), Some(at("2026-11-25T03:00:00+05:30")));
    }

    #[test]
    fn changes_of_the_clocks() {
        // On 2026-03-29 Berlin has no 02:00 to 03:00, on 2026-10-25 it has it twice.
        let berlin = daily("Europe/Berlin", "02:30", "04:00");
        assert_eq!(
            berlin.standing(at("2026-03-29T00:59:00Z")),
            Standing::Closed { opens: Some(at("2026-03-29T01:30:00Z")) }
        );
        assert_eq!(
            berlin.standing(at("2026-10-25T00:30:00Z")),
            Standing::Open { until: Some(at("2026-10-25T03:00:00Z")) }
        );
        let gone = daily("Europe/Berlin", "02:10", "02:50");
        assert!(matches!(gone.standing(at("2026-03-29T00:00:00Z")), Standing::Closed { opens: Some(_) }));
    }

    #[test]
    fn days_begin_at_midnight_of_the_zone() {
        let schedule = Schedule::new(Some("America/New_York"), None, None, None, None).unwrap();
        let evening = at("2026-11-23T23:30:00-05:00");
        assert_eq!(schedule.next_day(evening), at("2026-11-24T00:00:00-05:00"));
        assert_eq!(schedule.day(evening) + 1, schedule.day(schedule.next_day(evening)));
        let india = Schedule::new(None, None, None, None, None).unwrap();
        assert_eq!(india.day(evening), schedule.day(evening) + 1);
    }

    #[test]
    fn wrong_settings_are_named() {
        let wrong = |zone, from, to| Schedule::new(zone, None, None, from, to).unwrap_err();
        assert_eq!(wrong(Some("Mars/Olympus"), None, None), ScheduleError::Timezone);
        assert_eq!(wrong(None, Some("9:00"), None), ScheduleError::DailyFrom);
        assert_eq!(wrong(None, Some("09:00"), Some("24:00")), ScheduleError::DailyTo);
        let same = Some(Timestamp(5));
        assert_eq!(Schedule::new(None, same, same, None, None).unwrap_err(), ScheduleError::EndAt);
        assert_eq!((minute_of_day("23:59"), minute_of_day("+1:00")), (Some(23 * 60 + 59), None));
    }

    proptest::proptest! {
        #[test]
        fn an_opening_is_open_and_nothing_before_it_is(
            now in 0i64..4_000_000_000_000,
            from in 0u16..1440,
            to in 0u16..1440,
            zone in proptest::sample::select(vec!["Asia/Kolkata", "Europe/Berlin", "America/New_York", "UTC", "Pacific/Apia"]),
            probe in 0.0f64..1.0,
        ) {
            let text = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
            let schedule = daily(zone, &text(from), &text(to));
            let now = Timestamp(now);
            match schedule.standing(now) {
                Standing::Open { until } => {
                    if let Some(until) = until {
                        proptest::prop_assert!(until > now && until.0 - now.0 <= 25 * HOUR);
                        proptest::prop_assert!(matches!(schedule.standing(until.plus(-1)), Standing::Open { .. }));
                        proptest::prop_assert!(matches!(schedule.standing(until), Standing::Closed { .. }));
                    }
                }
                Standing::Closed { opens } => {
                    let opens = opens.unwrap();
                    proptest::prop_assert!(opens > now && opens.0 - now.0 <= 3 * DAY);
                    let is_open = matches!(schedule.standing(opens), Standing::Open { .. });
                    proptest::prop_assert!(is_open);
                    let between = now.plus(((opens.0 - now.0) as f64 * probe) as i64);
                    proptest::prop_assert!(between >= opens || matches!(schedule.standing(between), Standing::Closed { .. }));
                }
                Standing::Over => proptest::prop_assert!(false),
            }
            proptest::prop_assert!(schedule.next_day(now) > now && schedule.next_day(now).0 - now.0 <= 2 * DAY + MINUTE);
        }

        #[test]
        fn any_moment_is_answered(now in proptest::num::i64::ANY) {
            let schedule = daily("Asia/Kolkata", "22:00", "02:00");
            let _ = (schedule.standing(Timestamp(now)), schedule.day(Timestamp(now)), schedule.next_day(Timestamp(now)));
        }
    }
}
