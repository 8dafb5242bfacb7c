#!/usr/bin/env bash
# Every test; the service's own suite on both engines. Fails when something is missing.
#
# The console comes first, since it is put into the binary. Everything is built then, as one selection (--workspace): another selection has other features of
# its dependencies, and would be built anew. That build runs the lints (scripts/lints.sh). Then three lanes run side by side: what waits for real time (telephones,
# time-outs, outages) and needs little of the machine, and after it the console in a browser; the tests in Rust, which compute; and what uses the service from outside, which does a bit of both. The last two
# yield to the first (nice). Nothing is tried twice. What a step printed stays in target/tests/; of a step that fails, what failed first is shown.
# The time of a step is that of the clock and, beside it, what it took of the processors; a server that a lane shares is not counted.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lints.sh
. scripts/lints.sh
logs=target/tests pg=$(mktemp -d)
rm -rf "$logs" && mkdir -p "$logs"
chmod 755 "$pg"
set -m # each lane is a process group
lanes=()
end() {
    disown -a # the shell does not report their end
    for lane in "${lanes[@]}"; do kill -- "-$lane" 2>/dev/null || true; done
    scripts/postgres.sh stop "$pg"
}
trap end EXIT
# The telephone tests wait for real time rather than for a processor, and take turns among themselves. Each test of signalling starts
# processes of its own, up to twenty: more tests at once than these, and a peer may start later than a caller waits for its answer.
telephone_threads=32 signalling_threads=4
# The most seconds of a step: one that hangs fails and shows where.
longest=4000
# KEEP_GOING=1: what fails is told at once, and the rest runs all the same.
all=()
[ -z "${KEEP_GOING:-}" ] || all=(--no-fail-fast)

# step NAME COMMAND…
step() {
    local name="$1" log="$logs/${1//[^a-zA-Z0-9]/-}.log" began=$SECONDS
    shift
    if TIMEFORMAT="%U %S" && { time timeout --kill-after=10 $longest "$@" >"$log" 2>&1; } 2>"$log.time"; then
        echo "== $name: $((SECONDS - began)) s, $(awk '{ printf "%.0f", $1 + $2 }' "$log.time") s of the processors"
        return
    fi
    {
        echo "== $name: FAILED after $((SECONDS - began)) s; all that it printed is in $log"
        local first
        first=$(awk '/^test .* \.\.\. FAILED/ { print $2; exit }' "$log")
        if [ -n "$first" ]; then
            echo "$first failed first:"
            awk -v start="---- $first stdout ----" '$0 == start { on = 1 } on && /^(stack backtrace:|note:)/ { exit } on' "$log"
        else
            tail -n 40 "$log"
        fi
    } >&2
    touch "$logs/failed"
    [ -n "${KEEP_GOING:-}" ]
}

# The test binaries that wait; all others compute.
waiting_tests=(phone sip media)
# Names of all the others, as options of cargo.
other_tests() {
    cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
targets = [target for package in json.load(sys.stdin)["packages"] for target in package["targets"]]
names = {target["name"] for target in targets if "test" in target["kind"]}
missing = set(sys.argv[1:]) - names
sys.exit(f"no such tests: {missing}") if missing else print(*(f"--test={name}" for name in sorted(names - set(sys.argv[1:]))))
' "${waiting_tests[@]}"
}

waits() {
    step "calls in real time" cargo test --workspace --test phone -- --test-threads $telephone_threads &&
        step "signalling and sound in real time" cargo test "${all[@]}" --workspace --test sip --test media -- --test-threads $signalling_threads &&
        step "calls through a dispatcher" python3 scripts/dispatcher.py "$DASTAK" &&
        step "a database that fails" scripts/failover.sh --strict --keep "$logs/failover" every &&
        step "the console in a browser" env CONSOLE_FROM=binary scripts/console-test.sh
}

computes() {
    local on_postgres="-c fsync=off -c synchronous_commit=off" others draw
    others=$(other_tests) || return 1
    draw=$(git rev-parse HEAD) || return 1
    echo "the simulation draws a hundred seeds beside its fixed ones: SIM_DRAW=$draw"
    # shellcheck disable=SC2086 # several options
    step "everything else, the service on SQLite" env TEST_ENGINE=sqlite SIM_DRAW="$draw" \
        cargo test "${all[@]}" --workspace --lib --bins $others -- --skip _on_postgres &&
        TEST_POSTGRES_URL=$(PG_OPTIONS="$on_postgres" scripts/postgres.sh start "$pg") && export TEST_POSTGRES_URL &&
        step "the service on PostgreSQL" env TEST_ENGINE=postgres cargo test "${all[@]}" --workspace --test it --test process --test postgres -- --skip _on_sqlite &&
        step "the simulation with two nodes" env SIM_ENGINE=postgres SIM_SEEDS=4 cargo test --workspace --test simulation every_seed
}

from_outside() {
    step "schemathesis" scripts/schemathesis.sh &&
        step "generated clients" scripts/clients.sh &&
        step "the document, linted" scripts/spectral.sh &&
        step "signatures, by a library from outside" scripts/verify-signature.sh &&
        step "the SDKs" scripts/sdk.sh &&
        step "an MCP client" "$(scripts/python.sh)" scripts/mcp-client.py "$DASTAK" &&
        step "files of deployments" "$(scripts/python.sh)" scripts/deployment.py "$DASTAK" &&
        step "the manual in a browser" node scripts/manual.mjs "$DASTAK" &&
        step "the guides as pasted" python3 scripts/guides.py "$DASTAK" &&
        step "packages" scripts/package-test.sh "$DASTAK" &&
        step "the README as pasted" python3 scripts/readme.py "$DASTAK"
}

yielding() {
    renice -n 10 "$BASHPID" >/dev/null && "$@"
}

step "licences" python3 scripts/licenses.py --check
step "the table of dependencies" python3 scripts/dependencies.py
step "tests that would not run" scripts/unrun.sh
step "the console" scripts/console-if-changed.sh
step "build with lints" cargo test --workspace --no-run
DASTAK="${CARGO_TARGET_DIR:-target}/debug/dastak"
export DASTAK
waits & lanes+=($!)
yielding computes & lanes+=($!)
yielding from_outside & lanes+=($!)
for _ in "${lanes[@]}"; do
    wait -n
done
if [ -e "$logs/failed" ]; then
    echo "some steps failed, see above" >&2
    exit 1
fi
echo "every test passed in $((SECONDS / 60)) min $((SECONDS % 60)) s"
