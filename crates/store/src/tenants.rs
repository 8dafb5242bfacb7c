//! A check of the sources: a public function of the store is told the workspace, or says that it works across
//! workspaces.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Stands at the beginning of the docstring of a function without a tenant.
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

#[test]
fn every_function_has_a_tenant_or_says_that_it_works_across_workspaces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources: Vec<(PathBuf, String)> = files(&folder)
        .into_iter()
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect();
    let (mut with_tenant, mut across, mut wrong) = (0, 0, Vec::new());
    // A row of one file may be an argument in another.
    let types: BTreeSet<String> = sources.iter().flat_map(|(_, source)| types_with_tenant(source)).collect();
    for (path, source) in &sources {
        let lines: Vec<&str> = source.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            if !line.trim_start().starts_with("pub fn ") {
                continue;
            }
            let signature = until(&lines[at..], |line| line.ends_with('{')).join(" ");
            let arguments = signature.split("->").next().unwrap_or_default();
            if !arguments.contains("Tx<") {
                continue;
            }
            // Workspaces to be left out are not a tenant.
            let arguments = arguments.replace("[Tenant]", "");
            let told = words(&arguments).into_iter().any(|word| word == "Tenant" || types.contains(word));
            let docs: Vec<&str> = lines[..at]
                .iter()
                .rev()
                .take_while(|line| line.trim_start().starts_with(['/', '#']))
                .map(|line| line.trim_start())
                .collect();
            let says = docs.iter().any(|doc| doc.starts_with(ACROSS));
            with_tenant += usize::from(told);
            across += usize::from(says);
            if told == says {
                wrong.push(format!("{}: {}", path.strip_prefix(&folder).unwrap().display(), line.trim()));
            }
        }
    }
    assert!(with_tenant > 150 && across > 30, "the sources were read: {with_tenant} and {across}");
    assert!(
        wrong.is_empty(),
        "these take no tenant and do not begin with «{}», or do both:\n{}",
        ACROSS.trim(),
        wrong.join("\n")
    );
}
