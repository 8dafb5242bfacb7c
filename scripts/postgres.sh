#!/usr/bin/env bash
# A PostgreSQL server of our own, in a folder: `postgres.sh start DIR` prints its URL, `postgres.sh stop DIR` ends it and removes the folder.
set -eu
verb="$1" dir="$2"
bin=$(dirname "$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -n 1)" 2>/dev/null || true)
[ -x "$bin/initdb" ] || { echo "PostgreSQL is not installed (apt-get install postgresql)" >&2; exit 1; }
# The server refuses to run as root.
as() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
case "$verb" in
  start)
    mkdir -p "$dir" && cd "$dir"
    [ "$(id -u)" = 0 ] && chown postgres "$dir"
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    [ -f "$dir/data/PG_VERSION" ] || as "$bin/initdb" -D "$dir/data" -U dastak --auth=trust -E UTF8 >/dev/null
    as "$bin/pg_ctl" -D "$dir/data" -w -l "$dir/log" -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=600 ${PG_OPTIONS:-}" start >/dev/null
    echo "postgres://dastak@127.0.0.1:$port/postgres"
    ;;
  stop)
    cd /
    as "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$dir"
    ;;
esac
