#!/usr/bin/env bash
# Has webhook signatures verified by the `stripe` package from pip, in the environment of `scripts/python.sh`.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/python.sh)
cargo build --quiet --bin dastak
"$python" tests/python/stripe_signature.py "${CARGO_TARGET_DIR:-target}/debug/dastak"
