//! A check of the sources: what a public function of the store does without a transaction of one workspace, it
//! does for a row that names its workspace, or it says that it works across workspaces.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Stands at the beginning of the docstring of a function that works across workspaces.
const ACROSS: &str = "/// Across workspaces: ";

/// Fields that say which workspace a row belongs to.
const TENANTS: [&str; 4] =
    [" workspace: Tenant", " tenant: Tenant", " workspace: String", " id: Id<Workspace>"];

/// The file of every noun; the engine in `db` knows no workspaces.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.file_name().and_then(|name| name.to_str()) {
            Some("db" | "lib.rs" | "tenants.rs") => {}
            _ if path.is_dir() => found.extend(files(&path)),
            _ => found.push(path),
        }
    }
    found
}

/// The first lines of `start`, up to and with the one for which `end` holds.
fn until<'s>(start: &[&'s str], end: impl Fn(&str) -> bool) -> Vec<&'s str> {
    let last = start.iter().position(|line| end(line)).unwrap_or(start.len() - 1);
    start[..=last].to_vec()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect()
}

/// The types of `source` with a workspace among their fields.
fn types_with_tenant(source: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((indent, rest)) = line.split_once("pub struct ") else { continue };
        let closing = format!("{indent}}}");
        let fields = until(&lines[at..], |line| line == closing);
        let tenant = |field: &&str| TENANTS.iter().any(|tenant| field.contains(tenant));
        if fields.iter().any(tenant) {
            found.extend(rest.split([' ', '<']).next().map(str::to_owned));
        }
    }
    found
}

/// What is wrong with the public functions of `source`, and how many are bound and how many work across workspaces.
fn check(source: &str, rows: &BTreeSet<String>) -> (Vec<String>, usize, usize) {
    let lines: Vec<&str> = source.lines().collect();
    let (mut wrong, mut bound, mut across) = (Vec::new(), 0, 0);
    for (at, line) in lines.iter().enumerate() {
        if !line.trim_start().starts_with("pub fn ") {
            continue;
        }
        let signature = until(&lines[at..], |line| line.ends_with('{')).join(" ");
        let arguments = words(signature.split("->").next().unwrap_or_default());
        // What a closure among the arguments is given does not bind the function.
        let own = signature.split_once("tx: &").and_then(|(_, rest)| rest.split([',', ')']).next());
        let of_one = own.is_some_and(|own| words(own).contains("TenantTx"));
        if !of_one && !arguments.contains("Tx") {
            continue;
        }
        let docs = lines[..at].iter().rev().take_while(|line| line.trim_start().starts_with(['/', '#']));
        let says = docs.into_iter().any(|doc| doc.trim_start().starts_with(ACROSS));
        let row = arguments.iter().any(|word| rows.contains(*word));
        bound += usize::from(of_one);
        across += usize::from(says);
        if says == (of_one || row) {
            wrong.push(line.trim().to_owned());
        } else if !says && arguments.contains("Tenant") {
            wrong.push(format!("{} (a tenant is that of a TenantTx)", line.trim()));
        }
    }
    (wrong, bound, across)
}

#[test]
fn every_function_is_bound_to_a_tenant_or_says_that_it_works_across_workspaces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources: Vec<(PathBuf, String)> = files(&folder)
        .into_iter()
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect();
    // A row of one file may be an argument in another.
    let rows: BTreeSet<String> = sources.iter().flat_map(|(_, source)| types_with_tenant(source)).collect();
    let (mut all_bound, mut all_across, mut all_wrong) = (0, 0, Vec::new());
    for (path, source) in &sources {
        let (wrong, bound, across) = check(source, &rows);
        let file = path.strip_prefix(&folder).unwrap().display();
        all_wrong.extend(wrong.into_iter().map(|line| format!("{file}: {line}")));
        (all_bound, all_across) = (all_bound + bound, all_across + across);
    }
    assert!(all_bound > 400 && all_across > 80, "the sources were read: {all_bound} and {all_across}");
    assert!(
        all_wrong.is_empty(),
        "these take no TenantTx and do not begin with «{}», or do both:\n{}",
        ACROSS.trim(),
        all_wrong.join("\n")
    );
}

#[test]
fn what_takes_a_tenant_beside_an_unbound_transaction_is_found() {
    let rows = BTreeSet::from(["ThingRow".to_owned()]);
    let wrong = |source: &str| check(source, &rows).0.len();
    assert_eq!(wrong("/// A thing.\npub fn get(tx: &mut TenantTx, id: i64) -> i64 {"), 0);
    assert_eq!(wrong("/// A thing.\npub fn save(tx: &mut Tx<'_>, row: &ThingRow) -> i64 {"), 0);
    assert_eq!(wrong("/// Across workspaces: what is due.\npub fn due(tx: &mut Tx<'_>) -> i64 {"), 0);
    assert_eq!(wrong("/// A thing.\npub fn get(tx: &mut Tx<'_>, id: i64) -> i64 {"), 1);
    assert_eq!(wrong("/// A thing.\npub fn get(tx: &mut Tx<'_>, tenant: Tenant, id: i64) -> i64 {"), 1);
    assert_eq!(
        wrong("/// A thing.\npub fn save(tx: &mut Tx<'_>, tenant: Tenant, row: &ThingRow) -> i64 {"),
        1
    );
    assert_eq!(wrong("/// A thing.\npub fn get(tx: &mut TenantTx, tenant: Tenant, id: i64) -> i64 {"), 1);
    assert_eq!(wrong("/// Things.\npub fn each(tx: &mut Tx<'_>, see: impl Fn(&mut TenantTx)) -> i64 {"), 1);
    assert_eq!(wrong("/// Across workspaces: a thing.\npub fn get(tx: &mut TenantTx, id: i64) -> i64 {"), 1);
}
