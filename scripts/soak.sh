#!/usr/bin/env bash
# A hundred calls at once for ten minutes against SIPp: nothing may be left or have grown afterwards. `scripts/soak.sh 100 600` says how many and for how long.
set -eu
cd "$(dirname "$0")/.."
[ -f console/dist/index.html ] || scripts/console.sh || export WITHOUT_CONSOLE=1 # it is not measured here
cargo build --release --quiet --bin dastak --bin bench --features dastak/heap-figures
exec ./target/release/bench soak "$@"
