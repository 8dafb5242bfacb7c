//! Values of headers that hold an address: `From`, `To`, `Contact`, `Route`, `P-Asserted-Identity`.
//!
//! A quoted string is skipped as a whole, wherever it stands (RFC 3261 section 25.1): its writer chose it, and
//! neither brackets nor separators in it mean anything.

/// A quoted string that never ends.
struct Unclosed;

/// Offset of the first character outside of quoted strings that is wanted.
fn find(text: &str, wanted: impl Fn(char) -> bool) -> Result<Option<usize>, Unclosed> {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter == '"' {
            skip_quoted(&mut letters)?;
        } else if wanted(letter) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Goes on to behind the end of a quoted string. A backslash takes the meaning from what follows it.
fn skip_quoted(letters: &mut impl Iterator<Item = (usize, char)>) -> Result<(), Unclosed> {
    while let Some((_, letter)) = letters.next() {
        match letter {
            '"' => return Ok(()),
            '\\' => drop(letters.next()),
            _ => {}
        }
    }
    Err(Unclosed)
}

/// The address of a value, and what stands behind it.
fn parts(value: &str) -> Option<(&str, &str)> {
    let bracket = find(value, |letter| letter == '<').ok()?;
    // The words of a name have no colon (RFC 3261 section 25.1): what has one before the bracket is an address
    // without brackets.
    let named = bracket.filter(|at| matches!(find(&value[..*at], |letter| letter == ':'), Ok(None)));
    let (address, behind) = match named {
        Some(at) => value[at + 1..].split_once('>')?,
        None => {
            value.split_at(find(value, |letter| matches!(letter, ';' | ',')).ok()?.unwrap_or(value.len()))
        }
    };
    let address = address.trim();
    let readable =
        !address.is_empty() && !address.contains(['<', '>', '"']) && !address.contains(char::is_whitespace);
    readable.then_some((address, behind))
}

/// The values of a list, parted at commas outside of quoted strings and angle brackets.
pub(super) fn list(text: &str) -> Vec<String> {
    let (mut found, mut begin, mut bracket) = (Vec::new(), 0, false);
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            // One that never ends holds the rest.
            '"' if skip_quoted(&mut letters).is_err() => break,
            '<' => bracket = true,
            '>' => bracket = false,
            ',' if !bracket => {
                found.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[begin..]);
    found.into_iter().map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
}

/// The address in a `From`, `To`, `Contact` or `Route` value.
pub(super) fn uri_of(value: &str) -> Option<&str> {
    parts(value).map(|(address, _)| address)
}

/// A parameter behind the address, such as `tag`.
pub(super) fn parameter<'a>(value: &'a str, name: &str) -> Option<&'a str> {
    let (_, mut rest) = parts(value)?;
    loop {
        let end = find(rest, |letter| matches!(letter, ';' | ',')).unwrap_or(None);
        let one = &rest[..end.unwrap_or(rest.len())];
        let (key, value) = one.split_once('=').unwrap_or((one, ""));
        if key.trim().eq_ignore_ascii_case(name) {
            return Some(value.trim().trim_matches('"'));
        }
        // A comma begins the next value of a list.
        rest = end.and_then(|at| rest[at..].strip_prefix(';'))?;
    }
}

/// The user part of an address: what stands before the `@`, without a password or parameters.
pub(super) fn user_of(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_once(':')?;
    if scheme.eq_ignore_ascii_case("tel") {
        return rest.split(';').next().filter(|number| !number.is_empty());
    }
    // A second `@` would leave open which of the two parts is the user.
    let (user, _) = rest.split_once('@').filter(|(_, host)| !host.contains('@'))?;
    user.split([':', ';']).next().filter(|user| !user.is_empty())
}

/// What holds of every name that a caller may choose: it changes neither the address nor the parameters.
pub(super) fn fuzzed(name: &str) {
    let quoted: String = name
        .chars()
        .filter(|letter| !letter.is_control())
        .flat_map(|letter| ['\\', letter].into_iter().skip(usize::from(!matches!(letter, '"' | '\\'))))
        .collect();
    let value = format!("\"{quoted}\" <sip:+919812340001@h;user=phone>;x=\"{quoted}\";tag=a1");
    assert_eq!(uri_of(&value), Some("sip:+919812340001@h;user=phone"), "{value}");
    assert_eq!(parameter(&value, "tag"), Some("a1"), "{value}");
    assert_eq!(list(&format!("{value}, <sip:b@h>")), [value.as_str(), "<sip:b@h>"], "{value}");
    // A value that is malformed is read to its end, and what is taken for an address can be written again.
    for text in [name, quoted.as_str()] {
        if let Some(address) = uri_of(text) {
            assert_eq!(uri_of(&format!("<{address}>")), Some(address), "{text}");
        }
        drop((parameter(text, "tag"), user_of(text), list(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_of_addresses() {
        let value = "\"Us, <you>\" <sip:+9198;x=y@h:5070;lr>;tag=ab;q=\"0.5\"";
        assert_eq!(parameter(value, "TAG"), Some("ab"));
        assert_eq!(parameter(value, "q"), Some("0.5"));
        assert_eq!(parameter("sip:a@b;tag=c", "tag"), Some("c"));
        assert_eq!(parameter("<sip:a@b;tag=c>", "tag"), None);
        assert_eq!(parameter("<sip:a@b>;x=1, <sip:c@d>;tag=e", "tag"), None);
        assert_eq!(uri_of("<sip:+9198@h:5070;lr>;tag=ab"), Some("sip:+9198@h:5070;lr"));
        assert_eq!(uri_of("sip:a@b;tag=c"), Some("sip:a@b"));
        assert_eq!(uri_of("sip:a@b, <sip:c@d>"), Some("sip:a@b"));
        assert_eq!(uri_of("<sip:a@b"), None);
        assert_eq!(user_of("sip:+9198;phone-context=x:secret@h"), Some("+9198"));
        assert_eq!(user_of("tel:+9198;x=y"), Some("+9198"));
        assert_eq!(user_of("sip:host"), None);
    }

    #[test]
    fn a_quoted_name_says_nothing_of_the_address() {
        let one = "sip:+919812340001@carrier.example";
        for name in [
            r#""x <sip:+919812340002@carrier.example>""#,
            r#""Rao <home>""#,
            r#""a \" <sip:+919812340002@carrier.example>;tag=b2 \" b""#,
            r#""ends in \\""#,
            r#""a;tag=b2, b""#,
            r#""sip:+919812340002@h;tag=b2""#,
            "Rao",
            "Rao, Asha",
            "",
        ] {
            let value = format!("{name} <{one}>;tag=a1");
            assert_eq!((uri_of(&value), parameter(&value, "tag")), (Some(one), Some("a1")), "{value}");
        }
        // Behind the address, too.
        let value = format!("<{one}>;x=\"<sip:+919812340002@h>;tag=b2\";tag=a1");
        assert_eq!((uri_of(&value), parameter(&value, "tag")), (Some(one), Some("a1")));
        let value = format!("{one};x=\"<sip:+919812340002@h>;tag=b2\";tag=a1");
        assert_eq!((uri_of(&value), parameter(&value, "tag")), (Some(one), Some("a1")));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_no_address() {
        for value in [
            "\"Rao <sip:+919812340002@h>;tag=a1",
            "\"a\\\" <sip:+919812340002@h>",
            "Sales: West <sip:+919812340002@h>",
            "<sip:+91981234 0002@h>",
            "<<sip:+919812340002@h>>",
            "sip:+919812340002@h <x>",
        ] {
            assert_eq!(uri_of(value), None, "{value}");
        }
        assert_eq!(user_of("sip:+919812340002@x@carrier.example"), None);
    }

    /// What has a meaning in a header.
    const PIECES: [&str; 14] =
        ["\"", "\\", "<", ">", ";", ",", ":", "@", "=", " ", "tag=b2", "sip:+919812340002@h", "अ", "x"];

    proptest! {
        #[test]
        fn no_name_changes_the_address(
            meaningful in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..16),
            any in ".*",
        ) {
            fuzzed(&meaningful.concat());
            fuzzed(&any);
        }
    }
}
