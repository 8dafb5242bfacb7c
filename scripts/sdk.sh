#!/usr/bin/env bash
# The SDKs (sdk/README.md): the generated core is what openapi.json asks for; both packages are built, installed into fresh environments, and
# tested there against a server that misbehaves and against the service, on SQLite and on PostgreSQL. DASTAK may name a binary that is built already.
set -eu
cd "$(dirname "$0")/.."
top=$PWD home=$PWD/target/sdk
export DASTAK_SDK=$top/sdk
dastak=$(realpath "${DASTAK:-$(scripts/binary.sh)}")
pg=$(mktemp -d)
chmod 755 "$pg"
trap 'scripts/postgres.sh stop "$pg"' EXIT
mkdir -p "$home"

echo "== the generated core"
python3 sdk/generate.py --check

echo "== Python: tools, types, the wheel"
tools=$home/tools/bin
if [ ! -x "$tools/python" ] || ! cmp -s sdk/python/requirements.txt "$home/requirements.txt"; then
  python3 -c 'import ensurepip' 2>/dev/null || scripts/packages.sh /none:python3-venv
  python3 -m venv --clear "$home/tools"
  "$tools/pip" install --quiet --disable-pip-version-check -r sdk/python/requirements.txt
  cp sdk/python/requirements.txt "$home/requirements.txt"
fi
rm -rf "$home/wheel" "$home/fresh"
"$tools/pip" wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$home/wheel" sdk/python
"$tools/ruff" check --quiet --no-cache --config sdk/python/pyproject.toml sdk examples/first_call.py
# Type stubs and packages of the SDK come from the wheel, so that what is checked is what is installed.
python3 -m venv "$home/fresh"
"$home/fresh/bin/pip" install --quiet --disable-pip-version-check --constraint sdk/python/requirements.txt "$home"/wheel/dastak-*.whl pytest
python3 -m venv --clear "$home/oldest"
"$home/oldest/bin/pip" install --quiet --disable-pip-version-check "$home"/wheel/dastak-*.whl httpx==0.27.0 pydantic==2.8.0 pytest
check() { (cd "$1" && shift && "$tools/mypy" --strict --python-executable "$home/fresh/bin/python" --cache-dir "$home/mypy" "$@"); }
check sdk/python src
MYPYPATH=tests check sdk python/tests tests generate.py generator ../examples/first_call.py
python3 sdk/tests/readme.py sdk/python/README.md python "$home/readme.py"
check "$home" readme.py

echo "== TypeScript: the package, types"
build=$home/typescript fresh=$home/fresh-typescript
# packages FROM TO…: installs what a lock says, unless it is there; OPTIONS are those of npm.
packages() {
  if cmp -s "$1/package-lock.json" "$2/package-lock.json" && [ -d "$2/node_modules" ]; then return; fi
  mkdir -p "$2" && rm -rf "$2/node_modules"
  cp "$1/package.json" "$1/package-lock.json" "$2/"
  (cd "$2" && npm ci --silent --no-audit --no-fund "${@:3}")
}
packages sdk/typescript "$build" --ignore-scripts
packages sdk/tests/bun "$home/bun"
bun=$home/bun/node_modules/.bin/bun
rm -rf "$build/src" "$build/dist" "$fresh"
for part in src README.md LICENSE package.json tsconfig.json; do cp -R "sdk/typescript/$part" "$build/"; done
mkdir -p "$fresh"
(cd "$build" && npm pack --silent --pack-destination "$fresh" >/dev/null)
echo '{ "private": true, "type": "module" }' >"$fresh/package.json"
(cd "$fresh" && npm install --silent --no-audit --no-fund --no-package-lock ./dastak-*.tgz && ln -s "$build/node_modules/@types" node_modules/@types)
cp -R sdk/typescript/tests "$fresh/tests"
cp sdk/typescript/tsconfig.json "$fresh/tests/base.json"
cp examples/first-call.ts "$fresh/tests/"
python3 sdk/tests/readme.py sdk/typescript/README.md ts "$fresh/tests/readme.ts"
"$build/node_modules/.bin/tsc" --project "$fresh/tests"

echo "== on SQLite"
on() { python3 "$top/sdk/tests/service.py" "$dastak" "$@"; }
"$home/fresh/bin/python" -m pytest --quiet -p no:cacheprovider sdk/tests/test_generator.py
on "$home/fresh/bin/python" -m pytest --quiet -p no:cacheprovider sdk/python/tests
on "$home/oldest/bin/python" -m pytest --quiet -p no:cacheprovider sdk/python/tests
on node --test --test-reporter=dot "$fresh/built/"
echo "== in Bun"
(cd "$fresh" && on "$bun" test ./built/hostile.test.js ./built/rules.test.js ./built/story.test.js)

echo "== on PostgreSQL"
url=$(PG_OPTIONS="-c fsync=off -c synchronous_commit=off" scripts/postgres.sh start "$pg")
# One service for both: the keys of its secrets are in its folder.
on --database-url "$url" bash -euc '"$1" -m pytest --quiet -p no:cacheprovider sdk/python/tests/test_story.py; node --test --test-reporter=dot "$2"' \
  story "$home/fresh/bin/python" "$fresh/built/story.test.js"

echo "== the examples"
python3 sdk/tests/examples.py "$dastak" "$home/fresh/bin/python examples/first_call.py" "node $fresh/built/first-call.js" \
  "$bun $fresh/tests/first-call.ts"
