#!/usr/bin/env bash
# Runs fuzzers (docs/fuzzing.md): fuzz.sh TARGET|all|list [SECONDS], by default 60 s each; fuzz.sh cmin TARGET|all keeps a corpus small.
# Needs the nightly toolchain; installs cargo-fuzz where it is missing, beside the repository's own builds in target/.
set -eu
cd "$(dirname "$0")/.."
tools="${FUZZ_TOOLS:-$PWD/target/fuzz-tools}"
build="${FUZZ_BUILD:-$PWD/target/fuzz-build}"
# What is found goes here first: the corpus in the repository holds only what `cmin` keeps of it.
found="${FUZZ_FOUND:-$PWD/target/fuzz-found}"
export PATH="$tools/bin:$PATH"
command -v cargo-fuzz >/dev/null || cargo +nightly install cargo-fuzz --root "$tools"
export WITHOUT_CONSOLE=1 # cargo-fuzz builds as for a release
targets() { sed -n 's/^name = "\(.*\)"/\1/p' fuzz/Cargo.toml | grep -v '^fuzz$'; }
fuzz() { nice -n 19 cargo +nightly fuzz "$1" --codegen-units 16 --target-dir "$build" "${@:2}"; }

run() {
  mkdir -p "$found/$1"
  echo "== $1, $2 s"
  # A text longer than this is not read more deeply; a second is long for any of them.
  fuzz run "$1" "$found/$1" "fuzz/corpus/$1" -- -max_total_time="$2" -max_len=8192 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
}

cmin() {
  mkdir -p "$found/$1"
  local small
  small=$(mktemp -d)
  cp "fuzz/corpus/$1"/* "$small"
  [ -z "$(ls "$found/$1")" ] || cp "$found/$1"/* "$small"
  fuzz cmin "$1" "$small" >/dev/null
  python3 scripts/keep-corpus.py "$small" "fuzz/corpus/$1"
  rm -r "$small"
}

case "${1:-}" in
  list) targets ;;
  cmin) if [ "$2" = all ]; then for target in $(targets); do cmin "$target"; done; else cmin "$2"; fi ;;
  all) for target in $(targets); do run "$target" "${2:-60}"; done ;;
  ?*) run "$1" "${2:-60}" ;;
  *) sed -n '2,3p' "$0" >&2; exit 2 ;;
esac
