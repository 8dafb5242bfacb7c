//! Puts the console's files into the binary. Has the linker of a release fold functions whose machine code is equal into
//! one, where it can: `lld` does, which rustc brings along on x86-64 Linux.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

const FOLD: &str = "-Wl,--icf=all";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let release = env::var("PROFILE").as_deref() == Ok("release");
    if release && linker_takes(FOLD) {
        println!("cargo::rustc-link-arg-bins={FOLD}");
    }
    if let Err(why) = embed_console(release) {
        println!("cargo::error={why}");
    }
}

/// The folder of what `scripts/console.sh` builds, from here.
const CONSOLE: &str = "../../console/dist";

/// Set to 1, it has the console left out, also from a release.
const WITHOUT: &str = "WITHOUT_CONSOLE";

/// Writes the table of the console's files, which `http/console_files.rs` includes; an empty one if the console was not
/// built, which a release refuses.
fn embed_console(release: bool) -> Result<(), String> {
    println!("cargo::rerun-if-env-changed={WITHOUT}");
    let folder = Path::new(CONSOLE);
    // A folder that does not exist would count as changed at every build. Where it cannot be made, it does.
    if folder.parent().is_some_and(Path::is_dir) {
        let _ = fs::create_dir(folder);
    }
    println!("cargo::rerun-if-changed={CONSOLE}");
    let left_out = env::var(WITHOUT).is_ok_and(|value| value == "1");
    let mut files = Vec::new();
    if !left_out && folder.join("index.html").is_file() {
        collect(folder, "", &mut files)?;
    } else if release && !left_out {
        return Err(format!(
            "console/dist is missing: run scripts/console.sh first, or set {WITHOUT}=1 for a release without its console"
        ));
    }
    files.sort();
    let mut table = format!("static FILES: [Embedded; {}] = [\n", files.len());
    for name in &files {
        let beside = |suffix: &str| folder.join(format!("{name}{suffix}")).is_file();
        let stored = if beside(".gz") && beside(".br") {
            format!("Compressed({}, {})", include(&format!("{name}.gz")), include(&format!("{name}.br")))
        } else {
            format!("Plain({})", include(name))
        };
        writeln!(table, "    Embedded::new({name:?}, Stored::{stored}),").map_err(|why| why.to_string())?;
    }
    table.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    fs::write(out.join("console_files.rs"), table).map_err(|why| why.to_string())
}

fn include(name: &str) -> String {
    format!("include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{CONSOLE}/{name}\"))")
}

/// The names of the files below a folder, without what is compressed of them and without maps of sources.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<String>) -> Result<(), String> {
    let wrong = |why: std::io::Error| format!("{}: {why}", folder.display());
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if name.starts_with('.') {
            continue;
        }
        if !plain {
            return Err(format!("console/dist/{prefix}{name}: a name has only letters, digits and . _ -"));
        }
        if entry.file_type().map_err(wrong)?.is_dir() {
            collect(&entry.path(), &format!("{prefix}{name}/"), files)?;
        } else if ![".gz", ".br", ".map"].iter().any(|suffix| name.ends_with(suffix)) {
            files.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

/// Whether a program that does nothing can be linked with this argument.
fn linker_takes(argument: &str) -> bool {
    let (Some(rustc), Some(target), Some(out)) =
        (env::var_os("RUSTC"), env::var_os("TARGET"), env::var_os("OUT_DIR"))
    else {
        return false;
    };
    let out = Path::new(&out);
    let source = out.join("empty.rs");
    if fs::write(&source, "fn main() {}\n").is_err() {
        return false;
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let mut command = Command::new(rustc);
    command.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        command.arg(format!("-Clinker={linker}"));
    }
    command.arg("--target").arg(target).arg(format!("-Clink-arg={argument}"));
    command.arg("-o").arg(out.join("empty")).arg(source).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
