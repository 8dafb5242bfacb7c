#!/usr/bin/env bash
# Builds the service for development, and prints the path of its binary.
set -eu
cd "$(dirname "$0")/.."
cargo build --quiet --workspace --bin dastak
echo "${CARGO_TARGET_DIR:-target}/debug/dastak"
