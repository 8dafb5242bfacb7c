# To be sourced: from here on cargo builds the workspace with clippy's driver in place of the compiler, so that one build makes the tests and runs
# the lints of all of them. Every warning is an error. The workspace's own crates that are built so lie beside those that cargo builds without this.
export RUSTC_WORKSPACE_WRAPPER=clippy-driver
export CLIPPY_ARGS="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"
