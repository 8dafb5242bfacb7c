#!/usr/bin/env bash
# Clients that outside generators make of openapi.json: one for Python is used against a running service, one for TypeScript passes the
# compiler. DASTAK may name a binary that is built already.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/python.sh)
dastak=${DASTAK:-$(scripts/binary.sh)}
work=$(mktemp -d)
server=
cleanup() { [ -z "$server" ] || { kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }; rm -rf "$work"; }
trap cleanup EXIT
echo "== TypeScript"
home=target/clients
mkdir -p "$home"
if ! cmp -s scripts/clients/package-lock.json "$home/package-lock.json" || [ ! -d "$home/node_modules" ]; then
  cp scripts/clients/package.json scripts/clients/package-lock.json "$home/"
  (cd "$home" && npm ci --silent --no-audit --no-fund)
fi
cp scripts/clients/tsconfig.json scripts/clients/use.ts "$home/"
"$home/node_modules/.bin/openapi-typescript" openapi.json --default-non-nullable false --output "$home/api.d.ts" >/dev/null
"$home/node_modules/.bin/tsc" --project "$home"
echo "== Python"
"$python" -m openapi_python_client generate --path openapi.json --config scripts/clients/python.yaml --meta none --output-path "$work/service_client" --fail-on-warning
DASTAK_TELEPHONY__CARRIER=sandbox "$dastak" serve --listen 127.0.0.1:0 --data "$work/data" >"$work/ready" 2>"$work/log" &
server=$!
until [ -s "$work/ready" ]; do kill -0 "$server" || { cat "$work/log"; exit 1; }; done
url=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["url"])' "$work/ready")
admin() { "$dastak" admin --url "$url" --data "$work/data" --json "$@"; }
field() { python3 -c 'import json,sys; print(json.load(sys.stdin)["data"][sys.argv[1]])' "$1"; }
workspace=$(admin create-workspace --name Clients --kyb-verified true --balance-minor 100000 | field id)
admin create-number "$workspace" --number 08045670009 >/dev/null
live=$(admin create-key "$workspace" --name live --mode live --scopes all | field key)
test=$(admin create-key "$workspace" --name test --mode test --scopes all | field key)
post() { curl -sS --fail-with-body -H "Authorization: Bearer $live" -H 'Content-Type: application/json' -d "$2" "$url$1"; }
agent=$(post /v1/agents '{"name": "Asha"}' | field id)
post "/v1/agents/$agent/status" '{"status": "active"}' >/dev/null
PYTHONPATH="$work" "$python" scripts/clients/use.py "$url" "$test" 9876500001 "$agent" || { tail -n 20 "$work/log"; exit 1; }
