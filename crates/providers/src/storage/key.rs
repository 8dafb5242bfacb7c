//! Names of objects.

use domain::ports::{ProviderError, ProviderFault};

/// The name in errors.
pub(super) const NAME: &str = "storage";

/// Longest key, bytes.
const LONGEST: usize = 512;

/// Whether a text is a key: a path of lower-case letters, digits, `_`, `-`, `.` and `/`, without empty parts
/// and without parts that begin with a dot, so that no key leaves its folder or meets the store's own files.
pub fn is_key(key: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'.');
    !key.is_empty()
        && key.len() <= LONGEST
        && key.split('/').all(|part| !part.is_empty() && !part.starts_with('.') && part.bytes().all(plain))
}

/// Refuses a text that is not a key.
pub(super) fn check(key: &str) -> Result<(), ProviderError> {
    if is_key(key) {
        Ok(())
    } else {
        Err(ProviderError::new(NAME, ProviderFault::Refused, "not a key of an object"))
    }
}

#[cfg(test)]
mod tests {
    use super::is_key;

    #[test]
    fn no_key_leaves_its_folder() {
        for key in ["recordings/rec_01h.wav", "a", "a-b/c.d/e"] {
            assert!(is_key(key), "{key}");
        }
        let long = "a".repeat(513);
        for key in [
            "",
            "/",
            "/etc/passwd",
            "a//b",
            "a/",
            "../a",
            "a/../b",
            "a/./b",
            ".hidden",
            "a/.tmp",
            "A",
            "a b",
            "a\\b",
            "a\0",
            "ä",
            &long,
        ] {
            assert!(!is_key(key), "{key}");
        }
    }
}
