#!/usr/bin/env bash
# Builds the console if its sources are newer than what was built of them. What was built is put into the binary, so building it again for
# nothing would have the service built again, too.
set -euo pipefail
cd "$(dirname "$0")/.."
built=console/dist/index.html
if [ -f "$built" ]; then
    # A folder is newer when a file in it was removed.
    newer=$(find console scripts/console.sh \( -path console/dist -o -path console/node_modules -o -path console/tests \) -prune -o -newer "$built" -print -quit)
    [ -n "$newer" ] || exit 0
fi
exec scripts/console.sh
