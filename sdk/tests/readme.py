"""Writes the examples of a README as one program, so that a compiler can check that they use what there is.

usage: readme.py README LANGUAGE FILE
"""

from __future__ import annotations

import pathlib
import re
import sys


def main() -> None:
    readme, language, file = sys.argv[1:]
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", pathlib.Path(readme).read_text(encoding="utf-8"), re.S | re.M)
    if len(blocks) < 6:
        sys.exit(f"{readme} has only {len(blocks)} examples in {language}")
    # Each block of TypeScript has its own constants; the client of the first is there in all.
    scopes = blocks if language == "python" else [blocks[0], *(_scope(block) for block in blocks[1:])]
    pathlib.Path(file).write_text("\n".join(scopes), encoding="utf-8")


def _scope(block: str) -> str:
    imports = [line for line in block.splitlines() if line.startswith("import ")]
    rest = [line for line in block.splitlines() if not line.startswith("import ")]
    return "\n".join([*imports, "{", *rest, "}"])


if __name__ == "__main__":
    main()
