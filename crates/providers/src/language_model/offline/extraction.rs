//! Values out of a conversation: the answer to the question about a field, or what looks like it wherever it
//! was said.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use domain::conversation::{Field, FieldKind, Role, Turn, capture};
use domain::speech::{Intent, fold, intent, sentences, yes_or_no};
use serde_json::{Map, Number, Value};

use super::retrieval::{fold_all, stems};

/// Most fields that are looked for (docs/contract/agents.md#fields).
const MOST: usize = 50;

/// The values of the fields of a schema, a list of `{key, label, type, choices?}`; what the flow captured
/// stays. Answers are understood in the conversation's `language`.
pub(super) fn values(
    schema: &Value,
    transcript: &[Turn],
    captured: &Map<String, Value>,
    language: &str,
) -> Map<String, Value> {
    let mut found = captured.clone();
    for field in schema.as_array().into_iter().flatten().take(MOST) {
        let Some(wanted) = Wanted::of(field, language) else { continue };
        if !found.contains_key(&wanted.key)
            && let Some(value) = wanted.find(transcript)
        {
            found.insert(wanted.key, value);
        }
    }
    found
}

/// What kind of value the words of a field ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Email,
    Phone,
    Pincode,
    Time,
    Name,
    Number,
    Boolean,
    Choice,
    Text,
}

struct Wanted<'a> {
    language: &'a str,
    key: String,
    /// Telling words of key and label.
    words: Vec<String>,
    shape: Shape,
    choices: Vec<String>,
}

impl<'a> Wanted<'a> {
    fn of(field: &Value, language: &'a str) -> Option<Self> {
        let text = |name: &str| field.get(name).and_then(Value::as_str).unwrap_or_default();
        let key = text("key").to_owned();
        let label = format!("{} {} {}", spaced(&key), text("label"), text("description"));
        let lower = label.to_lowercase();
        let is = |any: &[&str]| any.iter().any(|word| lower.contains(word));
        let shape = match text("type") {
            "boolean" => Shape::Boolean,
            "choice" => Shape::Choice,
            "date" => Shape::Time,
            _ if is(&["email", "e-mail"]) => Shape::Email,
            _ if is(&["pincode", "pin code", "postal"]) => Shape::Pincode,
            _ if is(&["phone", "mobile", "contact number", "whatsapp"]) => Shape::Phone,
            "number" => Shape::Number,
            _ if is(&["date", "time", "when", "day", "callback", "appointment", "slot"]) => Shape::Time,
            _ if is(&["name", "नाम"]) => Shape::Name,
            _ => Shape::Text,
        };
        let choices = field.get("choices").or_else(|| field.get("options")).and_then(Value::as_array);
        let choices = choices.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        (!key.is_empty()).then(|| Self { language, words: stems(&label), key, shape, choices })
    }

    /// The newest answer to a question about it, else what was said of it unasked.
    fn find(&self, transcript: &[Turn]) -> Option<Value> {
        let answers = transcript
            .windows(2)
            .rev()
            .filter(|pair| pair[0].role == Role::Agent && pair[1].role == Role::Customer);
        let asked = answers
            .filter(|pair| self.asked_by(&pair[0].text))
            .find_map(|pair| self.value(&pair[1].text, true));
        asked.or_else(|| {
            transcript
                .iter()
                .rev()
                .filter(|turn| turn.role == Role::Customer)
                .find_map(|turn| self.unasked(&turn.text))
        })
    }

    /// Whether the last sentence of an agent's turn is about this field.
    fn asked_by(&self, turn: &str) -> bool {
        let Some(question) = sentences(turn).last() else { return false };
        let words = stems(&question);
        self.words.iter().any(|word| words.contains(word))
    }

    fn unasked(&self, said: &str) -> Option<Value> {
        let words = stems(said);
        let named = self.words.iter().any(|word| words.contains(word));
        match self.shape {
            Shape::Email | Shape::Phone | Shape::Pincode | Shape::Choice => self.value(said, false),
            Shape::Time => {
                (named || intent(said) == Some(Intent::CallLater)).then(|| self.value(said, false)).flatten()
            }
            Shape::Boolean if self.words.iter().any(|word| word.starts_with("interest")) => {
                match intent(said) {
                    Some(Intent::Interested) => Some(Value::Bool(true)),
                    Some(Intent::NotInterested) => Some(Value::Bool(false)),
                    _ => None,
                }
            }
            Shape::Number | Shape::Name => named.then(|| self.value(said, false)).flatten(),
            Shape::Boolean | Shape::Text => None,
        }
    }

    fn value(&self, said: &str, asked: bool) -> Option<Value> {
        let plain = |kind: FieldKind| {
            capture(
                &Field { key: self.key.clone(), kind, choices: self.choices.clone(), ..Field::default() },
                said,
                self.language,
                None,
            )
        };
        match self.shape {
            Shape::Email => email(said).map(Value::String),
            Shape::Phone => digits(said, 10, 13, self.language).map(Value::String),
            Shape::Pincode => digits(said, 6, 6, self.language).map(Value::String),
            Shape::Time => time(said)
                .or_else(|| {
                    asked.then(|| said.trim().to_owned()).filter(|_| yes_or_no(said, self.language).is_none())
                })
                .filter(|text| !text.is_empty())
                .map(Value::String),
            Shape::Number => plain(FieldKind::Number).map(numeric),
            Shape::Boolean => yes_or_no(said, self.language).map(Value::Bool),
            Shape::Choice => plain(FieldKind::Choice),
            Shape::Name => name(said, asked, self.language).map(Value::String),
            Shape::Text => plain(FieldKind::Text).filter(|_| {
                !matches!(intent(said), Some(Intent::Repeat | Intent::WhoIsThis | Intent::CallLater))
            }),
        }
    }
}

/// `preferredTime` and `preferred_time` as words.
fn spaced(key: &str) -> String {
    let mut words = String::new();
    for letter in key.chars() {
        if letter.is_uppercase() {
            words.push(' ');
        }
        words.push(if letter == '_' || letter == '-' { ' ' } else { letter });
    }
    words
}

/// Digits as a number, unless leading zeros or their count say that they are no quantity.
fn numeric(value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    let quantity = text.len() <= 15 && (!text.starts_with('0') || text.starts_with("0.") || text == "0");
    let number = text
        .parse::<i64>()
        .map(Number::from)
        .ok()
        .or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64));
    number.filter(|_| quantity).map_or(value, Value::Number)
}

/// `a@b.in`, or `a at b dot in` as it is spoken.
fn email(said: &str) -> Option<String> {
    let written = said
        .to_lowercase()
        .replace(" at the rate ", "@")
        .replace(" at ", "@")
        .replace(" dot ", ".")
        .replace(" underscore ", "_");
    written
        .split(|letter: char| letter.is_whitespace() || letter == ',')
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()))
        .find(|word| is_email(word))
        .map(str::to_owned)
}

fn is_email(word: &str) -> bool {
    word.split_once('@').is_some_and(|(who, at)| {
        !who.is_empty()
            && at.split('.').count() >= 2
            && at.split('.').all(|part| {
                !part.is_empty() && part.chars().all(|letter| letter.is_alphanumeric() || letter == '-')
            })
    })
}

/// A run of digits of this length, spaces between them aside, or spoken one by one.
fn digits(said: &str, least: usize, most: usize, language: &str) -> Option<String> {
    let mut runs = vec![String::new()];
    for letter in said.chars() {
        match letter {
            '0'..='9' => runs.last_mut()?.push(letter),
            ' ' | '-' | '+' => {}
            _ => runs.push(String::new()),
        }
    }
    let fits = |run: &String| (least..=most).contains(&run.len());
    runs.into_iter().find(fits).or_else(|| {
        let field = Field { kind: FieldKind::Number, ..Field::default() };
        capture(&field, said, language, None).and_then(|value| value.as_str().map(str::to_owned)).filter(fits)
    })
}

/// `tomorrow at five`, `कल शाम 5 बजे`: kept as it was said, from its first word of time to its last.
fn time(said: &str) -> Option<String> {
    const TIMES: &str = "today tomorrow tonight monday tuesday wednesday thursday friday saturday sunday morning afternoon evening night noon january february march april may june july august september october november december \
        week month am pm o'clock hour hours minutes aaj kal parso subah shaam sham raat dopahar baje आज कल परसों सुबह शाम रात दोपहर बजे सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार \
        আজ কাল সকালে বিকেলে আজকে કાલે સવારે સાંજે ನಾಳೆ ಬೆಳಿಗ್ಗೆ ಸಂಜೆ നാളെ രാവിലെ വൈകിട്ട് उद्या सकाळी संध्याकाळी କାଲି ସକାଳେ ਕੱਲ੍ਹ ਸਵੇਰੇ ਸ਼ਾਮ நாளை நாளைக்கு காலை மாலை రేపు ఉదయం సాయంత్రం";
    const INNER: &str = "at after before by around in the on of next this past half quarter to ko ke baad se को के बाद one two three four five six seven eight nine ten eleven twelve thirty fifteen forty ek do teen char paanch chhe saat aath nau das";
    static TIME_WORDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| fold_all(TIMES));
    static INNER_WORDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| fold_all(INNER));
    let known =
        |list: &BTreeSet<String>, word: &str| fold(word).first().is_some_and(|word| list.contains(word));
    let words: Vec<&str> = said.split_whitespace().collect();
    let is_time = |word: &str| known(&TIME_WORDS, word);
    let inner = |word: &str| known(&INNER_WORDS, word) || word.chars().any(|letter| letter.is_ascii_digit());
    let mut first = words.iter().position(|word| is_time(word))?;
    let mut last = first;
    while first > 0 && inner(words[first - 1]) {
        first -= 1;
    }
    while words.get(last + 1).is_some_and(|word| is_time(word) || inner(word)) {
        last += 1;
    }
    let trimmed = words[first..=last].join(" ");
    let trimmed = trimmed.trim_matches(|letter: char| matches!(letter, '.' | ',' | '?' | '!' | '।'));
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// `my name is Ravi Kumar` is `Ravi Kumar`; a short answer to the question is taken as the name.
fn name(said: &str, asked: bool, language: &str) -> Option<String> {
    let lower = said.to_lowercase();
    let starts = ["my name is ", "this is ", "i am ", "i'm ", "it is ", "it's ", "mera naam ", "मेरा नाम "];
    let rest = starts.iter().find_map(|start| {
        let at = lower.find(start)?;
        (lower.len() == said.len()).then(|| said.get(at + start.len()..)).flatten()
    });
    let rest = rest.or(asked.then_some(said))?;
    let rest = rest
        .split(['.', ',', '?', '!', '।'])
        .next()?
        .trim()
        .trim_end_matches(" hai")
        .trim_end_matches(" है")
        .trim();
    let count = rest.split_whitespace().count();
    let names_nobody =
        yes_or_no(rest, language).is_some() || intent(rest).is_some() || super::turn::is_question(rest);
    ((1..=4).contains(&count) && !names_nobody && !rest.chars().any(|letter| letter.is_ascii_digit()))
        .then(|| rest.to_owned())
}
