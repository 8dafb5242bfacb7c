"""Runs programs of `examples/` against a fresh `dastak dev`, all at once, as its page says: with the variables of `demo.env`.

usage: examples.py BINARY COMMAND… (a program with its arguments in each)
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

PATIENCE = 120
EXPECTED = [r"^agent agt_\w{26}$", r"^refused: invalid_request toNumber$", r"^call ended agent_ended 8 s$", r"^  agent: .+", r"^nudge \w+$", r"^  to \+9198123456\d\d \w+$"]


def _start(command: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(shlex.split(command), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def main() -> None:
    binary, *commands = sys.argv[1:]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("DASTAK_")}
    with tempfile.TemporaryDirectory() as folder:
        dev = subprocess.Popen([binary, "dev", "--listen", "127.0.0.1:0"], cwd=folder, env=clean, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert dev.stdout is not None
            json.loads(dev.stdout.readline())
            with open(os.path.join(folder, "dastak-data/demo.env"), encoding="utf-8") as file:
                demo = dict(line.strip().split("=", 1) for line in file if "=" in line)
            demo = {name: shlex.split(value)[0] for name, value in demo.items()}
            running = [_start(one, {**clean, **demo, "NUMBER": f"+9198123456{80 + place}"}) for place, one in enumerate(commands)]
            for command, program in zip(commands, running, strict=True):
                printed, _ = program.communicate(timeout=PATIENCE)
                missing = [line for line in EXPECTED if not re.search(line, printed, re.M)]
                if program.returncode or missing:
                    sys.exit(f"{command}\nended with {program.returncode}; missing: {missing}\n{printed}")
        finally:
            dev.terminate()
            dev.wait(PATIENCE)
    print(f"{len(commands)} examples ran")


if __name__ == "__main__":
    main()
