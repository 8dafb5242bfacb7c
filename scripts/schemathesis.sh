#!/usr/bin/env bash
# Schemathesis over both served OpenAPI documents, with a live and a test key and the operator's token: no 5xx, no undocumented status, no
# answer off its schema. DASTAK may name a binary that is built already. `scripts/schemathesis.sh 200` makes more examples an operation.
set -eu
cd "$(dirname "$0")/.."
examples="${1:-12}"
python=$(scripts/python.sh)
dastak=${DASTAK:-$(scripts/binary.sh)}
work=$(mktemp -d)
cleanup() { kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$work"; }
DASTAK_TELEPHONY__CARRIER=sandbox "$dastak" serve --listen 127.0.0.1:0 --data "$work/data" >"$work/ready" 2>"$work/log" &
server=$! && trap cleanup EXIT
until [ -s "$work/ready" ]; do kill -0 "$server" || { cat "$work/log"; exit 1; }; done
url=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["url"])' "$work/ready")
admin() { "$dastak" admin --url "$url" --data "$work/data" --json "$@"; }
field() { python3 -c 'import json,sys; print(json.load(sys.stdin)["data"][sys.argv[1]])' "$1"; }
workspace=$(admin create-workspace --name Fuzz --kyb-verified true --balance-minor 100000000 | field id)
admin update-workspace "$workspace" --limits '{"requestsPerMinute":10000000,"callsPerMinute":10000000,"nudgesPerMinute":10000000,"campaignWritesPerMinute":10000000}' >/dev/null
admin create-number "$workspace" --number 08045670009 >/dev/null
run() { # name, document, token, more options
  local name="$1" document="$2" token="$3"; shift 3
  echo "== $name"
  "$python" -m schemathesis.cli run "$url$document" -H "Authorization: Bearer $token" --max-examples "$examples" --workers 1 --phases coverage,fuzzing \
    --checks not_a_server_error,status_code_conformance,response_schema_conformance,content_type_conformance --suppress-health-check all \
    --warnings off --request-timeout 60 --no-color "$@" || { tail -n 20 "$work/log"; exit 1; }
}
run "live key" /v1/openapi.json "$(admin create-key "$workspace" --name live --mode live --scopes all | field key)"
run "test key" /v1/openapi.json "$(admin create-key "$workspace" --name test --mode test --scopes all | field key)" --exclude-path /v1/events # a long poll: once is enough
run "operator" /operator/v1/openapi.json "$(cat "$work/data/operator.token")"
