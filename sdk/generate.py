#!/usr/bin/env python3
"""Writes the generated core of the SDKs, which is checked in.

usage: generate.py [--check] [--document openapi.json] [--to FOLDER]

--check writes nothing, and fails when a file is not what the document asks for. --to writes below another folder than this one.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys

from generator import python, typescript
from generator.document import Document

HERE = pathlib.Path(__file__).resolve().parent


def files(document: Document, version: str) -> dict[str, str]:
    """Every generated file by its path below sdk/."""
    if version.split(".")[0] != document.version.split(".")[0]:
        sys.exit(f"sdk/VERSION is {version}, but the API is {document.version}: the first number is that of the API")
    return python.files(document, version) | typescript.files(document, version)


def package(version: str) -> str:
    """package.json of the TypeScript SDK with this version."""
    found = json.loads((HERE / "typescript/package.json").read_text(encoding="utf-8"))
    found["version"] = version
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the generated core of the SDKs.")
    parser.add_argument("--check", action="store_true", help="fail when a file is not what the document asks for")
    parser.add_argument("--document", type=pathlib.Path, default=HERE.parent / "openapi.json")
    parser.add_argument("--to", type=pathlib.Path, default=HERE)
    asked = parser.parse_args()
    version = (HERE / "VERSION").read_text(encoding="utf-8").strip()
    wanted = files(Document(json.loads(asked.document.read_text(encoding="utf-8"))), version)
    wanted["typescript/package.json"] = package(version)
    folders = {(asked.to / name).parent for name in wanted} - {asked.to / "typescript"}
    generated = {path for folder in folders for path in folder.glob("*") if path.is_file() and _is_ours(path)}
    stale = generated - {asked.to / name for name in wanted}
    changed = [name for name, text in wanted.items() if _read(asked.to / name) != text]
    if asked.check:
        for name in [*changed, *(str(path.relative_to(asked.to)) for path in stale)]:
            print(f"sdk/{name} is not what openapi.json asks for: run python3 sdk/generate.py", file=sys.stderr)
        sys.exit(1 if changed or stale else 0)
    for path in stale:
        path.unlink()
    for name in changed:
        path = asked.to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[name], encoding="utf-8")
    print(f"{len(wanted)} files, {len(changed)} changed")


def _is_ours(path: pathlib.Path) -> bool:
    return path.suffix in (".py", ".ts") and python.MARK in (_read(path) or "")[:200]


def _read(path: pathlib.Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    main()
