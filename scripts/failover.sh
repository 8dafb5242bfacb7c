#!/usr/bin/env bash
# Breaks a PostgreSQL primary under two nodes that work, and counts what was lost, doubled or dialled twice.
#
# scripts/failover.sh [--binary FILE] [--upgrade-to FILE] [--strict] [--keep DIR] [FAULT…]
#   FAULT: kill freeze stop standby disk outage partition slow upgrade; `all` of these one after the other, `every` in two lanes side by side
#   (a part of `make test`, with --strict); `short` (the default) is kill and upgrade.
#   patroni-kill patroni-freeze, or `patroni` for both: with the files of deploy/cluster; needs patroni, etcd-server and haproxy.
#   asynchronous: the same with a standby that is behind. It loses, so the run must fail: this shows that the count counts.
set -eu
cd "$(dirname "$0")/.."
scripts/packages.sh '/usr/lib/postgresql/*/bin/initdb:postgresql' sipp:sip-tester espeak-ng:espeak-ng
exec python3 scripts/failover --binary "${DASTAK:-${CARGO_TARGET_DIR:-target}/debug/dastak}" "$@"
