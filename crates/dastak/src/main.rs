//! The binary: see `dastak --help`.

/// Requests are many small allocations; this allocator costs them least.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    dastak::cli::main()
}
