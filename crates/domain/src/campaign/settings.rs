//! When and how a campaign calls, and where its status may go (docs/contract/campaigns.md#settings,
//! docs/contract/campaigns.md#status).

use std::fmt;

use super::codes::Status;
use crate::time::Timestamp;
use crate::window::DAY_MINUTES;

/// Longest name, characters.
pub const MAX_NAME: usize = 120;
/// Most retries of a row.
pub const MAX_RETRIES: u8 = 10;
/// Longest pause between two attempts, minutes: a year.
pub const MAX_COOLDOWN: i64 = 366 * 24 * 60;
/// Most addresses for e-mails.
pub const MAX_EMAILS: usize = 20;
/// Longest e-mail address, bytes (RFC 5321).
pub const MAX_EMAIL: usize = 254;
/// Most own numbers to rotate.
pub const MAX_CALLER_IDS: usize = 20;
/// Largest daily cap of an own number.
pub const MAX_DAILY_CAP: i64 = 100_000;
/// Largest ceiling of calls at once.
pub const MAX_CONCURRENT: i64 = 10_000;

/// A time of day in minutes after midnight. Its text form is `HH:MM`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DayTime(u16);

impl DayTime {
    /// The beginning of a day.
    pub const MIDNIGHT: Self = Self(0);
    /// The end of a day.
    pub const END: Self = Self(DAY_MINUTES);

    /// Reads `HH:MM`, 00:00 to 24:00.
    pub fn parse(text: &str) -> Option<Self> {
        let (hours, minutes) = text.split_once(':')?;
        let two = |digits: &str| {
            (digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit()))
                .then(|| digits.parse::<u16>().ok())
                .flatten()
        };
        let (hours, minutes) = (two(hours)?, two(minutes)?);
        let minute = hours * 60 + minutes;
        (minutes < 60 && minute <= DAY_MINUTES).then_some(Self(minute))
    }

    /// Minutes after midnight; 1440 is the end of the day.
    pub fn minute(self) -> u16 {
        self.0
    }
}

impl fmt::Display for DayTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

/// An own number that a campaign calls from, with its cap.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallerId {
    /// E.164.
    pub number: String,
    /// Most dials from it on one day of the campaign's time zone.
    pub daily_cap: i64,
}

/// When and how a campaign calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The own number, E.164; without one the first active number is used.
    pub from_number: Option<String>,
    /// IANA name of the zone of the daily times; India's without one.
    pub timezone: Option<String>,
    /// No dial before this moment.
    pub start_at: Option<Timestamp>,
    /// The campaign ends at this moment.
    pub end_at: Option<Timestamp>,
    /// No dial earlier in the day.
    pub daily_from: Option<DayTime>,
    /// No dial at this time of day or later.
    pub daily_to: Option<DayTime>,
    /// Attempts after the first one.
    pub retry_count: u8,
    /// Pause between two attempts, minutes.
    pub cooldown_minutes: i64,
    /// Addresses for e-mails.
    pub email_notifications: Vec<String>,
    /// Own numbers to rotate; none: `from_number` alone.
    pub caller_ids: Vec<CallerId>,
    /// Its own ceiling of calls at once.
    pub max_concurrent_calls: Option<i64>,
}

/// The zone of a campaign that names none.
pub const DEFAULT_ZONE: &str = "Asia/Kolkata";

impl Settings {
    /// The zone of its daily times and of its days.
    pub fn zone(&self) -> &str {
        self.timezone.as_deref().unwrap_or(DEFAULT_ZONE)
    }

    /// The daily times, when at least one is set: the other one is then the beginning or the end of the day.
    pub fn daily(&self) -> Option<(DayTime, DayTime)> {
        if self.daily_from.is_none() && self.daily_to.is_none() {
            return None;
        }
        Some((self.daily_from.unwrap_or(DayTime::MIDNIGHT), self.daily_to.unwrap_or(DayTime::END)))
    }

    /// Validates the settings as a whole by the rules that concern several of them.
    ///
    /// # Errors
    /// The field below `settings` that is wrong, and what it must be.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if let (Some(start), Some(end)) = (self.start_at, self.end_at)
            && end <= start
        {
            return Err(("endAt", "must be after startAt"));
        }
        if self.daily().is_some_and(|(from, to)| from == to) {
            return Err(("dailyTo", "must differ from dailyFrom"));
        }
        Ok(())
    }

    /// Whether its end has come.
    pub fn is_past(&self, now: Timestamp) -> bool {
        self.end_at.is_some_and(|end| end <= now)
    }

    /// Every own number that it names.
    pub fn numbers(&self) -> impl Iterator<Item = &str> {
        self.from_number.as_deref().into_iter().chain(self.caller_ids.iter().map(|own| own.number.as_str()))
    }
}

/// Whether an address has the form `name@host.domain`: one `@`, something before it, a host with labels after
/// it, no white space and no control characters, at most 254 bytes. Only sending shows whether mail arrives.
pub fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    let plain = |letter: char| !letter.is_whitespace() && !letter.is_control();
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|letter| letter.is_alphanumeric() || letter == '-')
    };
    text.len() <= MAX_EMAIL
        && !name.is_empty()
        && name.chars().all(|letter| plain(letter) && !"@<>(),;:\\\"[]".contains(letter))
        && host.contains('.')
        && host.split('.').all(label)
}

/// A requested change of the status of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// It already has the requested status.
    Stays,
    /// It becomes a draft again.
    Unpublish,
    /// It begins or goes on to dial.
    Publish,
    /// It stops until it is published again.
    Pause,
    Complete,
    /// It is put away.
    Archive,
}

/// The allowed status changes at a client's request (docs/contract/campaigns.md#status).
///
/// # Errors
/// Why it is not allowed, a message for people.
pub fn change_status(from: Status, to: Status) -> Result<Move, &'static str> {
    use Status::{Active, Archived, Completed, Draft, Paused};
    match (from, to) {
        (Draft, Draft)
        | (Active, Active)
        | (Paused, Paused)
        | (Completed, Completed)
        | (Archived, Archived) => Ok(Move::Stays),
        (Draft | Paused, Active) => Ok(Move::Publish),
        (Active, Paused) => Ok(Move::Pause),
        (Paused, Draft) => Ok(Move::Unpublish),
        (Active | Paused, Completed) => Ok(Move::Complete),
        (Draft | Paused | Completed, Archived) => Ok(Move::Archive),
        (Active, Draft | Archived) => Err("the campaign is active: pause it first"),
        (Draft, Paused | Completed) => {
            Err("the campaign is a draft: only a published one can be paused or completed")
        }
        (Completed, Draft | Active | Paused) => Err("the campaign is completed; create a new one"),
        (Archived, Draft | Active | Paused | Completed) => Err("the campaign is archived; create a new one"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day() {
        let minute = |text| DayTime::parse(text).map(DayTime::minute);
        assert_eq!(minute("00:00"), Some(0));
        assert_eq!(minute("09:30"), Some(570));
        assert_eq!(minute("23:59"), Some(1439));
        assert_eq!(minute("24:00"), Some(1440));
        for wrong in
            ["24:01", "9:30", "09:60", "0930", "09:3", "09:30:00", "", ":", "-1:00", "+9:00", "९:००", "09:३०"]
        {
            assert_eq!(minute(wrong), None, "{wrong}");
        }
        assert_eq!(DayTime::parse("07:05").unwrap().to_string(), "07:05");
    }

    #[test]
    fn settings_fit_together() {
        let at = |text| DayTime::parse(text);
        let good =
            Settings { start_at: Some(Timestamp(1)), end_at: Some(Timestamp(2)), ..Settings::default() };
        assert_eq!(good.check(), Ok(()));
        assert_eq!(Settings { end_at: Some(Timestamp(1)), ..good.clone() }.check().unwrap_err().0, "endAt");
        let daily = |from, to| Settings { daily_from: from, daily_to: to, ..Settings::default() };
        assert_eq!(daily(at("09:00"), at("18:00")).check(), Ok(()));
        assert_eq!(daily(at("18:00"), at("09:00")).check(), Ok(()), "through midnight");
        assert_eq!(daily(at("09:00"), at("09:00")).check().unwrap_err().0, "dailyTo");
        assert_eq!(daily(None, at("00:00")).check().unwrap_err().0, "dailyTo");
        assert_eq!(daily(at("10:00"), None).daily(), Some((DayTime(600), DayTime::END)));
        assert_eq!(daily(None, None).daily(), None);
        assert!(good.is_past(Timestamp(2)) && !good.is_past(Timestamp(1)));
    }

    #[test]
    fn addresses() {
        for good in ["a@b.in", "asha.rao+calls@mail.example.co.in", "आशा@उदाहरण.भारत", "o'neil@x-y.org"]
        {
            assert!(is_email(good), "{good}");
        }
        let long = format!("{}@example.in", "a".repeat(250));
        for wrong in [
            "",
            "a",
            "a@",
            "@b.in",
            "a@b",
            "a b@c.in",
            "a@b..in",
            "a@-b.in",
            "a@b.in\r\nBcc: c@d.in",
            "a@b@c.in",
            "<a@b.in>",
            &long,
        ] {
            assert!(!is_email(wrong), "{wrong}");
        }
    }

    #[test]
    fn the_table_of_moves() {
        use Status::*;
        let table = |from: Status| -> Vec<&'static str> {
            Status::ALL.iter().filter(|to| change_status(from, **to).is_ok()).map(|to| to.as_str()).collect()
        };
        assert_eq!(table(Draft), ["draft", "active", "archived"]);
        assert_eq!(table(Active), ["active", "paused", "completed"]);
        assert_eq!(table(Paused), ["draft", "active", "paused", "completed", "archived"]);
        assert_eq!(table(Completed), ["completed", "archived"]);
        assert_eq!(table(Archived), ["archived"]);
    }
}
