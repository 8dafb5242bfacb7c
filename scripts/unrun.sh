#!/usr/bin/env bash
# Finds tests that cargo would pass over without a word: examples in doc comments of a crate with `doctest = false`, and unit tests of a library with
# `test = false`. Each of these saves a pass over a crate that has none.
set -euo pipefail
cd "$(dirname "$0")/.."
found=0
for manifest in crates/*/Cargo.toml bench/Cargo.toml; do
    crate=$(dirname "$manifest")
    lib=$(awk '/^\[/ { on = $0 == "[lib]" } on' "$manifest")
    if grep -q '^doctest = false' <<<"$lib"; then
        # Every second fence ends a block; one that begins it must say that it is no Rust.
        find "$crate/src" -name '*.rs' -print0 | xargs -0 awk '
            FNR == 1 { open = 0 }
            /^ *\/\/[\/!] *```/ { open = !open; if (open && $0 !~ /```(text|json|sql|sh|toml)$/) { print FILENAME ":" FNR ": an example that is not run"; bad = 1 } }
            END { exit bad }' >&2 || found=1
    fi
    if grep -q '^test = false' <<<"$lib"; then
        if grep -rnE '#\[(tokio::)?test\]|proptest!' "$crate/src" >&2; then
            echo "$crate: these are not run, since its library has test = false" >&2
            found=1
        fi
    fi
done
exit $found
