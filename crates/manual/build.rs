//! Makes the table of the Markdown pages that the manual carries: every page of these folders of `docs/`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

const DOCS: &str = "../../docs";
const FOLDERS: [&str; 3] = ["guides", "contract", "operating"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(why) = write_table() {
        println!("cargo::error={why}");
    }
}

fn write_table() -> Result<(), String> {
    let mut table = String::from("&[\n");
    for folder in FOLDERS {
        let path = Path::new(DOCS).join(folder);
        println!("cargo::rerun-if-changed={}", path.display());
        let entries = fs::read_dir(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(|why| why.to_string())?.file_name();
            if let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".md")) {
                names.push(name.to_owned());
            }
        }
        names.sort();
        for name in names {
            let file = path.join(format!("{name}.md"));
            let file = fs::canonicalize(&file).map_err(|why| format!("{}: {why}", file.display()))?;
            writeln!(table, "    ({folder:?}, {name:?}, include_str!({file:?})),")
                .map_err(|why| why.to_string())?;
        }
    }
    table.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    fs::write(out.join("markdown_pages.rs"), table).map_err(|why| why.to_string())
}
