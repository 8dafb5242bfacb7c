//! Writes the table of the pages that are resources: the guides, and the pages of the contract.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// Folders of pages, and the part of a resource's address that stands for each.
const FOLDERS: [(&str, &str); 2] = [("guides", "../../docs/guides"), ("contract", "../../docs/contract")];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(why) = write_table() {
        println!("cargo::error={why}");
    }
}

fn write_table() -> Result<(), String> {
    let mut table = String::from("&[\n");
    for (kind, folder) in FOLDERS {
        if !Path::new(folder).is_dir() {
            continue;
        }
        println!("cargo::rerun-if-changed={folder}");
        let mut pages: Vec<_> = fs::read_dir(folder)
            .map_err(|why| format!("{folder}: {why}"))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|kind| kind == "md"))
            .collect();
        pages.sort();
        for page in pages {
            let path = page.canonicalize().map_err(|why| format!("{}: {why}", page.display()))?;
            let name = page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            writeln!(table, "({kind:?}, {name:?}, include_str!({path:?})),")
                .map_err(|why| why.to_string())?;
        }
    }
    table.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or("no OUT_DIR")?;
    fs::write(Path::new(&out).join("pages.rs"), table).map_err(|why| why.to_string())
}
