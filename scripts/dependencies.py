"""Fails when a crate that a Cargo.toml names, or a package that console/package.json names, is missing from the table of dependencies in
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
packages = json.loads((ROOT / "console" / "package.json").read_text())
of_the_console = {name for kind in ("dependencies", "devDependencies") for name in packages.get(kind, {}) if not name.startswith("@types/")}
there = of_the_console | {package["name"] for package in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]}

text = (ROOT / "docs" / "architecture.md").read_text()
table = text.split("## Dependencies, and why", 1)[1].split("\n## ", 1)[0]
# The first column: those that are there. Other columns may name crates that were not taken.
first = [re.sub(r"\(.*?\)", "", row.split("|")[1]) for row in table.splitlines() if row.startswith("| ")]
listed = {name for cell in first for name in re.findall(r"`([@\w/-]+)`", cell)}

wrong = [f"{name} is missing" for name in sorted((named | of_the_console) - listed)] + [f"{name} is neither in Cargo.lock nor in console/package.json" for name in sorted(listed - there)]
if wrong:
    sys.exit("the table of dependencies in docs/architecture.md: " + "; ".join(wrong))
