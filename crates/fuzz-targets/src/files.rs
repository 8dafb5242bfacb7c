//! Files from operators: the registry, calling lists, settings.

use dastak::fuzzing as service;

/// An imported list of numbers.
///
/// Every cell belongs to a line of the file, in order, and has a bounded length.
/// Requests stay below the limit of the service (asserted inside).
pub fn registry_csv(data: &[u8]) {
    let Ok(cells) = service::registry(data) else { return };
    let lines = data.split(|byte| b"\r\n".contains(byte)).count() as u64;
    let mut before = 0;
    for (line, cell) in cells {
        assert!(line >= before && line <= lines, "line {line} after {before} of {lines}");
        assert!(cell.chars().count() <= 100 && !cell.contains('\0'), "{cell}");
        before = line;
    }
}

/// A file with a calling list.
///
/// Every row belongs to a line, in order, and fits what the service takes: number and name of bounded length, texts
/// as variables. Requests stay below the limit of the service (asserted inside).
pub fn list_csv(data: &[u8]) {
    let Ok(rows) = service::calling_list(data) else { return };
    let mut before = 0;
    for (line, row) in rows {
        assert!(line > before, "line {line} after {before}");
        before = line;
        let phone = row["phone"].as_str().expect("a number");
        assert!(phone.chars().count() <= 100 && !phone.contains('\0'), "{phone}");
        let name = row["name"].as_str().unwrap_or_default();
        assert!(name.chars().count() <= 200, "{name}");
        let variables = row["variables"].as_object().expect("variables");
        assert!(variables.values().all(|value| value.as_str().is_some_and(|text| !text.is_empty())));
    }
}

/// Words that stand for secrets in the seeds.
const SECRET: &str = "hush-hush-secret";

/// A file of settings.
///
/// Valid settings are shown without their secrets, and showing the shown settings again changes nothing. A
/// refusal names a setting or a position in the file.
pub fn settings_toml(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(why) = service::settings(text) {
        assert!(!why.is_empty());
    }
    let Ok(shown) = service::shown(text) else { return };
    assert!(!shown.contains(SECRET) || !names_only_secrets(text), "{shown}");
    assert_eq!(service::shown(&shown).as_deref(), Ok(shown.as_str()), "shown again");
}

/// Whether the word occurs only where a secret belongs.
fn names_only_secrets(text: &str) -> bool {
    let secrets = [
        "api_key",
        "operator_token",
        "master_key",
        "database_url",
        "password",
        "access_key",
        "secret_key",
        "metrics_token",
    ];
    let is_secret = |line: &str| {
        line.split_once('=').is_some_and(|(name, _)| secrets.contains(&name.trim())) && !line.contains('#')
    };
    text.lines().filter(|line| line.contains(SECRET)).all(is_secret)
}
