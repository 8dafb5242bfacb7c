use std::collections::BTreeMap;

use proptest::prelude::*;

use super::kinds::{is_aadhaar, is_card};
use super::*;
use crate::language::table::{SOURCES, Written};

const SAYINGS: &str = include_str!("sayings.txt");

/// Numbers that are as random as they are the same in every run.
struct Draw(u64);

impl Draw {
    fn digit(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u8::try_from((self.0 >> 33) % 10).unwrap()
    }

    fn digits(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(b'0' + self.digit())).collect()
    }

    /// Digits with a last one that fits.
    fn checked(&mut self, begin: &str, length: usize, fits: fn(&str) -> bool) -> String {
        let most = format!("{begin}{}", self.digits(length - 1 - begin.len()));
        (0..10).map(|last| format!("{most}{last}")).find(|digits| fits(digits)).unwrap()
    }

    fn number(&mut self, kind: Sensitive) -> String {
        match kind {
            Sensitive::Card => {
                let begin = ["4", "51", "6521", "81"][usize::from(self.digit() % 4)];
                self.checked(begin, 16, is_card)
            }
            Sensitive::Cvv => self.digits(3),
            Sensitive::Otp => {
                let length = if self.digit() < 5 { 4 } else { 6 };
                self.digits(length)
            }
            Sensitive::Aadhaar => self.checked("3", 12, is_aadhaar),
            Sensitive::Pan => {
                let letters: String = (0..5).map(|_| char::from(b'A' + self.digit() * 2)).collect();
                format!("{letters}{}F", self.digits(4))
            }
            Sensitive::Account => {
                let length = [11, 14, 9][usize::from(self.digit() % 3)];
                format!("5{}", self.digits(length - 1))
            }
        }
    }
}

/// The words of the digits 0 to 9 in a language, in its own or in Latin letters.
fn words(code: &str, latin: bool) -> Vec<String> {
    let source = SOURCES.iter().find(|source| source.0 == code).unwrap().1;
    let written: Written = toml::from_str(source).unwrap();
    (0..10)
        .map(|digit| {
            let words = &written.words[&digit.to_string()];
            let fits = |word: &&str| word.is_ascii() == latin;
            words
                .split_whitespace()
                .find(fits)
                .or_else(|| words.split_whitespace().next())
                .unwrap()
                .to_owned()
        })
        .collect()
}

/// The ways in which people say and recognisers write a number.
fn ways(number: &str, code: &str) -> Vec<String> {
    let grouped = |size: usize, by: &str| {
        let letters: Vec<char> = number.chars().collect();
        letters.chunks(size).map(|chunk| chunk.iter().collect::<String>()).collect::<Vec<_>>().join(by)
    };
    if number.ends_with('F') {
        let spelled = |words: &[String], letter: fn(char) -> String| {
            let one = |sign: char| {
                sign.to_digit(10).map_or_else(|| letter(sign), |digit| words[digit as usize].clone())
            };
            number.chars().map(one).collect::<Vec<_>>().join(" ")
        };
        let native: Vec<String> = words(code, false);
        return vec![
            number.to_owned(),
            number.to_lowercase(),
            grouped(1, " "),
            format!("{} {} {}", &number[..5], &number[5..9], &number[9..]),
            spelled(&native, |letter| letter.to_string()),
            spelled(&words(code, true), |letter| letter.to_lowercase().to_string()),
            spelled(&native, hindi_letter),
        ];
    }
    let say = |words: &[String]| {
        let digits = number.bytes().map(|byte| words[usize::from(byte - b'0')].clone());
        digits.collect::<Vec<_>>().join(" ")
    };
    let mut ways =
        vec![number.to_owned(), grouped(1, " "), say(&words(code, false)), say(&words(code, true))];
    if number.len() > 8 {
        ways.extend([grouped(4, " "), grouped(4, "-"), grouped(4, ", "), doubled(number)]);
    }
    ways
}

/// What a letter is called in Hindi.
fn hindi_letter(letter: char) -> String {
    let names = "ए बी सी डी ई एफ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड";
    names.split(' ').nth(usize::from(letter as u8 - b'A')).unwrap().to_owned()
}

/// English, digit by digit, with `double` and `triple`.
fn doubled(number: &str) -> String {
    let names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let digits: Vec<u8> = number.bytes().map(|byte| byte - b'0').collect();
    let rows = digits.chunk_by(|one, next| one == next);
    let say = |row: &[u8]| {
        let name = names[usize::from(row[0])];
        let mut said = vec![format!("triple {name}"); row.len() / 3];
        said.extend(match row.len() % 3 {
            2 => Some(format!("double {name}")),
            1 => Some(name.to_owned()),
            _ => None,
        });
        said.join(" ")
    };
    rows.map(say).collect::<Vec<_>>().join(" ")
}

fn kind(word: &str) -> Option<Sensitive> {
    Sensitive::ALL.into_iter().find(|kind| kind.mark() == format!("[{word}]"))
}

fn sayings() -> Vec<(&'static str, &'static str, &'static str)> {
    let lines = SAYINGS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut parts = line.splitn(3, " | ");
            (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap())
        })
        .collect()
}

#[test]
fn what_must_not_be_kept_is_found_in_every_language() {
    let mut draw = Draw(7);
    let mut counts: BTreeMap<(&str, &str), (u32, u32)> = BTreeMap::new();
    let mut missed = Vec::new();
    for (code, word, saying) in sayings().into_iter().filter(|(_, word, _)| *word != "-") {
        let kind = kind(word).unwrap();
        for _ in 0..4 {
            let number = draw.number(kind);
            for way in ways(&number, code) {
                let said = saying.replace("{}", &way);
                let expected = saying.replace("{}", kind.mark());
                let count = counts.entry((code, word)).or_default();
                count.1 += 1;
                let redacted = text(&said, code);
                if redacted == expected {
                    count.0 += 1;
                } else {
                    missed.push(format!("{code} {word}: {said} -> {redacted}"));
                }
            }
        }
    }
    for code in crate::speech::LANGUAGES {
        for kind in Sensitive::ALL {
            let word = kind.mark().trim_matches(['[', ']']);
            let (found, of) = counts[&(code, word)];
            assert!(of >= 20, "{code} {word}: {of}");
            assert!(found * 100 >= of * 98, "{code} {word}: {found} of {of}\n{}", missed.join("\n"));
        }
    }
}

#[test]
fn other_numbers_stay() {
    let mut draw = Draw(11);
    let (mut total, mut wrong) = (0, Vec::new());
    for (code, _, saying) in sayings().into_iter().filter(|(_, word, _)| *word == "-") {
        for _ in 0..4 {
            let mut said = saying.to_owned();
            while let Some(at) = said.find('{') {
                let end = said[at..].find('}').unwrap() + at;
                let length: usize = said[at + 1..end].parse().unwrap();
                said.replace_range(at..=end, &draw.digits(length));
            }
            total += 1;
            let redacted = text(&said, code);
            if redacted != said {
                wrong.push(format!("{code}: {said} -> {redacted}"));
            }
        }
    }
    assert!(total >= 400, "{total}");
    assert!(wrong.len() * 100 <= total, "{} of {total}\n{}", wrong.len(), wrong.join("\n"));
}

/// A conversation: `A:` is the agent's turn, `C:` the customer's.
fn held(turns: &[&str], language: &str) -> Vec<String> {
    let turns: Vec<(Role, &str)> = turns
        .iter()
        .map(|turn| match turn.split_once(": ").unwrap() {
            ("A", text) => (Role::Agent, text),
            (_, text) => (Role::Customer, text),
        })
        .collect();
    let found = find(&turns, language);
    let texts = turns.iter().zip(found);
    texts.map(|((_, text), spans)| replaced(text, &spans).unwrap_or_else(|| (*text).to_owned())).collect()
}

#[test]
fn what_was_asked_for_tells_what_an_answer_is() {
    for (language, turns, last) in [
        ("en", vec!["A: Please tell me the OTP.", "C: 482913"], "[otp]"),
        (
            "en",
            vec!["A: Please tell me the OTP.", "C: one minute", "A: sure", "C: it is four eight two nine"],
            "it is [otp]",
        ),
        ("en", vec!["A: What is the CVV?", "C: 123"], "[cvv]"),
        ("en", vec!["A: And your account number?", "C: 50100 2345 678"], "[account]"),
        ("en", vec!["A: Your account number, please.", "C: 9876543210"], "[account]"),
        ("hi", vec!["A: ओटीपी बताइए", "C: चार आठ दो नौ एक तीन"], "[otp]"),
        ("hi", vec!["A: apna OTP batayein", "C: chaar aath do nau"], "[otp]"),
        ("ta", vec!["A: ஓடிபி சொல்லுங்க", "C: நாலு எட்டு ரெண்டு ஒன்பது"], "[otp]"),
        ("en", vec!["A: What is your phone number?", "C: 98765 43210"], "98765 43210"),
        ("en", vec!["A: What is your PIN code?", "C: 560001"], "560001"),
        ("en", vec!["A: The OTP?", "C: 482913", "A: Thanks. What amount will you pay?", "C: 5000"], "5000"),
        ("en", vec!["A: The OTP?", "C: call me tomorrow at 10 30"], "call me tomorrow at 10 30"),
        ("en", vec!["A: Please tell me the OTP.", "C: my mobile is 9876543210"], "my mobile is 9876543210"),
        ("en", vec!["A: How many rupees?", "C: four thousand five hundred"], "four thousand five hundred"),
        ("en", vec!["A: Tell me your PAN.", "C: abcde 1234 f"], "[pan]"),
        (
            "en",
            vec![
                "A: Your PAN?",
                "C: a for apple b for ball c for cat d for dog e for egg one two three four f for fish",
            ],
            "[pan]",
        ),
    ] {
        assert_eq!(held(&turns, language).last().unwrap(), last, "{turns:?}");
    }
}

#[test]
fn a_number_may_be_said_in_several_turns() {
    for (language, turns, expected) in [
        ("en", vec!["C: 4111 1111", "C: 1111 1111"], vec!["[card]", "[card]"]),
        (
            "en",
            vec![
                "C: my card is four one one one",
                "A: yes",
                "C: double one double one",
                "A: go on",
                "C: triple one one",
                "A: okay",
                "C: and 1111",
            ],
            vec!["my card is [card]", "yes", "[card]", "go on", "[card]", "okay", "and [card]"],
        ),
        (
            "hi",
            vec![
                "A: आधार नंबर?",
                "C: दो तीन चार एक",
                "A: जी",
                "C: दो तीन चार एक",
                "A: जी",
                "C: दो तीन चार छह",
            ],
            vec!["आधार नंबर?", "[aadhaar]", "जी", "[aadhaar]", "जी", "[aadhaar]"],
        ),
        ("en", vec!["A: The OTP?", "C: 482", "A: yes", "C: 913"], vec!["The OTP?", "[otp]", "yes", "[otp]"]),
        (
            "en",
            vec!["A: The OTP?", "C: 482913", "A: Sorry, again?", "C: 482913"],
            vec!["The OTP?", "[otp]", "Sorry, again?", "[otp]"],
        ),
        ("en", vec!["C: my PAN is ABCDE", "A: yes", "C: 1234 F"], vec!["my PAN is [pan]", "yes", "[pan]"]),
        (
            "en",
            vec!["A: Your phone?", "C: 98765 43210", "A: And the PIN code?", "C: 560001"],
            vec!["Your phone?", "98765 43210", "And the PIN code?", "560001"],
        ),
        // Two people: no number together.
        ("en", vec!["A: 4111 1111", "C: 1111 1111"], vec!["4111 1111", "1111 1111"]),
        (
            "en",
            vec!["C: card 4111 1111 1111 1111 12 26 and CVV 123"],
            vec!["card [card] 12 26 and CVV [cvv]"],
        ),
    ] {
        assert_eq!(held(&turns, language), expected);
    }
}

#[test]
fn the_agents_words_are_read_too_and_marks_stay() {
    assert_eq!(held(&["A: Your OTP is 482913."], "en"), ["Your OTP is [otp]."]);
    assert_eq!(text("[otp] 4500 is the amount", "en"), "[otp] 4500 is the amount");
    assert_eq!(text("OTP [otp]", "en"), "OTP [otp]");
    assert_eq!(text("", "en"), "");
}

proptest! {
    #[test]
    fn any_text_keeps_what_is_beside_the_spans(
        texts in prop::collection::vec(("\\PC{0,60}|([a-e0-9 ,.:-]|otp |card |double |चार |₹){0,40}", any::<bool>()), 0..6),
        code in prop::sample::select(crate::speech::LANGUAGES.to_vec()),
    ) {
        let turns: Vec<(Role, &str)> = texts
            .iter()
            .map(|(text, agent)| (if *agent { Role::Agent } else { Role::Customer }, text.as_str()))
            .collect();
        for ((_, text), spans) in turns.iter().zip(find(&turns, code)) {
            let mut at = 0;
            for span in &spans {
                prop_assert!(at <= span.start && span.start < span.end && span.end <= text.len());
                prop_assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
                at = span.end;
            }
            prop_assert_eq!(replaced(text, &spans).is_some(), !spans.is_empty());
        }
    }
}
