#!/usr/bin/env bash
# Has webhook signatures verified by the `stripe` package from pip, which lives in a virtual environment under target/.
set -eu
cd "$(dirname "$0")/.."
venv=target/stripe-venv
if ! "$venv/bin/python" -c 'import stripe' 2>/dev/null; then
  python3 -m venv "$venv" || { echo "python3-venv is missing (apt-get install python3-venv)" >&2; exit 1; }
  "$venv/bin/pip" install --quiet --disable-pip-version-check 'stripe>=12,<16'
fi
cargo build --quiet --bin dastak
"$venv/bin/python" tests/python/stripe_signature.py "${CARGO_TARGET_DIR:-target}/debug/dastak"
