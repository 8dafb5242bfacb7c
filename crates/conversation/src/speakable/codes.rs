//! Telephone numbers, ids, e-mail and web addresses, acronyms and abbreviations.

use super::figures::as_written;
use super::spell::{Before, whole_number};
use super::table::Speech;
use super::text::{Text, in_word, is_native};

/// Longest id, and longest e-mail or web address, in characters.
const LONGEST_ID: usize = 40;
const LONGEST_ADDRESS: usize = 200;
/// Ends of web addresses, without which a word with a full stop inside is none.
const DOMAINS: [&str; 16] = [
    "com", "in", "org", "net", "co", "io", "ai", "app", "gov", "edu", "info", "biz", "me", "shop", "store",
    "bank",
];
/// Words in capitals of which each letter is said.
const LETTERED: &str = " EMI OTP UPI ATM KYC CVV SMS GST IFSC RTGS IMPS SBI ICICI LIC ID URL FAQ USA UK \
    CEO GPS IVR RBI NRI SIP TDS MRP COD LED VIP ECS POS QR DOB HR EPF PF EPFO IRCTC PNR ETA API AI NBFC NOC CIN \
    FD RD TV AC USSD NGO EV SUV UAN IRDAI ";

// --- digits

/// Digits one by one, long ones in groups.
pub fn by_digit(speech: &Speech, digits: &str) -> String {
    let sizes: Vec<usize> = match digits.len() {
        0..=7 => vec![],
        10 => vec![5],
        11 if digits.starts_with('0') => vec![1, 5],
        12 if digits.starts_with("91") => vec![2, 5],
        length => vec![4; (length - 1) / 4],
    };
    let (mut rest, mut parts) = (digits, Vec::new());
    for size in sizes {
        let (part, after) = rest.split_at(size);
        parts.push(speech.digits(part));
        rest = after;
    }
    parts.push(speech.digits(rest));
    parts.join(", ")
}

/// A telephone number, or another number in groups of digits, that begins here.
pub fn phone(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    let plus = text.at(at) == Some('+');
    let (mut end, mut groups) = (at + usize::from(plus), Vec::new());
    while groups.len() < 8 {
        let next = text.digits_end(end);
        if next == end || next - end > 15 {
            break;
        }
        groups.push(text.slice(end, next));
        end = next;
        if !(matches!(text.at(end), Some(' ' | '-')) && text.is_digit(end + 1)) {
            break;
        }
        end += 1;
    }
    let goes_on = text.is_digit(end)
        || text.at(end).is_some_and(|next| (in_word(next) && !is_native(next)) || "%".contains(next))
        || (text.at(end).is_some_and(|next| ".,/:-".contains(next)) && text.is_digit(end + 1));
    let digits = groups.concat();
    let each_four = groups.len() > 2 && groups.iter().all(|group| group.len() == 4);
    let fits = match digits.len() {
        8..=15 if plus => true,
        10 => groups.len() > 1 && digits.starts_with(['6', '7', '8', '9']) || digits.starts_with("18"),
        11 => digits.starts_with('0') || (groups.len() > 1 && digits.starts_with("18")),
        12 => each_four || (groups.len() > 1 && digits.starts_with("91") && groups[0] == "91"),
        16 => each_four,
        _ => false,
    } && groups.iter().all(|group| group.len() > 1 || group == "0");
    if !fits || goes_on {
        return None;
    }
    let said = match groups.as_slice() {
        [one] => by_digit(speech, one),
        groups => {
            let parts = groups.iter().map(|group| match group.len() {
                10 => by_digit(speech, group),
                _ => speech.digits(group),
            });
            parts.collect::<Vec<_>>().join(", ")
        }
    };
    let sign = if plus { format!("{} ", speech.written.plus) } else { String::new() };
    Some((end - at, format!("{sign}{said}")))
}

// --- ids

/// An id of capitals and digits, letter by letter; a word with digits (`iPhone15`) part by part.
pub fn id(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    let plain = |letter: char| letter.is_ascii_alphanumeric();
    let mut end = at;
    loop {
        end = text.end(end, plain);
        let joined =
            text.at(end).is_some_and(|sign| "-/_".contains(sign)) && text.at(end + 1).is_some_and(plain);
        if !joined || end - at > LONGEST_ID {
            break;
        }
        end += 1;
    }
    let id = text.slice(at, end);
    let has = |of: fn(&char) -> bool| id.chars().any(|letter| of(&letter));
    if end - at > LONGEST_ID || !has(char::is_ascii_digit) || !has(char::is_ascii_alphabetic) {
        return None;
    }
    if text.at(end).is_some_and(|next| ".,:".contains(next)) && text.is_digit(end + 1) {
        let (more, _) = as_written(text, end);
        return Some((end + more - at, text.slice(at, end + more)));
    }
    let parts = parts(&id);
    let letters_of = |part: &str| part.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let figures = parts.iter().filter(|part| part.starts_with(|letter: char| letter.is_ascii_digit()));
    let small = figures.clone().all(|part| part.len() <= 2 && !part.starts_with('0'));
    let times = parts.iter().any(|part| matches!(part.as_str(), "x" | "X"));
    // `4G`, `2BHK`, `24x7`, `iPhone15`, `COVID-19`: the number is one.
    let one = small
        && (figures.count() == 1 || times)
        && parts.iter().all(|part| !letters_of(part) || part.len() != 2);
    let said = parts.iter().filter_map(|part| {
        let word = (part.len() > 2 && part.contains(|letter: char| letter.is_ascii_lowercase()))
            || (one && part.len() > 3 && part.contains(['A', 'E', 'I', 'O', 'U']));
        Some(match part.chars().next()? {
            '/' => speech.written.slash.clone(),
            '_' => speech.written.underscore.clone(),
            '-' if one => return None,
            '-' => ",".to_owned(),
            first if first.is_ascii_digit() && one => speech.cardinal(whole_number(part)?, Before::Nothing),
            first if first.is_ascii_digit() => by_digit(speech, part),
            _ if word => part.clone(),
            _ => lettered(speech, part),
        })
    });
    Some((end - at, said.collect::<Vec<_>>().join(" ").replace(" ,", ",")))
}

/// A text of ASCII in runs of letters, runs of digits and single signs.
fn parts(text: &str) -> Vec<String> {
    let kind = |letter: char| match letter {
        letter if letter.is_ascii_digit() => 0,
        letter if letter.is_ascii_alphabetic() => 1,
        _ => 2,
    };
    let mut parts: Vec<String> = Vec::new();
    for letter in text.chars() {
        match parts.last_mut() {
            Some(part) if kind(letter) < 2 && part.ends_with(|last| kind(last) == kind(letter)) => {
                part.push(letter);
            }
            _ => parts.push(letter.to_string()),
        }
    }
    parts
}

fn lettered(speech: &Speech, letters: &str) -> String {
    letters.chars().filter_map(|letter| speech.letter(letter)).collect::<Vec<_>>().join(" ")
}

// --- addresses

/// An e-mail or web address that begins here.
pub fn address(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    if !text.at(at)?.is_ascii_alphanumeric() {
        return None;
    }
    email(text, at)
        .or_else(|| web(text, at))
        .map(|(from, end)| (end - at, in_pieces(speech, &text.slice(from, end))))
}

fn email(text: &Text, at: usize) -> Option<(usize, usize)> {
    let limit = at + LONGEST_ADDRESS;
    let local = text.end(at, |letter| letter.is_ascii_alphanumeric() || "._%+-".contains(letter));
    if text.at(local) != Some('@') || local > limit {
        return None;
    }
    domain(text, local + 1).filter(|end| *end <= limit).map(|end| (at, end))
}

/// Where the domain name that begins here ends: at least two names, the last one of letters.
fn domain(text: &Text, at: usize) -> Option<usize> {
    let mut end = text.end(at, |letter| letter.is_ascii_alphanumeric() || ".-".contains(letter));
    while end > at && text.before(end).is_some_and(|last| ".-".contains(last)) {
        end -= 1;
    }
    if end - at > LONGEST_ADDRESS {
        return None;
    }
    let name = text.slice(at, end);
    let (first, last) = name.rsplit_once('.')?;
    let whole = last.len() > 1 && last.bytes().all(|letter| letter.is_ascii_alphabetic());
    (whole && !first.is_empty() && !name.contains("..")).then_some(end)
}

fn web(text: &Text, at: usize) -> Option<(usize, usize)> {
    let scheme = ["https://", "http://"].into_iter().find_map(|scheme| text.one_of(at, [scheme]));
    let start = scheme.unwrap_or(at);
    let end = domain(text, start)?;
    let name = text.slice(start, end);
    let known = name.rsplit('.').next().is_some_and(|last| DOMAINS.contains(&last));
    if scheme.is_none() && !name.starts_with("www.") && !known {
        return None;
    }
    if text.at(end) != Some('/') {
        return Some((start, end));
    }
    let mut path = text.end(end, |letter| letter.is_ascii_alphanumeric() || "/._-".contains(letter));
    while text.before(path).is_some_and(|last| "/.-_".contains(last)) {
        path -= 1;
    }
    (path - at <= LONGEST_ADDRESS).then_some((start, path.max(end)))
}

fn in_pieces(speech: &Speech, address: &str) -> String {
    let words = &speech.written;
    let pieces = parts(address);
    let said = pieces.iter().map(|part| match part.as_str() {
        "." => words.dot.clone(),
        "@" => words.at.clone(),
        "-" => words.dash.clone(),
        "_" => words.underscore.clone(),
        "/" => words.slash.clone(),
        "+" => words.plus.clone(),
        "%" => words.percent.clone(),
        "com" => words.com.clone(),
        "org" => words.org.clone(),
        "co" => words.co.clone(),
        "net" => words.net.clone(),
        "gmail" => words.gmail.clone(),
        digits if digits.starts_with(|letter: char| letter.is_ascii_digit()) => by_digit(speech, digits),
        letters if !letters.contains(|letter| "aeiouyAEIOUY".contains(letter)) || letters.len() == 1 => {
            lettered(speech, letters)
        }
        letters => letters.to_owned(),
    });
    said.collect::<Vec<_>>().join(" ")
}

// --- words

/// An abbreviation or an acronym that begins here.
pub fn word(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    let first = text.at(at)?;
    if is_native(first) {
        return native(text, at, speech);
    }
    if !first.is_ascii_alphabetic() {
        return None;
    }
    let short = &speech.written.abbreviations;
    if let Some(end) = text.one_of(at, ["a/c"]) {
        return Some((end - at, short["a/c"].clone()));
    }
    let end = text.end(at, |letter| letter.is_ascii_alphabetic());
    if end - at > 8 || text.at(end).is_some_and(in_word) {
        return None;
    }
    let written = text.slice(at, end);
    let lower = written.to_lowercase();
    let stop = text.at(end) == Some('.');
    let next = text.past_spaces(end + usize::from(stop), 1);
    let spaced = next > end + usize::from(stop);
    let name = spaced && text.at(next).is_some_and(|next| next.is_uppercase() || is_native(next));
    if let Some(full) = short.get(&lower) {
        let full = match lower.as_str() {
            "no" => (stop && text.is_digit(text.past_spaces(end + 1, 2))).then_some(full),
            "st" if stop && name => short.get("saint"),
            "st" | "saint" => (lower == "st" && stop).then_some(full),
            "dr" | "mr" | "mrs" | "ms" | "smt" | "prof" => {
                (first.is_uppercase() && (stop || name)).then_some(full)
            }
            _ => stop.then_some(full),
        };
        if let Some(full) = full {
            // The full stop at the end of a text ends its sentence.
            let more = stop && text.at(end + 1).is_some();
            return Some((end + usize::from(more) - at, full.clone()));
        }
    }
    if !written.chars().all(|letter| letter.is_ascii_uppercase()) || written.len() < 2 {
        return None;
    }
    if let Some(said) = speech.written.acronyms.get(&written) {
        return Some((end - at, said.clone()));
    }
    let consonants = !written.contains(['A', 'E', 'I', 'O', 'U', 'Y']);
    let known = LETTERED.contains(&format!(" {written} "));
    (known || consonants).then(|| (end - at, lettered(speech, &written)))
}

/// An abbreviation in an Indian script: `डॉ.`, `नं.`
fn native(text: &Text, at: usize, speech: &Speech) -> Option<(usize, String)> {
    let end = text.word_end(at);
    if end - at > 6 {
        return None;
    }
    let full = speech.written.abbreviations.get(&text.slice(at, end))?;
    let stop = text.at(end) == Some('.') && text.at(end + 1).is_some();
    let doctor = speech.written.abbreviations.get("dr") == Some(full);
    (stop || (doctor && text.at(end).is_some_and(char::is_whitespace)))
        .then(|| (end + usize::from(stop) - at, full.clone()))
}
