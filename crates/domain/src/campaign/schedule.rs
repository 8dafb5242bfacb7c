//! When a campaign dials: its dates and its daily window, in its own time zone
//! (docs/contract/campaigns.md#schedule). The hours of the agent's compliance pack apply besides, row by row.

use jiff::civil::{Date, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};

use super::settings::Settings;
use crate::time::{DAY, Timestamp};
use crate::window::DAY_MINUTES;

/// How many days ahead the search for an opening goes. A window opens every day, except on those that a change
/// of the clocks shortens.
const SEARCH_DAYS: i64 = 4;

/// Whether a campaign may dial at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    Open {
        /// Until then at the latest: the end of the window of this day, or of the campaign.
        until: Option<Timestamp>,
    },
    Closed {
        /// When it opens next; `None` when it never does again.
        opens: Option<Timestamp>,
    },
    /// Its end date has come.
    Over,
}

/// When a campaign dials.
#[derive(Debug, Clone)]
pub struct Schedule {
    zone: TimeZone,
    start_at: Option<Timestamp>,
    end_at: Option<Timestamp>,
    /// Minutes of the day, including the first and excluding the second; the second is of the next day when it is not after
    /// the first.
    daily: Option<(u16, u16)>,
}

impl Schedule {
    /// The schedule of these settings; `None` when their time zone is not known.
    pub fn of(settings: &Settings) -> Option<Self> {
        Some(Self {
            zone: TimeZone::get(settings.zone()).ok()?,
            start_at: settings.start_at,
            end_at: settings.end_at,
            daily: settings.daily().map(|(from, to)| (from.minute(), to.minute())),
        })
    }

    /// Whether it may dial now.
    pub fn window(&self, now: Timestamp) -> Window {
        if self.end_at.is_some_and(|end| end <= now) {
            return Window::Over;
        }
        let from = self.start_at.map_or(now, |start| start.max(now));
        let before_end = |at: &Timestamp| self.end_at.is_none_or(|end| *at < end);
        match self.window_at(from) {
            _ if from > now => Window::Closed { opens: self.first_open(from).filter(before_end) },
            Some(close) => {
                let until = [close, self.end_at].into_iter().flatten().min();
                Window::Open { until }
            }
            None => Window::Closed { opens: self.first_open(from).filter(before_end) },
        }
    }

    /// The next check because of its dates: the next opening, else its end.
    pub fn next_look(&self, now: Timestamp) -> Option<Timestamp> {
        match self.window(now) {
            Window::Open { .. } => Some(now),
            Window::Closed { opens } => opens.or(self.end_at),
            Window::Over => None,
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
        // A window that goes on through midnight may be that of the day before.
        [today.yesterday().ok().filter(|_| to <= from), Some(today)]
            .into_iter()
            .flatten()
            .filter_map(|date| self.window_of(date, from, to))
            .find(|(open, close)| *open <= now && now < *close)
            .map(|(_, close)| Some(close))
    }

    /// The first time at or after `from` at which the daily window is open.
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
        let last = if to <= from { date.tomorrow().ok()? } else { date };
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

    /// The moment of a minute of a day; of one that a change of the clocks leaves out, the next moment that exists.
    fn moment(&self, date: Date, minute: u16) -> Option<Timestamp> {
        let (date, minute) = if minute >= DAY_MINUTES {
            (date.tomorrow().ok()?, minute - DAY_MINUTES)
        } else {
            (date, minute)
        };
        let time = Time::new((minute / 60) as i8, (minute % 60) as i8, 0, 0).ok()?;
        let ambiguous = self.zone.to_ambiguous_timestamp(date.to_datetime(time));
        let left_out = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
        let moment = if left_out {
            // With the offset after the change it is before the change.
            self.zone.following(ambiguous.earlier().ok()?).next()?.timestamp()
        } else {
            ambiguous.compatible().ok()?
        };
        Some(Timestamp(moment.as_millisecond()))
    }
}

fn days_of(date: Date) -> i64 {
    let first = Date::constant(1970, 1, 1);
    date.since(first).map_or(0, |span| i64::from(span.get_days()))
}

#[cfg(test)]
mod tests {
    use super::super::settings::DayTime;
    use super::*;
    use crate::time::HOUR;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn settings(zone: &str, from: Option<&str>, to: Option<&str>) -> Settings {
        let read = |text: Option<&str>| text.map(|text| DayTime::parse(text).unwrap());
        Settings {
            timezone: Some(zone.into()),
            daily_from: read(from),
            daily_to: read(to),
            ..Settings::default()
        }
    }

    fn daily(zone: &str, from: &str, to: &str) -> Schedule {
        Schedule::of(&settings(zone, Some(from), Some(to))).unwrap()
    }

    #[test]
    fn without_settings_it_is_always_open() {
        let schedule = Schedule::of(&Settings::default()).unwrap();
        assert_eq!(schedule.window(at("2026-11-23T22:00:00Z")), Window::Open { until: None });
        assert!(Schedule::of(&settings("Mars/Olympus", None, None)).is_none());
    }

    #[test]
    fn the_daily_window_is_in_the_zone_of_the_campaign() {
        let schedule = daily("Asia/Kolkata", "10:00", "18:30");
        let opening = |schedule: &Schedule, now: &str, opens: &str| {
            assert_eq!(schedule.window(at(now)), Window::Closed { opens: Some(at(opens)) }, "{now}");
        };
        opening(&schedule, "2026-11-23T09:59:59.999+05:30", "2026-11-23T10:00:00+05:30");
        opening(&schedule, "2026-11-23T18:30:00+05:30", "2026-11-24T10:00:00+05:30");
        assert_eq!(
            schedule.window(at("2026-11-23T10:00:00+05:30")),
            Window::Open { until: Some(at("2026-11-23T18:30:00+05:30")) }
        );
        let dubai = daily("Asia/Dubai", "10:00", "18:30");
        opening(&dubai, "2026-11-23T11:00:00+05:30", "2026-11-23T10:00:00+04:00");
    }

    #[test]
    fn half_a_window_begins_or_ends_with_the_day() {
        let evening = Schedule::of(&settings("Asia/Kolkata", Some("17:00"), None)).unwrap();
        assert_eq!(
            evening.window(at("2026-11-23T23:59:00+05:30")),
            Window::Open { until: Some(at("2026-11-24T00:00:00+05:30")) }
        );
        let morning = Schedule::of(&settings("Asia/Kolkata", None, Some("11:00"))).unwrap();
        assert_eq!(
            morning.window(at("2026-11-23T11:00:00+05:30")),
            Window::Closed { opens: Some(at("2026-11-24T00:00:00+05:30")) }
        );
    }

    #[test]
    fn dates_bound_the_windows() {
        let (start, end) = (at("2026-11-24T12:00:00+05:30"), at("2026-11-25T12:00:00+05:30"));
        let of = |start_at, end_at| {
            let daily = settings("Asia/Kolkata", Some("10:00"), Some("18:00"));
            Schedule::of(&Settings { start_at, end_at, ..daily }).unwrap()
        };
        let schedule = of(Some(start), Some(end));
        let window = |text: &str| schedule.window(at(text));
        assert_eq!(window("2026-11-23T11:00:00+05:30"), Window::Closed { opens: Some(start) });
        assert_eq!(
            window("2026-11-24T12:00:00+05:30"),
            Window::Open { until: Some(at("2026-11-24T18:00:00+05:30")) }
        );
        assert_eq!(window("2026-11-25T11:00:00+05:30"), Window::Open { until: Some(end) });
        assert_eq!(window("2026-11-25T12:00:00+05:30"), Window::Over);
        assert_eq!(schedule.next_look(at("2026-11-26T00:00:00Z")), None);
        // The last window has closed before the end: it is looked at once more, at its end.
        let short = of(None, Some(at("2026-11-25T03:00:00+05:30")));
        let evening = at("2026-11-24T19:00:00+05:30");
        assert_eq!(short.window(evening), Window::Closed { opens: None });
        assert_eq!(short.next_look(evening), Some(at("2026-11-25T03:00:00+05:30")));
    }

    #[test]
    fn changes_of_the_clocks() {
        // On 2026-03-29 Berlin has no 02:00 to 03:00, on 2026-10-25 it has it twice.
        let berlin = daily("Europe/Berlin", "02:30", "04:00");
        assert_eq!(
            berlin.window(at("2026-03-29T00:59:00Z")),
            Window::Closed { opens: Some(at("2026-03-29T01:00:00Z")) },
            "at 03:00, the next moment that exists"
        );
        assert_eq!(
            berlin.window(at("2026-03-29T01:00:00Z")),
            Window::Open { until: Some(at("2026-03-29T02:00:00Z")) }
        );
        // It ends with the last moment that exists.
        let night = daily("Europe/Berlin", "01:00", "02:30");
        assert_eq!(
            night.window(at("2026-03-29T00:59:00Z")),
            Window::Open { until: Some(at("2026-03-29T01:00:00Z")) }
        );
        // Nothing is left of it on that day.
        let lost = daily("Europe/Berlin", "02:15", "02:45");
        assert_eq!(
            lost.window(at("2026-03-29T00:59:00Z")),
            Window::Closed { opens: Some(at("2026-03-30T00:15:00Z")) }
        );
        assert_eq!(
            berlin.window(at("2026-10-25T00:30:00Z")),
            Window::Open { until: Some(at("2026-10-25T03:00:00Z")) }
        );
    }

    #[test]
    fn a_window_goes_on_through_midnight() {
        let night = daily("Asia/Kolkata", "22:00", "06:00");
        let until = Window::Open { until: Some(at("2026-11-24T06:00:00+05:30")) };
        for inside in ["2026-11-23T22:00:00+05:30", "2026-11-24T00:00:00+05:30", "2026-11-24T05:59:59+05:30"]
        {
            assert_eq!(night.window(at(inside)), until, "{inside}");
        }
        for outside in ["2026-11-24T06:00:00+05:30", "2026-11-24T21:59:59+05:30"] {
            let opens = Some(at("2026-11-24T22:00:00+05:30"));
            assert_eq!(night.window(at(outside)), Window::Closed { opens }, "{outside}");
        }
        let evening = daily("Asia/Kolkata", "10:00", "00:00");
        let until = Window::Open { until: Some(at("2026-11-24T00:00:00+05:30")) };
        assert_eq!(evening.window(at("2026-11-23T23:59:00+05:30")), until);
    }

    #[test]
    fn days_begin_at_midnight_of_the_zone() {
        let schedule = Schedule::of(&settings("America/New_York", None, None)).unwrap();
        let evening = at("2026-11-23T23:30:00-05:00");
        assert_eq!(schedule.next_day(evening), at("2026-11-24T00:00:00-05:00"));
        assert_eq!(schedule.day(evening) + 1, schedule.day(schedule.next_day(evening)));
        let india = Schedule::of(&Settings::default()).unwrap();
        assert_eq!(india.day(evening), schedule.day(evening) + 1);
    }

    proptest::proptest! {
        #[test]
        fn an_opening_is_open_and_nothing_before_it_is(
            now in 0i64..4_000_000_000_000,
            from in 0u16..1440,
            length in 1u16..1440,
            zone in proptest::sample::select(vec!["Asia/Kolkata", "Europe/Berlin", "America/New_York", "UTC", "Pacific/Apia"]),
            probe in 0.0f64..1.0,
        ) {
            let text = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
            let schedule = daily(zone, &text(from), &text((from + length) % 1440));
            let now = Timestamp(now);
            let is_open = |at: Timestamp| matches!(schedule.window(at), Window::Open { .. });
            match schedule.window(now) {
                Window::Open { until } => {
                    let until = until.unwrap();
                    proptest::prop_assert!(until > now && until.0 - now.0 <= 25 * HOUR);
                    proptest::prop_assert!(is_open(until.plus(-1)));
                }
                Window::Closed { opens } => {
                    let opens = opens.unwrap();
                    proptest::prop_assert!(opens > now && opens.0 - now.0 <= 3 * DAY);
                    proptest::prop_assert!(is_open(opens));
                    let between = now.plus(((opens.0 - now.0) as f64 * probe) as i64);
                    proptest::prop_assert!(between >= opens || !is_open(between));
                }
                Window::Over => proptest::prop_assert!(false),
            }
            let next_day = schedule.next_day(now);
            proptest::prop_assert!(next_day > now && next_day.0 - now.0 <= 2 * DAY);
        }

        #[test]
        fn any_moment_is_answered(now in proptest::num::i64::ANY) {
            let schedule = daily("Asia/Kolkata", "09:00", "18:00");
            let _ = (schedule.window(Timestamp(now)), schedule.day(Timestamp(now)), schedule.next_day(Timestamp(now)));
        }
    }
}
