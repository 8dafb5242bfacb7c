#!/usr/bin/env bash
# Whether an engine that speaks PostgreSQL's protocol carries the service: `scripts/engine.sh postgres://user@host:port/database [listen|poll]`.
#
# Runs the doctor's probes in that database (which need not hold anything, and gets a table for a moment), then the store's tests and the
# service's own suite. Each test makes a database of its own beside it, whose name begins with `dastak_engine_`, and these are dropped in the end;
# no other database is touched. The user must be allowed to make databases. What it printed stays in target/engine/.
set -euo pipefail
cd "$(dirname "$0")/.."
url="${1:?usage: scripts/engine.sh postgres://user@host:port/database [listen|poll]}" wake="${2:-listen}"
case "$wake" in listen | poll) ;; *) echo "the second argument is listen or poll" >&2; exit 1 ;; esac
command -v psql >/dev/null || { echo "psql is not installed (apt-get install postgresql-client)" >&2; exit 1; }
logs=target/engine data=$(mktemp -d)
rm -rf "$logs" && mkdir -p "$logs"
# Lower case and short: the engine folds or cuts other names.
export TEST_DATABASE_PREFIX="dastak_engine_$$_" TEST_ENGINE=postgres TEST_POSTGRES_URL="$url" TEST_DATABASE_WAKE="$wake" DASTAK_DATABASE_WAKE="$wake"
end() {
    rm -rf "$data"
    psql "$url" -AXqt -c "select datname from pg_database where datname like '${TEST_DATABASE_PREFIX//_/\\_}%'" |
        while read -r name; do psql "$url" -Xq -c "drop database if exists \"$name\" with (force)" || true; done
}
trap end EXIT
failed=()

# step NAME COMMAND…
step() {
    local name="$1" log="$logs/${1// /-}.log" began=$SECONDS
    shift
    if "$@" >"$log" 2>&1; then
        echo "== $name: ok, $((SECONDS - began)) s"
    else
        echo "== $name: FAILED after $((SECONDS - began)) s; $log"
        grep -E '^(FAIL  engine|test .* \.\.\. FAILED)' "$log" || tail -n 20 "$log"
        failed+=("$name")
    fi
}

# The schema is not there, so of the doctor only what it says of the engine counts.
cargo build --quiet --bin dastak
step "probes" bash -c 'set -o pipefail; out=$(DASTAK_DATABASE_URL="$1" "$2" doctor --data "$3" || true); echo "$out"; grep -q "^ok    engine: " <<<"$out" && ! grep -q "^FAIL  engine: " <<<"$out"' \
    probes "$url" "${CARGO_TARGET_DIR:-target}/debug/dastak" "$data"
step "the engine of the store" cargo test -p store --test postgres -- --skip replica::
step "the service" cargo test -p dastak --test it -- --skip _on_sqlite
[ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
echo "this engine carries the service with database_wake = $wake"
