#!/usr/bin/env bash
# Whether an engine that speaks PostgreSQL's protocol carries the service:
# `scripts/engine.sh postgres://user[:password]@host:port/database [listen|poll]`.
#
# Runs the doctor's probes in that database (which need not hold anything, and gets a table for a moment), then the store's tests, the
# service's own suite, its tests as processes that are killed and cut off, and, with `listen`, the simulation with two nodes. Each test
# makes a database of its own beside it, whose name begins with `dastak_engine_`, and these are dropped in the end; no other database is
# touched. The user must be allowed to make databases. One test makes a user, too, and is left out if this one may not. The connection is
# in the clear. A step that takes longer than ENGINE_STEP_MINUTES (60) has failed. What it printed stays in target/engine/.
set -euo pipefail
cd "$(dirname "$0")/.."
usage="usage: scripts/engine.sh postgres://user[:password]@host:port/database [listen|poll]"
url="${1:?$usage}" wake="${2:-listen}" minutes="${ENGINE_STEP_MINUTES:-60}"
# The tests put the names of their own databases in the place of this one, so nothing may follow it.
[[ "$url" =~ ^postgres(ql)?://[^/@:?]+(:[^/@?]*)?@[^/@?,]+/[A-Za-z0-9_.-]+$ ]] || {
    echo "the URL is not as these tests need it: one host, a database, and nothing behind it" >&2
    echo "$usage" >&2
    exit 1
}
case "$wake" in listen | poll) ;; *) echo "the second argument is listen or poll" >&2; exit 1 ;; esac
[[ "$minutes" =~ ^[1-9][0-9]*$ ]] || { echo "ENGINE_STEP_MINUTES is a number of minutes, not «$minutes»" >&2; exit 1; }
command -v psql >/dev/null || { echo "psql is not installed (apt-get install postgresql-client)" >&2; exit 1; }
ask() { psql "$url" -AXqt -c "$1"; }
PGCONNECT_TIMEOUT=10 ask "select 1" >/dev/null || { echo "the server does not answer psql" >&2; exit 1; }
logs=target/engine data=$(mktemp -d)
rm -rf "$logs" && mkdir -p "$logs"
# Lower case and short: the engine folds or cuts other names.
export TEST_DATABASE_PREFIX="dastak_engine_$$_" TEST_ENGINE=postgres TEST_POSTGRES_URL="$url" TEST_DATABASE_WAKE="$wake" DASTAK_DATABASE_WAKE="$wake"
end() {
    rm -rf "$data"
    ask "select datname from pg_database where datname like '${TEST_DATABASE_PREFIX//_/\\_}%'" |
        while read -r name; do ask "drop database if exists \"$name\" with (force)" || true; done
}
trap end EXIT
failed=()

# step NAME COMMAND…
step() {
    local name="$1" log="$logs/${1// /-}.log" began=$SECONDS status=0
    shift
    timeout --kill-after=30 "${minutes}m" "$@" >"$log" 2>&1 || status=$?
    if [ $status = 0 ]; then
        echo "== $name: ok, $((SECONDS - began)) s"
        return
    fi
    [ $status != 124 ] || echo "it took longer than $minutes minutes and was ended" >>"$log"
    echo "== $name: FAILED after $((SECONDS - began)) s; $log"
    grep -E '^(FAIL  engine|test .* \.\.\. FAILED)' "$log" || tail -n 20 "$log"
    failed+=("$name")
}

# Everything is built first, as one selection, as in scripts/test.sh.
cargo test --quiet --workspace --no-run --test postgres --test it --test process --test simulation
tests() {
    local target="$1"
    shift
    cargo test --workspace --test "$target" -- "$@"
}
export -f tests
# The schema is not there, so of the doctor only what it says of the engine counts.
step "probes" bash -c 'set -o pipefail; out=$(DASTAK_DATABASE_URL="$1" "$2" doctor --data "$3" || true); echo "$out"; grep -q "^ok    engine: " <<<"$out" && ! grep -q "^FAIL  engine: " <<<"$out"' \
    probes "$url" "${CARGO_TARGET_DIR:-target}/debug/dastak" "$data"
# Those of the replica bring servers of their own.
left_out=(--skip replica::)
if [ "$(ask "select rolsuper or rolcreaterole from pg_roles where rolname = current_user")" != t ]; then
    left_out+=(--skip a_user_who_may_make_no_tables_is_told_on_postgres)
    echo "left out: the test that makes a user, which this user may not"
fi
step "the engine of the store" bash -c 'tests postgres "$@"' tests "${left_out[@]}"
step "the service" bash -c 'tests it --skip _on_sqlite'
if [ "$wake" = listen ]; then
    step "the service as processes" bash -c 'tests process --skip _on_sqlite --skip over_tls'
    step "the simulation with two nodes" env SIM_ENGINE=postgres SIM_SEEDS=2 bash -c 'tests simulation every_seed'
else
    step "the service as processes" bash -c 'tests process --skip _on_sqlite --skip over_tls --skip commits_wake'
    echo "left out: the simulation, whose nodes wake each other with notifications"
fi
[ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
echo "this engine carries the service with database_wake = $wake"
