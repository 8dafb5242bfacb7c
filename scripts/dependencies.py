"""Fails when a crate that a Cargo.toml names is missing from the table of dependencies in docs/architecture.md, or the table names one that is gone."""
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("dependencies", "dev-dependencies", "build-dependencies")

manifests = {path.parent.name: tomllib.loads(path.read_text()) for path in [*ROOT.glob("crates/*/Cargo.toml"), ROOT / "bench" / "Cargo.toml"]}
named = {name for manifest in manifests.values() for kind in KINDS for name in manifest.get(kind, {})} - manifests.keys()
locked = {package["name"] for package in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]}

text = (ROOT / "docs" / "architecture.md").read_text()
table = text.split("## Dependencies, and why", 1)[1].split("\n## ", 1)[0]
# The first column: those that are there. Other columns may name crates that were not taken.
first = [re.sub(r"\(.*?\)", "", row.split("|")[1]) for row in table.splitlines() if row.startswith("| ")]
listed = {name for cell in first for name in re.findall(r"`([\w-]+)`", cell)}

wrong = [f"{name} is missing" for name in sorted(named - listed)] + [f"{name} is not in Cargo.lock" for name in sorted(listed - locked)]
if wrong:
    sys.exit("the table of dependencies in docs/architecture.md: " + "; ".join(wrong))
