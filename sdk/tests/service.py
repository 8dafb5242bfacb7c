"""A service on a clock that the tests move, with a workspace and its keys; beside it the server that misbehaves.

Run as `service.py BINARY PROGRAM…`, it runs the program with DASTAK_TEST_SERVICE, which describes the service as JSON, and DASTAK_STUB, the
address of the other; then it ends all of them. With `--database-url` before the program the service keeps its data there; without it, in a
folder of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.request
from typing import Any, Iterator

from stub import Stub

PATIENCE = 60


@contextlib.contextmanager
def service(binary: str, database_url: str | None = None) -> Iterator[dict[str, str]]:
    """A running service: its `url`, and keys: `live`, `test`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--data", folder, "--clock", "manual"]
        command += ["--database-url", database_url] if database_url else []
        settings = {"DASTAK_TELEPHONY__CARRIER": "sandbox", "DASTAK_WEBHOOKS__ALLOW_INSECURE": "true"}
        with open(os.path.join(folder, "log"), "w+", encoding="utf-8") as log:
            process = subprocess.Popen(command, env={**_clean(), **settings}, stdout=subprocess.PIPE, stderr=log, text=True)
            try:
                assert process.stdout is not None
                line = process.stdout.readline()
                if not line:
                    log.seek(0)
                    raise SystemExit(f"the service does not start:\n{log.read()[-3000:]}")
                yield _workspace(json.loads(line))
            finally:
                process.terminate()
                process.wait(PATIENCE)


def _clean() -> dict[str, str]:
    """The environment without settings of a service."""
    return {name: value for name, value in os.environ.items() if not name.startswith("DASTAK_")}


def _workspace(ready: dict[str, str]) -> dict[str, str]:
    with open(ready["operatorTokenFile"], encoding="utf-8") as file:
        token = file.read().strip()
    base = f"{ready['url']}/operator/v1/workspaces"
    workspace = _post(base, token, {"name": "Bookshop", "kybVerified": True, "balanceMinor": 1_000_000})["id"]
    _post(f"{base}/{workspace}/numbers", token, {"number": "08045670009"})
    keys = {mode: _post(f"{base}/{workspace}/keys", token, {"name": mode, "mode": mode, "scopes": "all"})["key"] for mode in ("live", "test")}
    return {"url": ready["url"], **keys}


def _post(url: str, token: str, body: dict[str, Any]) -> Any:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=PATIENCE) as answer:
        return json.load(answer)["data"]


def main() -> None:
    binary, *rest = sys.argv[1:]
    database_url = None
    if rest[0] == "--database-url":
        _, database_url, *rest = rest
    stub = Stub()
    threading.Thread(target=stub.serve_forever, daemon=True).start()
    with service(binary, database_url) as described:
        environment = {"DASTAK_TEST_SERVICE": json.dumps(described), "DASTAK_STUB": stub.url()}
        sys.exit(subprocess.run(rest, env={**os.environ, **environment}).returncode)


if __name__ == "__main__":
    main()
