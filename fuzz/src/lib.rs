//! The frame of a fuzzer.

pub use fuzz_targets;
pub use libfuzzer_sys;

/// A fuzzer that runs the function of this target.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        static TARGET: std::sync::LazyLock<fn(&[u8])> =
            std::sync::LazyLock::new(|| $crate::fuzz_targets::find($name).expect($name));

        $crate::libfuzzer_sys::fuzz_target!(|data: &[u8]| TARGET(data));
    };
}
