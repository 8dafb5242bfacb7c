#!/usr/bin/env bash
# Lints both API documents with Spectral; a warning fails, too.
set -eu
cd "$(dirname "$0")/.."
home=target/spectral
mkdir -p "$home"
if ! cmp -s scripts/spectral/package-lock.json "$home/package-lock.json" || [ ! -d "$home/node_modules" ]; then
  cp scripts/spectral/package.json scripts/spectral/package-lock.json "$home/"
  (cd "$home" && npm ci --silent --no-audit --no-fund --ignore-scripts)
fi
"$home/node_modules/.bin/spectral" lint --ruleset scripts/spectral/ruleset.yaml --fail-severity warn openapi.json
