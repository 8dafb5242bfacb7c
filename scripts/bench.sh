#!/usr/bin/env bash
# Ratios in one run, against the yardsticks that each table names. `scripts/bench.sh skeleton` runs one of them.
set -eu
cd "$(dirname "$0")/.."
cargo build --release --quiet --bin dastak --bin bench
for run in "${@:-skeleton}"; do
  echo "## $run"
  ./target/release/bench "$run"
done
