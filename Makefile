# The two commands of the README, and what developers need beside them.
.PHONY: run test bench openapi lint packages

run: ## everything on this machine, with no account anywhere
	@command -v cc >/dev/null || scripts/packages.sh cc:build-essential
	cargo run --release --quiet --bin dastak -- dev

test: packages ## every test, on both engines
	scripts/test.sh

packages:
	@scripts/packages.sh cc:build-essential python3:python3 '/usr/lib/postgresql/*/bin/initdb:postgresql'

openapi: ## rewrites the golden API document
	cargo run --quiet --bin dastak -- openapi > openapi.json

lint:
	cargo clippy --workspace --all-targets -- -D warnings

bench: packages ## ratios against named yardsticks, in one run
	scripts/bench.sh
