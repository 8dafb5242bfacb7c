//! The files of `languages/<code>/`, which are part of the program. A language is a folder with every file, and a
//! code in [`files`].

use serde::de::DeserializeOwned;

/// The file of this name of each language, as `[(code, text); 11]`.
macro_rules! files {
    ($name:literal) => {
        $crate::language::folders::files!(
            $name, "en", "hi", "bn", "gu", "kn", "ml", "mr", "or", "pa", "ta", "te"
        )
    };
    ($name:literal, $($code:literal),*) => {
        [$((
            $code,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/languages/", $code, "/", $name)),
        )),*]
    };
}
pub(crate) use files;

/// The rows of a file.
///
/// # Panics
/// When a row is missing or unknown: the files are part of the program, and every test that hears something reads
/// them all.
pub(crate) fn parsed<Rows: DeserializeOwned>(code: &str, name: &str, text: &str) -> Rows {
    #[cfg(test)]
    tests::count(code, name);
    toml::from_str(text).unwrap_or_else(|error| panic!("languages/{code}/{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use crate::speakable::{Pronunciations, Speakable};
    use crate::speech::{LANGUAGES, STOP_WORDS, machine, opt_out, spoken_language};
    use crate::{Field, FieldKind, capture};

    static READ: Mutex<BTreeMap<(String, String), u32>> = Mutex::new(BTreeMap::new());

    pub(super) fn count(code: &str, name: &str) {
        *READ.lock().unwrap().entry((code.to_owned(), name.to_owned())).or_default() += 1;
    }

    #[test]
    fn every_folder_has_every_file_and_each_is_read_once() {
        let hear = |kind| {
            let field = Field { kind, choices: vec!["A".into()], ..Field::default() };
            for language in LANGUAGES {
                capture(&field, "two", language, None);
            }
        };
        for _ in 0..2 {
            hear(FieldKind::Number);
            hear(FieldKind::Boolean);
            hear(FieldKind::Choice);
            hear(FieldKind::Date);
            hear(FieldKind::Email);
            Speakable::new("en", true, Pronunciations::default()).prepare("2");
            opt_out("two", "en");
            crate::redaction::text("two", "en");
            spoken_language("I am not two", None, "hi", &["en".to_owned()]);
            assert!(STOP_WORDS.stop.has("stop"));
            machine("two");
        }
        let folders = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/languages")).unwrap();
        let mut codes: Vec<String> =
            folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect();
        codes.sort();
        let mut known: Vec<&str> = LANGUAGES.to_vec();
        known.sort_unstable();
        assert_eq!(codes, known, "a folder is a language of agents");
        let read = READ.lock().unwrap();
        for code in &codes {
            for name in [
                "numbers.toml",
                "answers.toml",
                "answering.toml",
                "optouts.toml",
                "stopwords.toml",
                "dates.toml",
                "contacts.toml",
                "secrets.toml",
                "speaking.toml",
                "spoken.toml",
            ] {
                assert_eq!(read.get(&(code.clone(), name.to_owned())), Some(&1), "{code}/{name}");
            }
        }
    }
}
