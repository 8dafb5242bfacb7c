#!/usr/bin/env bash
# Every test; the service's own suite on both engines. Fails when something is missing.
# Everything is built as one selection (--workspace): another selection has other features of its dependencies, and would be built anew.
set -euo pipefail
cd "$(dirname "$0")/.."
pg=$(mktemp -d) && heard=$(mktemp) && trap 'scripts/postgres.sh stop "$pg"; rm -f "$heard"' EXIT
chmod 755 "$pg"
cargo clippy --workspace --all-targets --quiet -- -D warnings
echo "== everything but calls in real time, the service on SQLite"
TEST_ENGINE=sqlite cargo test --workspace --quiet --lib --bins --test '[!p]*' --test 'p[!h]*'
cargo test --workspace --quiet --doc
echo "== calls in real time"
# Once: a test that fails now and then has a cause. They wait for conditions, so what else the machine has to do only makes them slow.
if ! cargo test --workspace --quiet --test phone 2>&1 | tee "$heard"; then
    # They run one after the other, and what failed is listed in that order.
    first=$(awk '/^---- .* stdout ----$/ { sub(/^---- /, ""); sub(/ stdout ----$/, ""); print; exit }' "$heard")
    echo "calls in real time: ${first:-the build} failed first:" >&2
    awk -v start="---- $first stdout ----" '$0 == start { on = 1 } on && /^(stack backtrace:|note:)/ { exit } on' "$heard" >&2
    exit 1
fi
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
echo "== generated clients"
scripts/clients.sh
