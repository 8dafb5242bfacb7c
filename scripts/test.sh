#!/usr/bin/env bash
# Every test; the service's own suite on both engines. Fails when something is missing.
# Everything is built as one selection (--workspace): another selection has other features of its dependencies, and would be built anew.
set -eu
cd "$(dirname "$0")/.."
pg=$(mktemp -d) && trap 'scripts/postgres.sh stop "$pg"' EXIT
chmod 755 "$pg"
cargo clippy --workspace --all-targets --quiet -- -D warnings
echo "== everything but calls in real time, the service on SQLite"
TEST_ENGINE=sqlite cargo test --workspace --quiet --lib --bins --test '[!p]*' --test 'p[!h]*'
cargo test --workspace --quiet --doc
echo "== calls in real time"
# Whoever was kept waiting by something else on the machine is tried once more; a fault of the service fails twice.
cargo test --workspace --quiet --test phone || cargo test --workspace --quiet --test phone
echo "== the service on PostgreSQL"
TEST_POSTGRES_URL=$(PG_OPTIONS="-c fsync=off -c synchronous_commit=off" scripts/postgres.sh start "$pg")
export TEST_POSTGRES_URL
TEST_ENGINE=postgres cargo test --workspace --quiet --test it --test process
export DASTAK="${CARGO_TARGET_DIR:-target}/debug/dastak"
echo "== the README as pasted"
python3 scripts/readme.py "$DASTAK"
echo "== signatures, by a library from outside"
scripts/verify-signature.sh
echo "== schemathesis"
scripts/schemathesis.sh
