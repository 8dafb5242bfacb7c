//! The binary: see `dastak --help`.

fn main() -> std::process::ExitCode {
    dastak::cli::main()
}
