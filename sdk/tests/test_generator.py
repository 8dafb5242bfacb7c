"""The generator: what it makes of a document, and what it refuses."""

from __future__ import annotations

import copy
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

SDK = pathlib.Path(os.environ["DASTAK_SDK"])
sys.path.insert(0, str(SDK))

from generator import python, typescript  # noqa: E402
from generator.document import Document, Unsupported  # noqa: E402


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def described(kind: Any, **more: Any) -> dict[str, Any]:
    return {"type": kind, "description": "A field of the test.", **more}


def body(schema: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


STATE = {"type": "string", "enum": ["on", "off"], "description": "Whether it is on."}
LAMP = {
    "type": "object",
    "description": "A lamp.",
    "properties": {
        "id": described("string"),
        "state": {"anyOf": [ref("State"), {"type": "string"}], "description": "As it is."},
        "litAt": described(["string", "null"], format="date-time"),
        "from": described("string"),
        "kind": {"const": "lamp", "description": "Always so."},
        "mood": {"anyOf": [{"type": "string", "enum": ["warm"]}, {"type": "string"}, {"type": "null"}], "description": "As it looks."},
        "tags": described("object", additionalProperties={"type": "integer"}),
    },
    "required": ["id", "state", "litAt"],
}
NEW = {"type": "object", "description": "A new lamp.", "properties": {"litAt": described("string", format="date-time"), "state": ref("State")}, "required": ["state"]}
PAGE = {"type": "object", "description": "Lamps.", "properties": {"data": {"type": "array", "items": ref("Lamp")}, "nextCursor": described(["string", "null"])}, "required": ["data", "nextCursor"]}
ONE = {"type": "object", "description": "A lamp.", "properties": {"data": ref("Lamp")}, "required": ["data"]}
DOCUMENT: dict[str, Any] = {
    "info": {"version": "1"},
    "components": {"schemas": {"State": STATE, "Lamp": LAMP, "NewLamp": NEW, "LampPage": PAGE, "LampResponse": ONE, "Unused": copy.deepcopy(LAMP), "Event": copy.deepcopy(LAMP)}},
    "paths": {
        "/v1/lamps": {
            "get": {
                "operationId": "listLamps", "x-command": "table-lamps list", "summary": "Lamps", "responses": {"200": body(ref("LampPage"))},
                "parameters": [{"name": "cursor", "in": "query", "schema": {"type": "string"}}],
            },
            "post": {
                "operationId": "createLamp", "x-command": "table-lamps create", "summary": "A new lamp", "requestBody": body(ref("NewLamp")),
                "parameters": [{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}], "responses": {"201": body(ref("LampResponse"))},
            },
        },
        "/v1/lamps/{try}": {
            "get": {
                "operationId": "getLamp", "x-command": "table-lamps try", "summary": "A lamp", "responses": {"200": body(ref("LampResponse"))},
                "parameters": [{"name": "try", "in": "path", "required": True, "schema": {"type": "string"}}],
            },
        },
        "/console/api/lamps": {"get": {"operationId": "consoleLamps", "summary": "No key may", "responses": {"200": body(ref("Unused"))}}},
    },
}  # fmt: skip


def made() -> dict[str, str]:
    document = Document(DOCUMENT)
    return python.files(document, "1.2.3") | typescript.files(document, "1.2.3")


def test_sets_of_words_are_open_and_null_is_said() -> None:
    models, types = made()["python/src/dastak/models.py"], made()["typescript/src/models.ts"]
    for line in (
        'State: TypeAlias = Literal["on", "off"] | str', "    state: State | str = NOT_SENT", "    lit_at: AwareDatetime | None = NOT_SENT",
        "    from_: str | None = None", '    kind: Literal["lamp"] | None = None', '    mood: Literal["warm"] | str | None = None', "    tags: Dict[str, int] | None = None",
    ):  # fmt: skip
        assert line in models.splitlines()
    for line in (
        'export type State = "on" | "off" | (string & {});', "  state: State;", "  litAt: string | null;", '  kind?: "lamp";',
        '  mood?: "warm" | (string & {}) | null;', "  tags?: Record<string, number>;", "  litAt?: string | Date | undefined;",
    ):  # fmt: skip
        assert line in types.splitlines()


def test_only_what_keys_reach_is_there() -> None:
    files = made()
    assert "python/src/dastak/_operations/table_lamps.py" in files and "typescript/src/operations/table-lamps.ts" in files
    text = "".join(files.values())
    assert "class Lamp(" in text and "Unused" not in text and "console" not in text


def test_methods_have_the_names_of_their_commands() -> None:
    lamps = made()["python/src/dastak/_operations/table_lamps.py"]
    assert "class TableLamps(Resource)" in lamps and "class AsyncTableLamps(AsyncResource)" in lamps
    assert "    def list(\n        self,\n        *,\n        cursor: str | None = None,\n    ) -> Page[models.Lamp, models.LampPage]:" in lamps
    assert "    def try_(\n        self,\n        try_: str,\n    ) -> models.Lamp:" in lamps
    assert "        state: models.State,\n        lit_at: datetime | str | None = None,\n        idempotency_key: str | None = None,\n    ) -> models.Lamp:" in lamps
    lamps = made()["typescript/src/operations/table-lamps.ts"]
    assert "  list(query: TableLampsListQuery = {}, options?: RequestOptions): Pager<models.Lamp, models.LampPage> {" in lamps
    assert "  try(tryId: string, options?: RequestOptions): Pending<models.Lamp> {" in lamps
    assert "  create(body: models.NewLamp, options?: KeyedOptions): Pending<models.Lamp> {" in lamps


def test_what_it_does_not_know_is_refused() -> None:
    lamps = DOCUMENT["paths"]["/v1/lamps"]
    for change in (
        {"get": {**lamps["get"], "x-command": "table-lamps create"}},
        {"post": {**lamps["post"], "requestBody": {"content": {"application/xml": {}}}}},
        {"post": {**lamps["post"], "parameters": [{"name": "X-Mood", "in": "header", "required": True, "schema": {"type": "string"}}]}},
        {"get": {**lamps["get"], "responses": {"200": body({"type": "object"})}}},
    ):
        with pytest.raises(Unsupported, match="table-lamps"):
            Document({**DOCUMENT, "paths": {**DOCUMENT["paths"], "/v1/lamps": {**lamps, **change}}})


def test_a_file_that_is_not_what_the_document_asks_for_is_found(tmp_path: pathlib.Path) -> None:
    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, SDK / "generate.py", "--to", tmp_path, *options], capture_output=True, text=True)

    assert run("--check").returncode == 1
    assert run().returncode == 0 and run("--check").returncode == 0
    calls = tmp_path / "python/src/dastak/_operations/calls.py"
    calls.write_text(calls.read_text().replace("/v1/calls", "/v2/calls"))
    stale = calls.with_name("telegrams.py")
    stale.write_text((tmp_path / "python/src/dastak/_operations/tools.py").read_text())
    found = run("--check")
    assert found.returncode == 1 and "calls.py" in found.stderr and "telegrams.py" in found.stderr
    assert run().returncode == 0 and not stale.exists() and run("--check").returncode == 0
