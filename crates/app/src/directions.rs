//! Tests of the sources themselves: which file may use which, and who opens transactions.

mod graph;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use self::graph::{Graph, Module, sources};

/// Most files that may use each other in a circle.
const LONGEST: usize = 3;
/// The crates that open transactions; `bench` fills stores before a run.
const OPEN_TRANSACTIONS: [&str; 12] = [
    "app",
    "bench",
    "boards",
    "campaigns",
    "channel",
    "chats",
    "evaluation",
    "integrations",
    "knowledge",
    "store",
    "streams",
    "webhooks",
];

/// The folders of all crates, by name.
fn crates() -> BTreeMap<String, PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = fs::read_dir(&all).unwrap().map(|entry| entry.unwrap().path());
    let folders = folders.chain([all.join("../bench")]);
    let named = folders.map(|folder| (folder.file_name().unwrap().to_str().unwrap().to_owned(), folder));
    let crates: BTreeMap<_, _> = named.filter(|(_, folder)| folder.join("src").is_dir()).collect();
    assert!(crates.len() > 20, "the crates are found: {:?}", crates.keys());
    crates
}

/// A folder with these files, for a fault that a check must see.
fn planted(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("directions-{name}-{}", std::process::id()));
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn circles(src: &Path) -> Vec<Vec<String>> {
    let graph = Graph::of(src);
    let named = |module: &&Module| graph.path(module).display().to_string();
    graph.circles().iter().map(|circle| circle.iter().map(named).collect()).collect()
}

#[test]
fn no_circle_of_files_is_longer_than_three() {
    let mut wrong = Vec::new();
    for (name, folder) in crates() {
        let long = circles(&folder.join("src")).into_iter().filter(|circle| circle.len() > LONGEST);
        wrong.extend(long.map(|circle| format!("{name}: {} files use each other: {circle:?}", circle.len())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_circle_is_seen_however_it_is_written() {
    let folder = planted(
        "circle",
        &[
            ("lib.rs", "mod one;\nmod two;\nmod three;\nmod four;\npub use four::Four;\n"),
            ("one.rs", "use super::{two::{self, Two}};\n"),
            ("two/mod.rs", "mod part;\nuse super::three;\npub use part::Two;\nfn go() { three::go() }\n"),
            ("two/part.rs", "pub struct Two;\nfn go() { super::super::three::go() }\n"),
            ("three.rs", "const RAW: &str = r#\"a \" crate::one\"#;\npub fn go() { let _ = crate::Four; }\n"),
            (
                "four.rs",
                "pub struct Four;\nconst WORDS: &str = \"crate::two\"; // crate::two\nuse crate::one as first;\n",
            ),
        ],
    );
    let found = circles(&folder);
    fs::remove_dir_all(&folder).unwrap();
    // `one` names the module `two` and what `two/part.rs` declares.
    assert_eq!(found, [["four.rs", "one.rs", "three.rs", "two/mod.rs", "two/part.rs"]]);
}

/// The names in backticks in the second column of the table of layers in the head of a crate, by row.
fn layers(head: &str) -> Vec<Vec<String>> {
    let table = head.lines().skip_while(|line| *line != "//! | layer | file | holds |").skip(2);
    table
        .map_while(|line| line.strip_prefix("//! |"))
        .map(|row| {
            let files = row.split('|').nth(1).unwrap();
            files.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        })
        .collect()
}

/// Files that use one of a later row, and those without a row.
fn out_of_order(src: &Path) -> Vec<String> {
    let rows = layers(&fs::read_to_string(src.join("lib.rs")).unwrap());
    assert!(rows.len() > 1, "there is a table of layers in {}", src.display());
    let row_of = |module: &Module| {
        let names = (1..=module.len()).rev().map(|depth| module[..depth].join("::"));
        let mut found = names.filter_map(|name| rows.iter().position(|row| row.contains(&name)));
        found.next()
    };
    let (graph, mut wrong) = (Graph::of(src), Vec::new());
    for (module, used) in graph.edges().into_iter().filter(|(module, _)| !module.is_empty()) {
        let own = row_of(module);
        if own.is_none() {
            wrong.push(format!("{} has no row", module.join("::")));
        }
        // A file of a folder may use what the folder's own file has for all of them.
        let later = |target: &&&Module| row_of(target) > own && !module.starts_with(target);
        let later = used.iter().filter(later);
        wrong.extend(later.map(|target| format!("{} uses {}", module.join("::"), target.join("::"))));
    }
    wrong
}

#[test]
fn the_files_of_the_channel_stand_in_their_order() {
    let wrong = out_of_order(&crates()["channel"].join("src"));
    assert!(wrong.is_empty(), "{wrong:#?}");
    let head = "//! | layer | file | holds |\n//! |---|---|---|\n//! | low | `one`, `two` | a |\n//! | high | `three` | b |\n";
    let folder = planted(
        "layers",
        &[
            ("lib.rs", &format!("{head}mod one;\nmod two;\nmod three;\nmod four;\n")),
            ("one.rs", "use crate::two::Two;\n"),
            ("two.rs", "pub struct Two;\nuse crate::three::Three;\n"),
            ("three.rs", "pub struct Three;\nuse crate::one;\n"),
            ("four.rs", ""),
        ],
    );
    let found = out_of_order(&folder);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found, ["four has no row", "two uses three"]);
}

/// The module of `app` that a file belongs to; `None` for the root.
fn noun_of(module: &Module) -> Option<&str> {
    module.first().map(String::as_str).filter(|noun| *noun != "directions")
}

/// Nouns that need each other in a cycle, or that depend on one above.
fn tangled(src: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let graph = Graph::of(src);
    let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, used) in graph.edges() {
        let Some(noun) = noun_of(module) else { continue };
        let others = used.into_iter().filter_map(noun_of).filter(|other| *other != noun);
        needs.entry(noun.to_owned()).or_default().extend(others.map(str::to_owned));
    }
    while let Some(free) = needs.iter().find(|(_, needed)| needed.is_empty()).map(|(noun, _)| noun.clone()) {
        needs.remove(&free);
        for needed in needs.values_mut() {
            needed.remove(&free);
        }
    }
    needs
}

#[test]
fn no_noun_depends_on_itself_through_others() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let edges = Graph::of(&src);
    let nudges = edges.edges().into_iter().filter(|(module, _)| noun_of(module) == Some("nudges"));
    let needed: BTreeSet<&str> = nudges.flat_map(|(_, used)| used).filter_map(noun_of).collect();
    assert!(needed.contains("calls"), "the sources are read");
    let tangled = tangled(&src);
    assert!(tangled.is_empty(), "these need each other in a circle, or stand above one: {tangled:#?}");
}

#[test]
fn a_circle_of_nouns_through_a_folder_is_seen() {
    let folder = planted(
        "nouns",
        &[
            ("lib.rs", "pub mod tools;\npub mod calls;\npub mod other;\n"),
            ("tools.rs", "use super::calls::Call;\n"),
            ("calls/mod.rs", "pub struct Call;\nuse super::tools;\n"),
            ("other.rs", ""),
        ],
    );
    let found: Vec<String> = tangled(&folder).into_keys().collect();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found, ["calls", "tools"]);
}

/// Whether a text opens a transaction: any of the store's entry points that are named `tx…`.
fn opens_transaction(text: &str) -> bool {
    text.match_indices(".tx").any(|(at, door)| {
        let name =
            text[at + door.len()..].trim_start_matches(|sign: char| sign.is_alphabetic() || sign == '_');
        // `.tx(`, `.tx_alone(`, …, `.tx_hasty(`; with a type, too.
        name.starts_with('(') || name.starts_with("::<")
    })
}

#[test]
fn only_the_rooms_of_use_cases_open_transactions() {
    let mut opened = Vec::new();
    for (name, folder) in crates() {
        if OPEN_TRANSACTIONS.contains(&name.as_str()) {
            continue;
        }
        let files = sources(&folder.join("src")).into_iter();
        opened.extend(files.filter(|(_, text)| opens_transaction(text)).map(|(file, _)| file));
    }
    assert!(opened.is_empty(), "transactions are opened in {opened:?}");
    for code in
        ["store.tx(|tx| 1)", "store.tx_hasty(|tx| 1)", ".store\n    .tx_single(look)", "store.tx::<u8>(f)"]
    {
        assert!(opens_transaction(code), "{code}");
    }
    assert!(!opens_transaction("self.txn.len() + row.tx.len()"));
}
