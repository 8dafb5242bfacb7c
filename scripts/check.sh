#!/usr/bin/env bash
# The checks of daily work: format, lints, unit tests, and the tests over HTTP on SQLite. `make test` is the whole.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo fmt --all --check
cargo fmt --manifest-path fuzz/Cargo.toml --check
python3 scripts/dependencies.py
python3 sdk/generate.py --check
scripts/unrun.sh
cargo clippy --workspace --all-targets --quiet -- -D warnings
cargo test --workspace --quiet --lib --bins --test it -- --skip _on_postgres --skip tenants::
