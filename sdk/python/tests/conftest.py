"""The SDK as it is installed, a server that misbehaves, and the service where DASTAK_TEST_SERVICE describes one."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import threading
from typing import Any, Iterator

import pytest

SDK = pathlib.Path(os.environ["DASTAK_SDK"])
sys.path.insert(0, str(SDK / "tests"))

from stub import Stub  # noqa: E402


def vectors(name: str) -> Any:
    return json.loads((SDK / "vectors" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def stub() -> Iterator[Stub]:
    server = Stub()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def service() -> dict[str, str]:
    described: dict[str, str] = json.loads(os.environ["DASTAK_TEST_SERVICE"])
    return described
