# The two commands of the README, and what developers need beside them.
# Offline speech, and the SIP peers and voices of the tests: COMMAND or file, and its Debian package.
SPEECH = espeak-ng:espeak-ng pocketsphinx_continuous:pocketsphinx /usr/share/pocketsphinx/model/en-us/en-us/mdef:pocketsphinx-en-us
# What reads the files of deployments, and makes packages.
DEPLOYMENT = promtool:prometheus caddy:caddy systemd-analyze:systemd systemd-sysusers:systemd dpkg-deb:dpkg
PEERS = sipp:sip-tester baresip:baresip-core flite:flite sox:sox kamailio:kamailio

.PHONY: run check test seeds bench soak openapi examples settings licenses packages package

run: ## everything on this machine, with no account anywhere
	@command -v cc >/dev/null || scripts/packages.sh cc:build-essential
	@scripts/packages.sh $(SPEECH) || echo "without these packages the sandbox's phones are silent: calls go by its table alone" >&2
	@scripts/console-if-changed.sh || echo "the console could not be built, see above: the service has the one that was built before; without one, /console/ says so" >&2
	@echo "building; the first time takes some minutes" >&2
	@cargo build --bin dastak
	@cargo run --quiet --bin dastak -- dev

check: ## for daily work: format, lints, unit tests, and the tests over HTTP on SQLite
	@scripts/packages.sh cc:build-essential
	scripts/check.sh

test: packages ## every test, on both engines
	scripts/test.sh

FIRST ?= 1
SEEDS ?= 100

seeds: ## seeds of the simulation that no other run takes: make seeds FIRST=20000 SEEDS=3000
	SIM_FIRST=$(FIRST) SIM_SEEDS=$(SEEDS) cargo test --profile sim -p dastak --test simulation every_seed -- --nocapture

packages:
	@scripts/packages.sh cc:build-essential python3:python3 node:nodejs npm:npm '/usr/lib/postgresql/*/bin/initdb:postgresql' chromium:chromium php:php-cli ruby:ruby zsh:zsh fish:fish $(SPEECH) $(PEERS) $(DEPLOYMENT)

openapi: ## rewrites the golden API documents: the public one, of which the SDKs have their core, and the operator's, of which the console has its types
	cargo run --quiet --bin dastak -- openapi > openapi.json
	cargo run --quiet --bin dastak -- openapi --operator > console/operator.json
	python3 sdk/generate.py

settings: ## rewrites the page of all settings
	cargo run --quiet --bin dastak -- settings > docs/operating/settings.md

examples: ## rewrites the examples of the API documents from exchanges that the tests record; then make openapi
	rm -rf target/examples
	RECORD_EXAMPLES=$(CURDIR)/target/examples TEST_ENGINE=sqlite cargo test -p dastak --test it -- --skip _on_postgres
	python3 scripts/examples.py target/examples

licenses: ## rewrites the licence texts of the crates that are linked in
	python3 scripts/licenses.py

package: ## a Debian package and a static binary in target/package, with checksums and a list of what is in them
	@scripts/packages.sh cc:build-essential dpkg-deb:dpkg nodejs:nodejs npm:npm
	scripts/package.sh

bench: packages ## ratios against named yardsticks, in one run
	scripts/bench.sh

soak: packages ## a hundred calls at once for ten minutes: nothing may leak or grow
	scripts/soak.sh
