//! People who sign in: their passwords, e-mail addresses, sessions.

use crate::time::{DAY, HOUR, Timestamp};

/// Fewest and most characters of a password. Nothing else is asked of it.
pub const PASSWORD_LENGTH: (usize, usize) = (10, 200);
/// Time without a request after which a session ends.
pub const SESSION_IDLE: i64 = 12 * HOUR;
/// Longest life of a session.
pub const SESSION_LIFE: i64 = 30 * DAY;
/// Characters of a browser's `User-Agent` that are stored.
pub const USER_AGENT_LENGTH: usize = 200;

closed_sets::words! {
    /// Language of the console.
    pub enum InterfaceLanguage {
        English = "en",
        Hindi = "hi",
    }
}

/// When a session ends that began and was last used at these times.
pub fn session_end(created: Timestamp, last_seen: Timestamp) -> Timestamp {
    created.plus(SESSION_LIFE).min(last_seen.plus(SESSION_IDLE))
}

/// The stored form of an e-mail address: trimmed, lower case. `None` if it has another form.
pub fn email(text: &str) -> Option<String> {
    let email = text.trim().to_lowercase();
    let (name, host) = email.split_once('@')?;
    let letters = |text: &str| !text.contains(|letter: char| letter.is_whitespace() || letter.is_control());
    let named = !name.is_empty() && host.contains('.') && !host.contains('@');
    (named && letters(&email) && email.len() <= 254).then_some(email)
}

/// Text of a browser or a person as it is stored and shown: one line without control characters and invisible marks of
/// direction, at most this many characters. Joiners stay: names in Indian scripts need them.
pub fn plain(text: &str, length: usize) -> String {
    let shown = |letter: &char| {
        !letter.is_control()
            && !matches!(letter, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().filter(shown).take(length).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_stored_in_one_form() {
        assert_eq!(email(" Asha@Example.COM ").as_deref(), Some("asha@example.com"));
        for wrong in
            ["", "asha", "@example.com", "asha@example", "a sha@example.com", "a@b@c.de", "a\u{7}@b.de"]
        {
            assert_eq!(email(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_session_ends_idle_or_at_its_absolute_end() {
        let began = Timestamp(0);
        assert_eq!(session_end(began, Timestamp(HOUR)), Timestamp(13 * HOUR));
        assert_eq!(session_end(began, Timestamp(30 * DAY - HOUR)), Timestamp(30 * DAY));
    }

    #[test]
    fn stored_text_is_one_line_without_tricks() {
        assert_eq!(plain("Moz\r\nilla\u{202e}/5\0 \t", 200), "Mozilla/5");
        assert_eq!(plain("आशा राव", 4), "आशा");
    }
}
