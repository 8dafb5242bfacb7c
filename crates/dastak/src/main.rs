//! The binary: see `dastak --help`.

/// Requests make many small allocations; this allocator is the cheapest for them.
#[cfg(not(feature = "heap-figures"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The same, counting what is allocated. It costs each allocation an atomic, so it is for runs that look for
/// growth (`make soak`): the memory that a process occupies does not show it, for an allocator keeps what was
/// freed.
#[cfg(feature = "heap-figures")]
#[global_allocator]
static ALLOCATOR: cap::Cap<mimalloc::MiMalloc> = cap::Cap::new(mimalloc::MiMalloc, usize::MAX);

fn main() -> std::process::ExitCode {
    #[cfg(feature = "heap-figures")]
    dastak::runtime::metrics::count_heap(|| ALLOCATOR.allocated());
    dastak::cli::main()
}
