//! The calling list: its numbers, its limits, and its counts (docs/contract/campaigns.md#calling-list).

use serde_json::{Map, Value};

use super::codes::{InvalidReason, RowState};
use crate::call::variables::{CEILING_BYTES, CEILING_COUNT};
use crate::phone::{E164, Phone, PhoneError};

/// Most rows of one request, and of a list that is replaced.
pub const MAX_ROWS: usize = 50_000;
/// Most rows of a list, with those that streams and boards added.
pub const MAX_LIST: i64 = 2_000_000;
/// Bytes of variables in a list that is replaced.
pub const MAX_LIST_BYTES: i64 = 256 << 20;
/// Longest list that is searched for a part of a name or number: such a search scans all of it.
pub const MAX_SEARCHED: i64 = 200_000;
/// Characters of a number that can be one.
pub const PHONE_LENGTH: std::ops::RangeInclusive<usize> = 8..=20;
/// Longest text that is accepted as the number of a row, characters. It may be flagged, but it is stored.
pub const MAX_PHONE: usize = 100;
/// Longest name, characters.
pub const MAX_NAME: usize = 200;

/// Parses the number of a row: any script and notation, 8 to 20 characters without the spaces around them.
///
/// # Errors
/// Why the row is never dialled.
pub fn read_phone(text: &str) -> Result<Phone, InvalidReason> {
    let text = text.trim();
    if !PHONE_LENGTH.contains(&text.chars().count()) {
        return Err(InvalidReason::InvalidPhone);
    }
    Phone::normalize(text).map_err(|why| match why {
        PhoneError::NotIndian => InvalidReason::NotIndian,
        PhoneError::Invalid => InvalidReason::InvalidPhone,
    })
}

/// The same for numbers of any country: what is a number of India in any notation, else an international one.
///
/// # Errors
/// Why the row is never messaged.
pub fn read_any_phone(text: &str) -> Result<E164, InvalidReason> {
    match read_phone(text) {
        Ok(phone) => Ok(E164::from(phone)),
        Err(InvalidReason::NotIndian) => E164::parse(text).map_err(|_| InvalidReason::InvalidPhone),
        Err(why) => Err(why),
    }
}

/// What is wrong with the variables of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariablesError {
    /// More than 500 names.
    TooMany,
    /// More than 64 KB of names and values.
    TooLarge,
}

impl std::fmt::Display for VariablesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            VariablesError::TooMany => write!(f, "must have at most {CEILING_COUNT} names"),
            VariablesError::TooLarge => {
                write!(f, "must have at most {CEILING_BYTES} bytes of names and values")
            }
        }
    }
}

/// Checks the variables of a row against their limits; returns their bytes.
///
/// # Errors
/// The limit that they exceed.
pub fn check_variables(variables: &Map<String, Value>) -> Result<usize, VariablesError> {
    if variables.len() > CEILING_COUNT {
        return Err(VariablesError::TooMany);
    }
    let length = |value: &Value| value.as_str().map_or_else(|| value.to_string().len(), str::len);
    let bytes = variables.iter().map(|(name, value)| name.len() + length(value)).sum();
    if bytes > CEILING_BYTES { Err(VariablesError::TooLarge) } else { Ok(bytes) }
}

/// The text that a search scans: the name in lower case, then the number. A row without either has none.
pub fn search_text(name: Option<&str>, phone: Option<&str>) -> Option<String> {
    if name.is_none() && phone.is_none() {
        return None;
    }
    Some(format!("{} {}", name.unwrap_or_default().to_lowercase(), phone.unwrap_or_default()))
}

/// A search pattern: in lower case, and of a number its digits alone, as numbers are stored. A leading 0 is a trunk
/// prefix, which is not stored.
pub fn search_for(text: &str) -> String {
    let text = text.trim();
    let number = text.chars().any(char::is_numeric)
        && text
            .chars()
            .all(|letter| letter.is_numeric() || letter.is_whitespace() || "+-().".contains(letter));
    if !number {
        return text.to_lowercase();
    }
    let digits: String = text.chars().filter_map(decimal).collect();
    digits.strip_prefix('0').unwrap_or(&digits).to_owned()
}

/// Whether a list of so many rows is searched for a part of a name or number.
pub fn is_searched(rows: i64) -> bool {
    rows <= MAX_SEARCHED
}

/// A decimal digit of the scripts of India, as ASCII.
fn decimal(letter: char) -> Option<char> {
    const ZEROS: [u32; 11] = [0x30, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xFF10];
    let code = u32::from(letter);
    let zero = ZEROS.iter().find(|zero| (**zero..**zero + 10).contains(&code))?;
    char::from_digit(code - zero, 10)
}

/// The part of a row that the counters count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedState {
    pub state: RowState,
    /// Unreached, and another attempt could reach it.
    pub retryable: bool,
    /// Unreached, since compliance refused every attempt.
    pub blocked: bool,
}

impl CountedState {
    /// A new row of a list.
    pub fn fresh(valid: bool) -> Self {
        let state = if valid { RowState::Queued } else { RowState::Invalid };
        Self { state, retryable: false, blocked: false }
    }
}

/// The counts of a list's rows by state, or a change of them. The six states add up to `total`
/// (docs/contract/campaigns.md#counts).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub total: i64,
    /// Answered by the person.
    pub reached: i64,
    pub in_progress: i64,
    /// Not reached.
    pub unreached: i64,
    /// Waiting for something.
    pub held: i64,
    /// Not dialled yet.
    pub queued: i64,
    /// Never dialled.
    pub invalid: i64,
    /// Of the unreached: could be reached by another attempt.
    pub retryable: i64,
    /// Of the unreached: refused by compliance at every attempt.
    pub blocked: i64,
}

impl Tally {
    fn count(&mut self, row: CountedState, by: i64) {
        let state = match row.state {
            RowState::Reached => &mut self.reached,
            RowState::InProgress => &mut self.in_progress,
            RowState::Unreached => &mut self.unreached,
            RowState::Held => &mut self.held,
            RowState::Queued => &mut self.queued,
            RowState::Invalid => &mut self.invalid,
        };
        *state += by;
        self.total += by;
        self.retryable += by * i64::from(row.retryable);
        self.blocked += by * i64::from(row.blocked);
    }

    /// A row is added.
    pub fn enter(&mut self, row: CountedState) {
        self.count(row, 1);
    }

    /// A row is removed.
    pub fn leave(&mut self, row: CountedState) {
        self.count(row, -1);
    }

    /// The change when a row goes from one state to another.
    pub fn moved(from: CountedState, to: CountedState) -> Self {
        let mut change = Self::default();
        change.leave(from);
        change.enter(to);
        change
    }

    pub fn add(&mut self, other: &Tally) {
        self.total += other.total;
        self.reached += other.reached;
        self.in_progress += other.in_progress;
        self.unreached += other.unreached;
        self.held += other.held;
        self.queued += other.queued;
        self.invalid += other.invalid;
        self.retryable += other.retryable;
        self.blocked += other.blocked;
    }

    /// How many rows are in this state.
    pub fn of(&self, state: RowState) -> i64 {
        match state {
            RowState::Reached => self.reached,
            RowState::InProgress => self.in_progress,
            RowState::Unreached => self.unreached,
            RowState::Held => self.held,
            RowState::Queued => self.queued,
            RowState::Invalid => self.invalid,
        }
    }

    /// Whether nothing changes.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_rows() {
        let phone = |text| read_phone(text).map(|phone| phone.to_string());
        for same in [
            "9812345678",
            "+91 98123-45678",
            "098123 45678",
            "९८१२३४५६७८",
            " 9812345678 ",
            "tel:+919812345678",
        ] {
            assert_eq!(phone(same).as_deref(), Ok("+919812345678"), "{same}");
        }
        assert_eq!(phone("+1 415 555 0100"), Err(InvalidReason::NotIndian));
        for wrong in ["", "98123", "9812345678 / 9812345679", "Asha Rao"] {
            assert_eq!(phone(wrong), Err(InvalidReason::InvalidPhone), "{wrong}");
        }
    }

    #[test]
    fn numbers_of_other_countries() {
        let phone = |text| read_any_phone(text).map(|phone| phone.to_string());
        assert_eq!(phone("9812345678").as_deref(), Ok("+919812345678"));
        assert_eq!(phone("+1 415 555 0100").as_deref(), Ok("+14155550100"));
        assert_eq!(phone("Asha Rao"), Err(InvalidReason::InvalidPhone));
    }

    #[test]
    fn searches_find_names_in_any_case_and_numbers_in_any_notation() {
        let found = |q: &str| {
            search_text(Some("Asha RAO आशा"), Some("+919812345678")).unwrap().contains(&search_for(q))
        };
        for q in ["asha", "ASHA R", " rao ", "आशा", "98123 45678", "+91-98123", "45678", "098123", "९८१२३"]
        {
            assert!(found(q), "{q}");
        }
        assert!(!found("ravi") && !found("98124"));
        assert_eq!(search_text(None, None), None);
    }

    #[test]
    fn variables_have_ceilings() {
        let many: Map<String, Value> = (0..501).map(|n| (format!("v{n}"), "x".into())).collect();
        assert_eq!(check_variables(&many), Err(VariablesError::TooMany));
        let large: Map<String, Value> =
            [("v".to_owned(), Value::from("x".repeat(CEILING_BYTES)))].into_iter().collect();
        assert_eq!(check_variables(&large), Err(VariablesError::TooLarge));
        let good: Map<String, Value> = [("due".to_owned(), Value::from("₹ 10"))].into_iter().collect();
        assert_eq!(check_variables(&good), Ok(3 + 6));
    }

    proptest::proptest! {
        #[test]
        fn counts_add_up_whatever_moves(moves in proptest::collection::vec((0usize..4, 0usize..6, 0usize..6, proptest::bool::ANY), 0..60)) {
            let mut rows = [CountedState::fresh(true); 4];
            let mut tally = Tally::default();
            rows.iter().for_each(|row| tally.enter(*row));
            for (row, _, to, flag) in moves {
                let state = RowState::ALL[to];
                let unreached = state == RowState::Unreached;
                let next = CountedState { state, retryable: unreached && flag, blocked: unreached && !flag };
                tally.add(&Tally::moved(rows[row], next));
                rows[row] = next;
            }
            let mut recount = Tally::default();
            rows.iter().for_each(|row| recount.enter(*row));
            proptest::prop_assert_eq!(tally, recount);
            proptest::prop_assert_eq!(RowState::ALL.iter().map(|state| tally.of(*state)).sum::<i64>(), tally.total);
        }
    }
}
