//! The page of all settings, made from the table (`docs/operating/settings.md`).

use crate::table::Kind;
use crate::{REREAD, SETTINGS, Setting};

/// What stands above the tables.
const HEAD: &str = "# Every setting

Made from the table of settings by `dastak settings`; `make settings` rewrites this page.

From lowest to highest priority: the default, the settings file, the environment, flags. The settings file is TOML, and one file
is read: that of `--config`, else of `DASTAK_CONFIG`, else `dastak.toml` in the data folder, else `dastak.toml` in the working
folder. In the environment a setting is `DASTAK_` and its name in capitals, with two underscores for each point:
`telephony.sip.listen` is `DASTAK_TELEPHONY__SIP__LISTEN`, a list is separated by commas. `dastak serve --print-config` shows the
effective settings with secrets masked.

An unknown setting or a value that is not allowed stops the start before anything is made, and the error names it. `*` stands for
a name: a provider of speech, or a name of your own for a language model.

";

/// The page as Markdown.
#[must_use]
pub fn reference() -> String {
    let mut out = HEAD.to_owned();
    out.push_str(&format!(
        "On SIGHUP the service reads its settings again, and takes up {}; others take effect at the next start ([signals](README.md#signals)).\n",
        REREAD.map(|name| format!("`{name}`")).join(", ")
    ));
    let section = |setting: &Setting| setting.name.split_once('.').map_or("", |(section, _)| section);
    let mut sections: Vec<&str> = Vec::new();
    for setting in SETTINGS {
        let section = section(setting);
        if !sections.contains(&section) {
            sections.push(section);
        }
    }
    for wanted in sections {
        let title = if wanted.is_empty() { "The service".to_owned() } else { format!("`[{wanted}]`") };
        out.push_str(&format!(
            "\n## {title}\n| setting | default | allowed | meaning |\n|---|---|---|---|\n"
        ));
        for setting in SETTINGS.iter().filter(|setting| section(setting) == wanted) {
            out.push_str(&row(setting));
        }
    }
    out
}

fn row(setting: &Setting) -> String {
    let default = if setting.default.is_empty() { String::new() } else { format!("`{}`", setting.default) };
    let allowed = match setting.kind {
        Kind::Text if setting.secret => "text, secret".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Words(words) => words
            .iter()
            .filter(|word| !word.is_empty())
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", "),
        Kind::Number(min, max) => format!("{min} to {max}"),
        Kind::Flag => "`true`, `false`".to_owned(),
        Kind::List => "list of texts".to_owned(),
        Kind::Sections => "list of sections".to_owned(),
    };
    let meaning = setting.meaning.replace('|', "\\|").replace('<', "&lt;");
    format!("| `{}` | {default} | {allowed} | {meaning} |\n", setting.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_settings_is_that_of_the_table() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operating/settings.md");
        let written = std::fs::read_to_string(file).unwrap_or_default();
        assert!(written == reference(), "docs/operating/settings.md is not up to date: run `make settings`");
    }

    #[test]
    fn each_setting_has_a_row() {
        let page = reference();
        for setting in SETTINGS {
            assert_eq!(page.matches(&format!("\n| `{}` |", setting.name)).count(), 1, "{}", setting.name);
        }
        assert!(REREAD.iter().all(|name| SETTINGS.iter().any(|setting| setting.name == *name)));
    }
}
