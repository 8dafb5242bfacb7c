#!/usr/bin/env bash
# Has webhook signatures verified by the `stripe` package from pip.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/python.sh)
cargo build --quiet --bin dastak
"$python" tests/python/stripe_signature.py target/debug/dastak
