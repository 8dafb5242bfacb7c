"""Fails when a crate that a Cargo.toml names, or a package of the console or the SDKs, is missing from the table of dependencies in
docs/architecture.md, or the table names one that is gone."""
import json
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("dependencies", "dev-dependencies", "build-dependencies")

manifests = {path.parent.name: tomllib.loads(path.read_text()) for path in [*ROOT.glob("crates/*/Cargo.toml"), ROOT / "bench" / "Cargo.toml"]}
named = {name for manifest in manifests.values() for kind in KINDS for name in manifest.get(kind, {})} - manifests.keys()
manifests_of_npm = [json.loads((ROOT / folder / "package.json").read_text()) for folder in ("console", "sdk/typescript", "sdk/tests/bun")]
of_npm = {name for packages in manifests_of_npm for kind in ("dependencies", "devDependencies") for name in packages.get(kind, {}) if not name.startswith("@types/")}
sdk = tomllib.loads((ROOT / "sdk/python/pyproject.toml").read_text())
wanted = [*sdk["project"]["dependencies"], *sdk["build-system"]["requires"]]
of_pip = {re.match(r"[\w-]+", name)[0] for name in wanted}
tools = {line.split("==")[0] for line in (ROOT / "sdk/python/requirements.txt").read_text().splitlines()}
there = of_npm | of_pip | tools | {package["name"] for package in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]}

text = (ROOT / "docs" / "architecture.md").read_text()
table = text.split("## Dependencies, and why", 1)[1].split("\n## ", 1)[0]
# The first column: those that are there. Other columns may name crates that were not taken.
first = [re.sub(r"\(.*?\)", "", row.split("|")[1]) for row in table.splitlines() if row.startswith("| ")]
listed = {name for cell in first for name in re.findall(r"`([@\w/-]+)`", cell)}

wrong = [f"{name} is missing" for name in sorted((named | of_npm | of_pip) - listed)] + [f"{name} is neither in Cargo.lock nor a package of the console or the SDKs" for name in sorted(listed - there)]
if wrong:
    sys.exit("the table of dependencies in docs/architecture.md: " + "; ".join(wrong))
