//! Timestamps. The service counts milliseconds since 1970 in UTC; clients write and read ISO 8601.

use std::fmt;

/// A timestamp, in milliseconds since 1970-01-01T00:00:00Z. Its text form is ISO 8601 in UTC with three fraction
/// digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// The IANA time zone of this name in its usual spelling (`asia/kolkata` is `Asia/Kolkata`); `None` when
/// there is none.
pub fn time_zone(name: &str) -> Option<String> {
    jiff::tz::TimeZone::get(name).ok()?.iana_name().map(str::to_owned)
}

/// One second in milliseconds.
pub const SECOND: i64 = 1_000;
/// One minute in milliseconds.
pub const MINUTE: i64 = 60 * SECOND;
/// One hour in milliseconds.
pub const HOUR: i64 = 60 * MINUTE;
/// One day in milliseconds.
pub const DAY: i64 = 24 * HOUR;

/// The last moment of the year 9999.
const LAST: i64 = 253_402_300_799_999;

impl Timestamp {
    /// Reads an ISO 8601 date-time with `Z` or an offset (docs/contract/README.md#time); `None` for anything
    /// else, a zone-less time included.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.parse::<jiff::Timestamp>() {
            Ok(moment) => Some(Self(moment.as_millisecond())),
            Err(_) => Self::of_last_year(text),
        }
    }

    /// Reads a moment of the year 9999, whose last days the library does not have as moments of one time line.
    fn of_last_year(text: &str) -> Option<Self> {
        let pieces = jiff::fmt::temporal::Pieces::parse(text).ok()?;
        let date = pieces.date();
        if date.year() != 9_999 {
            return None;
        }
        let offset = pieces.to_numeric_offset()?;
        let written = date.to_datetime(pieces.time()?);
        let since = written.duration_since(jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0)).as_millis();
        let moment = i64::try_from(since).ok()? - i64::from(offset.seconds()) * SECOND;
        (moment <= LAST).then_some(Self(moment))
    }

    /// This timestamp plus `millis`.
    pub fn plus(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Whole seconds since 1970, rounded down.
    pub fn unix_seconds(self) -> i64 {
        self.0.div_euclid(SECOND)
    }

    /// Writes the text form and hands it to `read`, without allocating. Years beyond 0 to 9999 are shown as
    /// the nearest of these.
    pub fn with_text<T>(self, read: impl FnOnce(&str) -> T) -> T {
        const FIRST: i64 = -62_167_219_200_000;
        let millis = self.0.clamp(FIRST, LAST);
        let days = millis.div_euclid(DAY);
        let rest = millis.rem_euclid(DAY);
        // Civil date of a day number, after Howard Hinnant's `civil_from_days`.
        let z = days + 719_468;
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097);
        let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let day = doy - (153 * mp + 2) / 5 + 1;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        let year = yoe + era * 400 + i64::from(month <= 2);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let fields = [
            (0, 4, year),
            (5, 2, month),
            (8, 2, day),
            (11, 2, rest / HOUR),
            (14, 2, rest / MINUTE % 60),
            (17, 2, rest / SECOND % 60),
            (20, 3, rest % SECOND),
        ];
        for (start, width, number) in fields {
            let mut number = number;
            for slot in text[start..start + width].iter_mut().rev() {
                *slot = b'0' + (number % 10) as u8;
                number /= 10;
            }
        }
        read(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| f.pad(text))
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_text(|text| serializer.serialize_str(text))
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom("must be an ISO 8601 date-time with a time zone"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_come_in_and_utc_goes_out() {
        let moment = Timestamp::parse("2026-11-23T09:30:00+05:30").unwrap();
        assert_eq!(moment.to_string(), "2026-11-23T04:00:00.000Z");
        assert_eq!(Timestamp::parse("2026-11-23T04:00:00.000Z"), Some(moment));
        assert_eq!(Timestamp::parse("2026-11-23T04:00:00"), None);
        assert_eq!(Timestamp::parse("tomorrow"), None);
    }

    #[test]
    fn the_last_year_has_all_its_days() {
        for (text, shown) in [
            ("9999-12-31T23:59:59Z", Some("9999-12-31T23:59:59.000Z")),
            ("9999-12-31T23:59:59.999Z", Some("9999-12-31T23:59:59.999Z")),
            ("9999-12-31T23:59:59+05:30", Some("9999-12-31T18:29:59.000Z")),
            ("9999-12-31T00:00:00-05:00", Some("9999-12-31T05:00:00.000Z")),
            ("9999-01-01T00:00:00Z", Some("9999-01-01T00:00:00.000Z")),
            // A moment of the year 10000.
            ("9999-12-31T23:59:59-05:00", None),
            ("9999-12-31T23:59:59", None),
            ("9999-12-31", None),
            ("9999-12-31T23:59:59[Asia/Kolkata]", None),
            ("9999-12-32T00:00:00Z", None),
        ] {
            assert_eq!(Timestamp::parse(text).map(|moment| moment.to_string()).as_deref(), shown, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn text_and_back(ms in -60_000_000_000_000i64..=LAST) {
            let moment = Timestamp(ms);
            proptest::prop_assert_eq!(Timestamp::parse(&moment.to_string()), Some(moment));
        }
    }
}
