//! Numbers in the words of a language, in the Indian system.

use super::table::{Scale, Speech};

/// Numbers with more digits are said digit by digit.
pub const MAX_DIGITS: usize = 12;

/// What comes after a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing that it counts.
    Nothing,
    /// The rest of a larger number.
    Rest,
    /// What it counts: rupees, per cent.
    Noun,
}

impl Speech {
    /// A number in words; `number` has at most [`MAX_DIGITS`] digits.
    pub fn cardinal(&self, number: u64, before: Before) -> String {
        if number == 1 && before == Before::Noun {
            return self.written.one_noun.clone().unwrap_or_else(|| self.small(1));
        }
        let (mut rest, mut words) = (number, Vec::new());
        let scales = [
            (10_000_000, &self.written.crore),
            (100_000, &self.written.lakh),
            (1000, &self.written.thousand),
        ];
        for (size, scale) in scales {
            let count = rest / size;
            rest %= size;
            if count > 0 {
                let before = if rest > 0 { Before::Rest } else { before };
                words.push(self.scaled(count, scale, before));
            }
        }
        if rest >= 100 {
            let before = if rest.is_multiple_of(100) { before } else { Before::Rest };
            let form = &self.hundreds[match before {
                Before::Nothing => 0,
                Before::Rest => 1,
                Before::Noun => 2,
            }];
            words.extend(usize::try_from(rest / 100).ok().and_then(|at| form.get(at - 1).cloned()));
            rest %= 100;
        }
        if rest > 0 || number == 0 {
            words.push(self.small(rest));
        }
        words.join(" ")
    }

    fn small(&self, number: u64) -> String {
        usize::try_from(number).ok().and_then(|at| self.numbers.get(at).cloned()).unwrap_or_default()
    }

    fn scaled(&self, count: u64, scale: &Scale, before: Before) -> String {
        let then = |other: &Option<String>, plain: &String| match before {
            Before::Rest => other.clone().unwrap_or_else(|| plain.clone()),
            _ => plain.clone(),
        };
        if count == 1 {
            return then(&scale.one_then, &scale.one);
        }
        let count = self.cardinal(count, Before::Noun);
        if let Some(fused) = ending(&count, &scale.fuse) {
            return match before {
                Before::Rest => ending(&fused, &scale.fuse_then).unwrap_or(fused),
                _ => fused,
            };
        }
        let many = match before {
            Before::Noun => scale.many_noun.as_ref().unwrap_or(&scale.many).clone(),
            _ => then(&scale.many_then, &scale.many),
        };
        format!("{count} {many}")
    }

    /// A year of four digits.
    pub fn year(&self, year: u64) -> String {
        if self.written.year_in_pairs && !(2000..2010).contains(&year) && !year.is_multiple_of(1000) {
            let (century, rest) = (self.small(year / 100), year % 100);
            return match rest {
                0 => format!("{century} {}", self.hundreds_word()),
                1..=9 => {
                    let zero = self.written.time.zero.as_deref().unwrap_or_default();
                    format!("{century} {zero} {}", self.small(rest))
                }
                _ => format!("{century} {}", self.small(rest)),
            };
        }
        match &self.written.nineteen_hundred {
            Some(hundreds) if (1901..2000).contains(&year) => {
                format!("{hundreds} {}", self.small(year % 100))
            }
            _ => self.cardinal(year, Before::Nothing),
        }
    }

    fn hundreds_word(&self) -> &str {
        self.hundreds[0].first().and_then(|one| one.rsplit(' ').next()).unwrap_or_default()
    }

    /// First, second, third, …
    pub fn ordinal(&self, number: u64) -> String {
        let listed = usize::try_from(number).ok().and_then(|at| self.ordinals.get(at.checked_sub(1)?));
        listed.cloned().unwrap_or_else(|| {
            let number = self.cardinal(number, Before::Nothing);
            ending(&number, &self.written.ordinal_endings).unwrap_or(number)
        })
    }

    /// Digits one by one; other characters are left out.
    pub fn digits(&self, digits: &str) -> String {
        let names = digits.chars().filter_map(|digit| self.numbers.get(digit.to_digit(10)? as usize));
        names.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// The name of a Latin letter.
    pub fn letter(&self, letter: char) -> Option<&str> {
        let at = u32::from(letter.to_ascii_uppercase()).checked_sub(u32::from('A'))?;
        self.letters.get(usize::try_from(at).ok()?).map(String::as_str)
    }

    /// A number in digits with its decimals; `None` if it is too long for words.
    pub fn decimal(&self, whole: &str, fraction: Option<&str>, before: Before) -> Option<String> {
        let number = whole_number(whole)?;
        Some(match fraction {
            None => self.cardinal(number, before),
            Some(fraction) => format!(
                "{} {} {}",
                self.cardinal(number, Before::Nothing),
                self.written.point,
                self.digits(fraction)
            ),
        })
    }
}

/// The number that these ASCII digits are, if it can be said in words.
pub fn whole_number(digits: &str) -> Option<u64> {
    (digits.len() <= MAX_DIGITS).then(|| digits.parse().ok()).flatten()
}

/// The word with another ending, by the first pair that fits.
fn ending(word: &str, pairs: &[(String, String)]) -> Option<String> {
    pairs.iter().find_map(|(drop, add)| word.strip_suffix(drop).map(|stem| format!("{stem}{add}")))
}
