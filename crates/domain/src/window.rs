//! When a call may start. Hours are India time (UTC+05:30, no daylight saving) and half-open: of 09:00-21:00,
//! 09:00 is inside and 21:00 is not.
//!
//! [`CallingHours`] are the hours of a compliance pack. [`NudgeWindow`] applies the nudges' own cutoff of
//! 20:55 to them.

use jiff::civil::{Date, date};

use crate::time::{DAY, MINUTE, Timestamp};

/// India is five and a half hours ahead of UTC all year.
const INDIA_OFFSET: i64 = 330 * MINUTE;

/// Minutes of a day, which is also the end of a span that lasts until midnight.
pub const DAY_MINUTES: u16 = 24 * 60;

/// No nudge's dial starts at or after this minute of the day, 20:55 (docs/contract/nudges.md#calling-window).
pub const NUDGE_CUTOFF: u16 = 20 * 60 + 55;

/// A window that is still open after the cutoff, or stays open across midnight, opens again at 09:00
/// (docs/contract/nudges.md#calling-window).
pub const MORNING: u16 = 9 * 60;

/// Held nudges are released over this time after the opening, milliseconds
/// (docs/contract/nudges.md#calling-window).
pub const SPREAD: i64 = 15 * MINUTE;

/// How many days ahead the search for an opening goes. When every day of more than a year is closed, there is
/// none.
const SEARCH_DAYS: i64 = 400;

/// A part of one day, in minutes after midnight India time, including `from` and excluding `to`.
/// [`Span::new`] makes sure that `from < to <= 1440`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    from: u16,
    to: u16,
}

impl Span {
    /// The span, or `None` when it is empty, ends before it starts or reaches beyond the day.
    pub const fn new(from: u16, to: u16) -> Option<Self> {
        if from < to && to <= DAY_MINUTES { Some(Self { from, to }) } else { None }
    }

    /// First minute inside.
    pub fn from(self) -> u16 {
        self.from
    }

    /// First minute after.
    pub fn to(self) -> u16 {
        self.to
    }

    fn overlaps(self, other: Span) -> bool {
        self.from < other.to && other.from < self.to
    }
}

/// Two spans of one weekday overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap;

/// Calling hours: the spans of each weekday (Monday is 0), and dates without calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallingHours {
    days: [Vec<Span>; 7],
    holidays: Vec<Date>,
}

impl CallingHours {
    /// The same span on every day.
    pub fn daily(span: Span) -> Self {
        Self { days: std::array::from_fn(|_| vec![span]), holidays: Vec::new() }
    }

    /// Adds a span to a weekday (Monday is 0; numbers over 6 wrap). A day may have several, for example
    /// around a lunch break.
    ///
    /// # Errors
    /// [`Overlap`] when it overlaps a span that the weekday already has.
    pub fn open(&mut self, weekday: u8, span: Span) -> Result<(), Overlap> {
        let day = &mut self.days[usize::from(weekday % 7)];
        if day.iter().any(|other| other.overlaps(span)) {
            return Err(Overlap);
        }
        day.push(span);
        day.sort();
        Ok(())
    }

    /// Closes whole dates, for example public holidays.
    pub fn close_on(&mut self, dates: impl IntoIterator<Item = Date>) {
        self.holidays.extend(dates);
        self.holidays.sort();
        self.holidays.dedup();
    }

    /// The spans of a weekday (Monday is 0; numbers over 6 wrap), earliest first.
    pub fn weekday(&self, weekday: u8) -> &[Span] {
        &self.days[usize::from(weekday % 7)]
    }

    /// The dates without calls, earliest first.
    pub fn holidays(&self) -> &[Date] {
        &self.holidays
    }

    /// Whether a call may start at this moment.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.span_at(now).is_some()
    }

    /// The first moment at or after `from` at which a call may start; `None` when there is none in the next
    /// 400 days.
    pub fn next_opening(&self, from: Timestamp) -> Option<Timestamp> {
        self.first_open(from, |_, span| Some(span)).map(|(opening, _)| opening)
    }

    /// The first moment at or after `from` at which a call may start, and when calls may no longer start after
    /// it; `None` when there is none in the next 400 days.
    pub fn next_window(&self, from: Timestamp) -> Option<(Timestamp, Timestamp)> {
        self.first_open(from, |_, span| Some(span))
    }

    fn span_at(&self, now: Timestamp) -> Option<Span> {
        let (day, ms) = india(now);
        let minute = (ms / MINUTE) as u16;
        self.spans(day).iter().copied().find(|span| (span.from..span.to).contains(&minute))
    }

    /// The spans of one day in India; days are counted from 1970-01-01.
    fn spans(&self, day: i64) -> &[Span] {
        if !self.holidays.is_empty()
            && civil(day).is_some_and(|date| self.holidays.binary_search(&date).is_ok())
        {
            return &[];
        }
        // Day 0 was a Thursday.
        &self.days[(day + 3).rem_euclid(7) as usize]
    }

    /// The first moment at or after `from` that is inside a span, after `narrow` has narrowed it, and the end
    /// of that span.
    fn first_open(
        &self,
        from: Timestamp,
        narrow: impl Fn(i64, Span) -> Option<Span>,
    ) -> Option<(Timestamp, Timestamp)> {
        let (first_day, ms) = india(from);
        for day in first_day..=first_day.saturating_add(SEARCH_DAYS) {
            for span in self.spans(day).iter().filter_map(|span| narrow(day, *span)) {
                let (open, close) = (i64::from(span.from) * MINUTE, i64::from(span.to) * MINUTE);
                if day > first_day || ms < close {
                    let opening = if day > first_day { open } else { open.max(ms) };
                    return Some((moment(day, opening), moment(day, close)));
                }
            }
        }
        None
    }
}

/// The end of a hold for the calling window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// When the window opens: what `nextWindowAt` shows.
    pub opening: Timestamp,
    /// When this window closes again; every release is before it.
    pub closing: Timestamp,
}

impl Release {
    /// When the nudge with this key (the bits of its id) is dialled. The same key always gives the same
    /// moment, and keys spread evenly over the 15 minutes after the opening. The moment is before the window
    /// closes, and not after `latest` unless the opening itself is.
    pub fn at(&self, key: u128, latest: Timestamp) -> Timestamp {
        let room = (self.closing.0.saturating_sub(self.opening.0))
            .min(latest.0.saturating_sub(self.opening.0).saturating_add(1))
            .min(SPREAD);
        if room <= 0 {
            return self.opening;
        }
        let share = (u128::from(mix(key)) * room as u128) >> 64;
        self.opening.plus(share as i64)
    }
}

/// The calling hours of an agent's pack with the nudges' cutoff applied
/// (docs/contract/nudges.md#calling-window).
///
/// No nudge is dialled between 20:55 and 09:00, unless the pack's own hours start earlier in the morning. So
/// hours of 08:00-19:00 open at 08:00, hours around the clock at 09:00, hours of 00:00-08:00 at 00:00, and hours of 06:00-22:00 at 06:00,
/// except for nudges held by the cutoff itself: these wait until 09:00.
#[derive(Debug, Clone, Copy)]
pub struct NudgeWindow<'a> {
    hours: &'a CallingHours,
}

impl<'a> NudgeWindow<'a> {
    /// The window of nudges under these hours.
    pub fn new(hours: &'a CallingHours) -> Self {
        Self { hours }
    }

    /// Whether a nudge's dial may start at this moment.
    pub fn is_open(&self, now: Timestamp) -> bool {
        let (day, ms) = india(now);
        let minute = (ms / MINUTE) as u16;
        let span = self.hours.span_at(now).and_then(|span| self.by_day(day, span));
        span.is_some_and(|span| (span.from..span.to).contains(&minute))
    }

    /// The first moment at or after `from` at which a nudge may be dialled; `None` when there is none in the
    /// next 400 days.
    pub fn next_opening(&self, from: Timestamp) -> Option<Timestamp> {
        self.release(from).map(|release| release.opening)
    }

    /// When the window opens next after `now`. While it is open, that is the opening after it next closes
    /// (`nextWindowAt` of a preflight).
    pub fn opens_again(&self, now: Timestamp) -> Option<Timestamp> {
        let release = self.release(now)?;
        if release.opening > now { Some(release.opening) } else { self.next_opening(release.closing) }
    }

    /// The next opening and the closing after it, so that the releases can be spread between them.
    pub fn release(&self, from: Timestamp) -> Option<Release> {
        let (day, ms) = india(from);
        let cut_off = ms >= i64::from(NUDGE_CUTOFF) * MINUTE && self.hours.is_open(from);
        let from = if cut_off { moment(day.saturating_add(1), i64::from(MORNING) * MINUTE) } else { from };
        let found = self.hours.first_open(from, |day, span| self.by_day(day, span));
        found.map(|(opening, closing)| Release { opening, closing })
    }

    /// What the cutoff leaves of a span of this day: nothing from 20:55 on, and nothing before 09:00 of a window that is
    /// open across midnight.
    fn by_day(&self, day: i64, span: Span) -> Option<Span> {
        let before = self.hours.spans(day.saturating_sub(1));
        let across = span.from == 0 && before.last().is_some_and(|before| before.to == DAY_MINUTES);
        Span::new(if across { MORNING } else { span.from }, span.to.min(NUDGE_CUTOFF))
    }
}

/// The day in India, counted from 1970-01-01, and the milliseconds since its midnight.
fn india(now: Timestamp) -> (i64, i64) {
    let local = now.0.saturating_add(INDIA_OFFSET);
    (local.div_euclid(DAY), local.rem_euclid(DAY))
}

/// The date in India at a moment; `None` beyond the calendar.
pub fn india_date(now: Timestamp) -> Option<Date> {
    civil(india(now).0)
}

fn moment(day: i64, ms: i64) -> Timestamp {
    Timestamp(day.saturating_mul(DAY).saturating_add(ms).saturating_sub(INDIA_OFFSET))
}

fn civil(day: i64) -> Option<Date> {
    let days = i32::try_from(day).ok()?;
    date(1970, 1, 1).checked_add(jiff::Span::new().try_days(days).ok()?).ok()
}

/// Spreads the bits of an id evenly over 64 bits (the finalizer of SplitMix64, after folding both halves).
fn mix(key: u128) -> u64 {
    let mut bits = (key >> 64) as u64 ^ (key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::HOUR;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(&format!("{text}+05:30")).unwrap()
    }

    fn hours(from: u16, to: u16) -> CallingHours {
        CallingHours::daily(Span::new(from * 60, to * 60).unwrap())
    }

    #[test]
    fn hours_are_closed_open() {
        let hours = hours(9, 21);
        assert!(!hours.is_open(at("2026-11-23T08:59:59.999")));
        assert!(hours.is_open(at("2026-11-23T09:00")));
        assert!(hours.is_open(at("2026-11-23T20:59:59.999")));
        assert!(!hours.is_open(at("2026-11-23T21:00")));
        assert_eq!(Span::new(540, 540), None);
        assert_eq!(Span::new(0, 1441), None);
    }

    #[test]
    fn openings_across_midnight_month_and_year() {
        let hours = hours(9, 21);
        for (from, opening) in [
            ("2026-11-23T05:00", "2026-11-23T09:00"),
            ("2026-11-23T12:34:56.789", "2026-11-23T12:34:56.789"),
            ("2026-11-23T21:00", "2026-11-24T09:00"),
            ("2026-11-30T23:59:59", "2026-12-01T09:00"),
            ("2026-12-31T21:30", "2027-01-01T09:00"),
            ("2028-02-28T22:00", "2028-02-29T09:00"),
        ] {
            assert_eq!(hours.next_opening(at(from)), Some(at(opening)), "{from}");
        }
    }

    #[test]
    fn weekends_holidays_and_lunch_breaks() {
        let mut hours = CallingHours::default();
        for weekday in 0..5 {
            hours.open(weekday, Span::new(14 * 60, 18 * 60).unwrap()).unwrap();
            hours.open(weekday, Span::new(9 * 60, 13 * 60).unwrap()).unwrap();
        }
        assert_eq!(hours.open(0, Span::new(12 * 60, 15 * 60).unwrap()), Err(Overlap));
        hours.close_on([date(2026, 11, 23), date(2026, 11, 23)]);
        // 2026-11-21 is a Saturday, Monday the 23rd is closed.
        assert_eq!(hours.next_opening(at("2026-11-21T10:00")), Some(at("2026-11-24T09:00")));
        assert_eq!(hours.next_opening(at("2026-11-24T13:00")), Some(at("2026-11-24T14:00")));
        assert_eq!(hours.holidays().len(), 1);
        assert_eq!(CallingHours::default().next_opening(at("2026-11-21T10:00")), None);
    }

    #[test]
    fn the_cutoff_of_nudges() {
        let generic = hours(9, 21);
        let window = NudgeWindow::new(&generic);
        assert!(window.is_open(at("2026-11-23T20:54:59.999")));
        assert!(!window.is_open(at("2026-11-23T20:55")));
        assert!(generic.is_open(at("2026-11-23T20:55")));
        for (hours, from, opening) in [
            ((9, 21), "2026-11-23T20:55", "2026-11-24T09:00"),
            ((9, 21), "2026-11-23T21:30", "2026-11-24T09:00"),
            ((9, 21), "2026-11-23T03:00", "2026-11-23T09:00"),
            ((8, 19), "2026-11-23T19:00", "2026-11-24T08:00"),
            ((8, 19), "2026-11-23T22:00", "2026-11-24T08:00"),
            ((0, 24), "2026-11-23T20:55", "2026-11-24T09:00"),
            ((0, 24), "2026-11-23T00:30", "2026-11-23T09:00"),
            ((6, 22), "2026-11-23T21:30", "2026-11-24T09:00"),
            ((6, 22), "2026-11-23T22:30", "2026-11-24T06:00"),
            ((0, 8), "2026-11-23T12:00", "2026-11-24T00:00"),
            ((0, 8), "2026-11-23T03:00", "2026-11-23T03:00"),
        ] {
            let hours = self::hours(hours.0, hours.1);
            assert_eq!(
                NudgeWindow::new(&hours).next_opening(at(from)),
                Some(at(opening)),
                "{hours:?} {from}"
            );
        }
        assert_eq!(window.opens_again(at("2026-11-23T12:00")), Some(at("2026-11-24T09:00")));
        assert_eq!(window.opens_again(at("2026-11-23T08:00")), Some(at("2026-11-23T09:00")));
        let late = hours(21, 23);
        assert_eq!(NudgeWindow::new(&late).next_opening(at("2026-11-23T12:00")), None);
    }

    #[test]
    fn releases_are_even_and_repeatable() {
        let release = Release { opening: at("2026-11-24T09:00"), closing: at("2026-11-24T20:55") };
        let never = Timestamp(i64::MAX);
        let mut buckets = [0u32; 15];
        for key in 0..15_000u128 {
            let key = (0x019a_0000_0000u128 + key / 40) << 80 | key;
            let moment = release.at(key, never);
            assert_eq!(moment, release.at(key, never));
            buckets[((moment.0 - release.opening.0) / MINUTE) as usize] += 1;
        }
        assert!(buckets.iter().all(|count| (850..1150).contains(count)), "{buckets:?}");
    }

    #[test]
    fn releases_stay_before_the_closing_and_the_expiry() {
        let opening = at("2026-11-24T09:00");
        for key in 0..1000u128 {
            let short = Release { opening, closing: opening.plus(MINUTE) };
            assert!(short.at(key, Timestamp(i64::MAX)) < short.closing);
            let long = Release { opening, closing: opening.plus(10 * HOUR) };
            assert!(long.at(key, opening.plus(5)) <= opening.plus(5));
            assert_eq!(long.at(key, opening.plus(-5)), opening);
        }
    }

    proptest::proptest! {
        #[test]
        fn an_opening_is_open_and_nothing_between_is(now in -60_000_000_000_000i64..250_000_000_000_000, from in 0u16..1440, len in 1u16..1440, weekdays in 1u8..128, probe in 0.0f64..1.0) {
            let mut hours = CallingHours::default();
            let span = Span::new(from, (from + len).min(DAY_MINUTES)).unwrap();
            for weekday in (0..7).filter(|day| weekdays & (1 << day) != 0) {
                hours.open(weekday, span).unwrap();
            }
            let now = Timestamp(now);
            let opening = hours.next_opening(now).unwrap();
            proptest::prop_assert!(opening >= now && hours.is_open(opening));
            let between = now.plus(((opening.0 - now.0) as f64 * probe) as i64);
            proptest::prop_assert!(between >= opening || !hours.is_open(between));
            let window = NudgeWindow::new(&hours);
            proptest::prop_assert!(!window.is_open(now) || hours.is_open(now));
            if let Some(release) = window.release(now) {
                proptest::prop_assert!(release.opening >= now && window.is_open(release.opening));
                proptest::prop_assert!(window.is_open(release.at(now.0 as u128, Timestamp(i64::MAX))));
                proptest::prop_assert_eq!(window.is_open(now), release.opening == now);
            }
        }

        #[test]
        fn any_moment_is_answered(now in proptest::num::i64::ANY) {
            let mut hours = hours(9, 21);
            hours.close_on([date(2026, 1, 26)]);
            let _ = (hours.is_open(Timestamp(now)), hours.next_opening(Timestamp(now)), NudgeWindow::new(&hours).release(Timestamp(now)));
        }
    }
}
