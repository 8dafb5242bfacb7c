#!/usr/bin/env bash
# Load and ratio runs, each table with its yardstick in the same run. `scripts/bench.sh skeleton` runs one of them.
set -eu
cd "$(dirname "$0")/.."
cargo build --release --quiet --bin dastak --bin bench
[ $# -gt 0 ] || set -- skeleton calls webhooks nudges campaigns dialling streams chats knowledge extract lines phone
for run in "$@"; do
  echo "## $run"
  ./target/release/bench "$run"
done
