#!/usr/bin/env bash
# Builds the console if its sources are newer than what was built of them. Where that fails, as without a network, the service is built all
# the same: with the console of before, or without one.
set -u
cd "$(dirname "$0")/.."
built=console/dist/index.html
changed() {
    [ ! -f "$built" ] ||
        [ -n "$(find console scripts/console.sh openapi.json \( -path console/dist -o -path console/node_modules -o -path console/tests \) -prune -o -type f -newer "$built" -print -quit)" ]
}
if [ ! -x scripts/console.sh ] || ! changed || scripts/console.sh; then
    exit 0
fi
if [ -f "$built" ]; then
    echo "the console could not be built again, see above: it stays as it was built before" >&2
else
    echo "the console could not be built, see above: the service runs without it, and /console/ says so" >&2
fi
