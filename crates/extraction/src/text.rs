//! Characters: encodings, space, and text without a format.

use domain::invisible::is_invisible;
use domain::ports::Unreadable;

use crate::draft::Draft;

/// The characters of a text file: UTF-8, or UTF-16 that begins with a byte order mark.
///
/// # Errors
/// It is in another encoding, or no text.
pub fn decode(bytes: &[u8]) -> Result<String, Unreadable> {
    let text = match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, mark)) => encoding
            .decode_without_bom_handling_and_without_replacement(&bytes[mark..])
            .map(std::borrow::Cow::into_owned),
        None => std::str::from_utf8(bytes).ok().map(str::to_owned),
    };
    let text = text.ok_or_else(|| {
        Unreadable::Damaged("its characters are not UTF-8, or UTF-16 with a byte order mark".into())
    })?;
    if text.contains('\0') {
        return Err(Unreadable::Unsupported("a binary file".into()));
    }
    Ok(text)
}

/// Removes control characters, and collapses spaces. Joiners between letters of Indian scripts stay.
pub fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(4096));
    let mut space = false;
    for character in text.chars() {
        if character.is_whitespace() {
            space = !out.is_empty();
        } else if !unseen(character) {
            if std::mem::take(&mut space) {
                out.push(' ');
            }
            out.push(character);
        }
    }
    out
}

/// Invisible characters: controls, those that are invisible by definition (Default_Ignorable_Code_Point), and
/// non-characters. Joiners are not among them.
fn unseen(character: char) -> bool {
    const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];
    character.is_control()
        || (is_invisible(character) && !JOINERS.contains(&character))
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffc}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether a line is an item of a list: it begins with a bullet or a number.
pub fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let mut characters = line.chars();
    match characters.next() {
        Some('•' | '◦' | '▪' | '‣' | '●' | '○' | '■') => true,
        Some('-' | '*' | '–' | '—' | '+') => characters.next().is_some_and(char::is_whitespace),
        Some(digit) if digit.is_numeric() => {
            let rest = line.trim_start_matches(char::is_numeric);
            let number = line.len() - rest.len();
            let mut rest = rest.chars();
            number <= 12
                && rest.next().is_some_and(|after| matches!(after, '.' | ')'))
                && rest.next().is_some_and(char::is_whitespace)
        }
        _ => false,
    }
}

/// Parses text without a format: empty lines separate paragraphs; an item of a list begins one.
///
/// # Errors
/// It is beyond the limits of a document.
pub fn read(text: &str, draft: &mut Draft) -> Result<(), Unreadable> {
    let mut paragraph = String::new();
    for line in text.lines() {
        if line.trim().is_empty() || is_item(line) {
            draft.paragraph(&paragraph)?;
            paragraph.clear();
        }
        paragraph.push_str(line);
        paragraph.push('\n');
    }
    draft.paragraph(&paragraph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_read_or_refused() {
        assert_eq!(decode("नमस्ते".as_bytes()).as_deref(), Ok("नमस्ते"));
        assert_eq!(decode(b"\xEF\xBB\xBFa").as_deref(), Ok("a"));
        let utf16: Vec<u8> =
            [0xFEFF].into_iter().chain("वापसी".encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&utf16).as_deref(), Ok("वापसी"));
        let reversed: Vec<u8> =
            [0xFEFF].into_iter().chain("refund".encode_utf16()).flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&reversed).as_deref(), Ok("refund"));
        assert!(decode(b"caf\xE9 au lait").is_err_and(|why| why.to_string().contains("UTF-8")));
        assert!(decode(b"\xFF\xFEa\xD8").is_err(), "half a surrogate pair");
        assert!(decode(b"a\0b").is_err_and(|why| why.to_string().contains("binary")));
    }

    #[test]
    fn space_is_one_space_and_joiners_stay() {
        assert_eq!(tidy("  a \u{a0}\n b\u{7} "), "a b");
        assert_eq!(tidy("क्\u{200d}ष"), "क्\u{200d}ष");
        assert_eq!(tidy("de\u{ad}livery"), "delivery");
        assert_eq!(tidy("2\u{fe0e} d\u{fe0d}a\u{2060}y\u{e0061}s\u{3164}\u{34f}"), "2 days");
    }

    #[test]
    fn paragraphs_and_items() {
        let mut draft = Draft::default();
        read("Returns\nwithin 30 days.\n\nSteps:\n1. Pack it\n   well\n2. Send it\n- not -5\n", &mut draft)
            .unwrap();
        let blocks: Vec<String> = draft.finish().blocks.into_iter().map(|block| block.text).collect();
        assert_eq!(
            blocks,
            ["Returns within 30 days.", "Steps:", "1. Pack it well", "2. Send it", "- not -5"]
        );
    }

    #[test]
    fn a_number_in_a_sentence_is_no_item() {
        for (line, item) in [
            ("1. Pack", true),
            ("12) Send", true),
            ("१. पैक करें", true),
            ("• Send", true),
            ("2024 was", false),
            ("-5 degrees", false),
            ("3.5 kg", false),
            ("", false),
        ] {
            assert_eq!(is_item(line), item, "{line}");
        }
    }
}
