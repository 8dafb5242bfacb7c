//! What the sources of the house promise about themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// All source files under a folder, with their text up to their tests.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
                let code: Vec<&str> =
                    text[..end].lines().filter(|line| !line.trim_start().starts_with("//")).collect();
                found.push((path, code.join("\n")));
            }
        }
    }
    found
}

/// The module of `app` that a file belongs to; none for the root.
fn noun_of(src: &Path, file: &Path) -> Option<String> {
    let first = file.strip_prefix(src).unwrap().iter().next()?.to_str()?;
    let noun = first.strip_suffix(".rs").unwrap_or(first);
    (!["lib", "directions"].contains(&noun)).then(|| noun.to_owned())
}

/// The names that follow `prefix` in a text: `a` of `crate::a`, `a` and `b` of `crate::{a, b::C}`.
fn names_after<'t>(text: &'t str, prefix: &str) -> Vec<&'t str> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices(prefix) {
        let rest = &text[at + prefix.len()..];
        let group = rest.strip_prefix('{').map(|group| group.split(';').next().unwrap_or_default());
        let parts = group.map_or_else(|| vec![rest], |group| group.split(',').collect());
        names.extend(parts.into_iter().map(|part| {
            let part = part.trim_start();
            let end = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
            &part[..end]
        }));
    }
    names
}

#[test]
fn no_noun_depends_on_itself_through_others() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources = sources(&src);
    let nouns: BTreeSet<String> = sources.iter().filter_map(|(file, _)| noun_of(&src, file)).collect();
    let mut needs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, text) in &sources {
        let Some(noun) = noun_of(&src, file) else { continue };
        let noun = nouns.get(&noun).unwrap().as_str();
        let mut names = names_after(text, "crate::");
        if file.parent() == Some(&src) {
            names.extend(names_after(text, "super::"));
        }
        let others = names.into_iter().filter_map(|name| nouns.get(name)).map(String::as_str);
        needs.entry(noun).or_default().extend(others.filter(|other| *other != noun));
    }
    assert!(needs["nudges"].contains("calls"), "the sources are read");
    while let Some(free) = needs.iter().find(|(_, needed)| needed.is_empty()).map(|(noun, _)| *noun) {
        needs.remove(free);
        for needed in needs.values_mut() {
            needed.remove(free);
        }
    }
    assert!(needs.is_empty(), "these need each other in a circle, or stand above one: {needs:#?}");
}

#[test]
fn only_app_and_webhooks_open_transactions() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut opened = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if [
            "app",
            "webhooks",
            "store",
            "campaigns",
            "boards",
            "streams",
            "integrations",
            "knowledge",
            "chats",
            "channel",
        ]
        .contains(&name)
            || !folder.join("src").is_dir()
        {
            continue;
        }
        for (file, text) in sources(&folder.join("src")) {
            if [".tx(", ".tx_alone(", ".tx_long(", ".tx_single(", ".tx_adding("]
                .iter()
                .any(|open| text.contains(open))
            {
                opened.push(file);
            }
        }
    }
    assert!(opened.is_empty(), "transactions are opened in {opened:?}");
}
