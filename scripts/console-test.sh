#!/usr/bin/env bash
# Everything about the console: rules, words, contrast, types, sizes, and its pages in Chromium on a service (DASTAK=binary).
#
#   DASTAK=target/debug/dastak scripts/console-test.sh            all
#   DASTAK=… PAGES=home,calls scripts/console-test.sh pages       the pages of these modules only; also: stories, budget
set -euo pipefail
cd "$(dirname "$0")/.."
: "${DASTAK:?names the binary of the service}"
DASTAK=$(realpath "$DASTAK")
export DASTAK

scripts/console.sh
bin=$(scripts/console.sh path)
[ -z "$bin" ] || export PATH="$bin:$PATH"
cd console
node scripts/operations.mjs --check
node scripts/lint.mjs
node scripts/words.mjs
node scripts/contrast.mjs
npx tsc --noEmit
files=(tests/*.test.ts)
[ $# -eq 0 ] || files=("${@/%/.test.ts}") && files=("${files[@]/#tests\//}") && files=("${files[@]/#/tests/}")
node --import ./tests/register.mjs --test --test-concurrency=1 --test-timeout=1200000 "${files[@]}"
