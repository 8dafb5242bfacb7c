//! Has the linker of a release fold functions whose machine code is equal into one, where it can: `lld` does, which
//! rustc brings along on x86-64 Linux.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

const FOLD: &str = "-Wl,--icf=all";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("PROFILE").as_deref() == Ok("release") && linker_takes(FOLD) {
        println!("cargo::rustc-link-arg-bins={FOLD}");
    }
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
