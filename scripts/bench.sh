#!/usr/bin/env bash
# Load and ratio runs, each table with its yardstick in the same run. `scripts/bench.sh skeleton nodes` runs these; without a name all run, and
# those that can do so a second time on PostgreSQL. That is a server of the run's own, with fsync on and an empty database for each run. If
# BENCH_POSTGRES_URL names an empty database of another one, all take that; `growth` then needs BENCH_POSTGRES_LOG, the file that it logs to.
# GROWTH (20000 200000) are the sizes of `growth`; 10^7 calls take half an hour and more, and 30 GB.
set -eu
cd "$(dirname "$0")/.."
[ -f console/dist/index.html ] || scripts/console.sh || export WITHOUT_CONSOLE=1 # it is not measured here
cargo build --release --quiet --bin dastak --bin bench
on_both="webhooks campaigns dialling streams"
on_postgres="nodes growth"
all=
if [ $# = 0 ]; then
  all=yes
  set -- skeleton calls webhooks nudges campaigns dialling streams channel chats knowledge extract lines phone nodes growth
fi
is_one() { [[ " $2 " == *" $1 "* ]]; }

server=
own_server() {
  [ -z "$server" ] || return 0
  pg=$(mktemp -d)
  chmod 755 "$pg"
  trap 'scripts/postgres.sh stop "$pg"' EXIT
  server=$(scripts/postgres.sh start "$pg")
}

# Runs one on PostgreSQL.
stored() {
  if [ -n "${BENCH_POSTGRES_URL:-}" ]; then
    ./target/release/bench "$@"
    return
  fi
  own_server
  PGOPTIONS=-cclient_min_messages=warning psql "$server" -Xqc "drop database if exists bench with (force)" -c "create database bench"
  BENCH_POSTGRES_URL="${server%/*}/bench" BENCH_POSTGRES_LOG="$pg/log" ./target/release/bench "$@"
}

for run in "$@"; do
  echo "## $run"
  # shellcheck disable=SC2086 # several sizes
  case "$run" in
    growth) stored growth ${GROWTH:-20000 200000} ;;
    *) if is_one "$run" "$on_postgres"; then stored "$run"; else ./target/release/bench "$run"; fi ;;
  esac
  if [ -n "$all" ] && [ -z "${BENCH_POSTGRES_URL:-}" ] && is_one "$run" "$on_both"; then
    echo "## $run, on PostgreSQL"
    stored "$run"
  fi
done
