"""Fails when a crate that a Cargo.toml names, or a package of the console or the SDKs, is missing from the table of dependencies in
docs/architecture.md, or the table names one that is gone; and when `rust-version` is not the oldest compiler that all crates take."""
import json
import pathlib
import re
import subprocess
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

metadata = json.loads(subprocess.run(["cargo", "metadata", "--format-version", "1", "--locked"], cwd=ROOT, check=True, capture_output=True, text=True).stdout)
members = set(metadata["workspace_members"])
number = lambda text: tuple(int(part) for part in (text.split(".") + ["0", "0"])[:3])
own = {package["name"]: package["rust_version"] for package in metadata["packages"] if package["id"] in members}
if unstated := sorted(name for name, version in own.items() if version is None):
    sys.exit(f"these crates lack `rust-version.workspace = true`: {', '.join(unstated)}")
newest = max((package for package in metadata["packages"] if package["rust_version"] and package["id"] not in members), key=lambda package: number(package["rust_version"]))
if number(newest["rust_version"]) > min(map(number, own.values())):
    sys.exit(f"rust-version in Cargo.toml is {min(own.values())}, and {newest['name']} needs {newest['rust_version']}")
