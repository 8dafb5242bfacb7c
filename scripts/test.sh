#!/usr/bin/env bash
# Every test; the service's own suite on both engines. Fails when something is missing.
set -eu
cd "$(dirname "$0")/.."
pg=$(mktemp -d) && trap 'scripts/postgres.sh stop "$pg"' EXIT
chmod 755 "$pg"
cargo clippy --workspace --all-targets --quiet -- -D warnings
cargo test --workspace --quiet --exclude dastak
cargo test --quiet -p dastak --lib
echo "== the service on SQLite"
TEST_ENGINE=sqlite cargo test --quiet -p dastak --test it --test process
echo "== conversations on audio, calls over SIP and RTP"
cargo test --quiet -p dastak --test voice
# Calls in real time, one after the other, so that the machine has time to understand what is said. Whoever was kept waiting by something else on
# the machine is tried once more; a fault of the service fails twice.
cargo test --quiet -p dastak --test phone -- --test-threads=1 || cargo test --quiet -p dastak --test phone -- --test-threads=1
echo "== the simulation"
cargo test --quiet -p dastak --test simulation -- --nocapture
echo "== the service on PostgreSQL"
TEST_POSTGRES_URL=$(PG_OPTIONS="-c fsync=off -c synchronous_commit=off" scripts/postgres.sh start "$pg")
export TEST_POSTGRES_URL
TEST_ENGINE=postgres cargo test --quiet -p dastak --test it --test process
echo "== the README as pasted"
python3 scripts/readme.py target/debug/dastak
echo "== signatures, by a library from outside"
scripts/verify-signature.sh
echo "== schemathesis"
scripts/schemathesis.sh
