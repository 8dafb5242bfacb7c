"""openapi.json, read into what both languages need: operations by group, and the schemas that these reach."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Iterator

Schema = dict[str, Any]
METHODS = ("get", "put", "post", "delete", "patch")
# Members of an answer that say where the next page begins, the query parameter that takes it, and the kind of page.
CONTINUATIONS = (("nextCursor", "cursor", "cursor"), ("nextBefore", "before", "cursor"), ("nextOffset", "offset", "offset"))
JSON, FORM = "application/json", "multipart/form-data"


class Unsupported(Exception):
    """The document has something for which the generator has no rule; the text says where."""


@dataclass
class Parameter:
    name: str
    schema: Schema
    required: bool
    description: str


@dataclass
class Answer:
    """What a method returns. `kind` is `model` (the whole body), `data` (its member `data`), `page`, `bytes` or `nothing`."""

    kind: str
    schema: Schema = field(default_factory=dict)
    wrapper: str = ""
    paging: str = ""
    parameter: str = ""
    continuation: str = ""


@dataclass
class Operation:
    id: str
    group: str
    verb: str
    method: str
    path: str
    summary: str
    description: str
    path_parameters: list[Parameter]
    query: list[Parameter]
    keyed: bool
    body: Schema | None
    body_required: bool
    files: list[Parameter]
    answer: Answer

    @property
    def about(self) -> str:
        """Summary and description, without what concerns members of the console alone."""
        summary, description = self.summary.rstrip(".") + ".", re.sub(r"\s*Members may call it from the role `\w+` on\.", "", self.description)
        return f"{summary}\n\n{description}" if description else summary


def name_of(ref: str) -> str:
    return ref.rsplit("/", 1)[-1]


def nullable(schema: Schema) -> bool:
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        return True
    return any(one.get("type") == "null" for one in alternatives(schema))


def alternatives(schema: Schema) -> list[Schema]:
    found: list[Schema] = schema.get("anyOf") or schema.get("oneOf") or []
    return found


class Document:
    def __init__(self, raw: dict[str, Any]) -> None:
        self.schemas: dict[str, Schema] = raw["components"]["schemas"]
        self.words = {name for name, one in self.schemas.items() if "enum" in one}
        """Names of the sets of words."""
        self.version: str = str(raw["info"]["version"])
        self.operations = sorted(self._operations(raw["paths"]), key=lambda one: one.group)
        self.events = dict(self._events(raw.get("webhooks", {})))
        bodies = [one.body for one in self.operations if one.body is not None]
        asked = [*bodies, *(parameter.schema for one in self.operations for parameter in [*one.query, *one.path_parameters])]
        answered = (self._reached_by(one.answer) for one in self.operations)
        self.requests = self._reach(asked)
        base = [{"$ref": f"#/components/schemas/{name}"} for name in ("Error", "Event", "EventType") if name in self.schemas]
        self.answers = self._reach([*answered, *self.events.values(), *base])
        self.used = sorted(self.requests | self.answers)
        groups: dict[str, list[Operation]] = {}
        for one in self.operations:
            groups.setdefault(one.group, []).append(one)
        self.groups = groups

    def resolve(self, schema: Schema) -> Schema:
        return self.schemas[name_of(schema["$ref"])] if "$ref" in schema else schema

    def properties(self, schema: Schema) -> dict[str, Schema]:
        """The members of an object, those of its `allOf` too."""
        schema = self.resolve(schema)
        found: dict[str, Schema] = {}
        for part in schema.get("allOf", []):
            found |= self.properties(part)
        own: dict[str, Schema] = schema.get("properties", {})
        return found | own

    def required(self, schema: Schema) -> set[str]:
        schema = self.resolve(schema)
        found = set(schema.get("required", []))
        for part in schema.get("allOf", []):
            found |= self.required(part)
        return found

    def is_object(self, name: str) -> bool:
        schema = self.schemas[name]
        return bool(self.properties(schema)) or (schema.get("type") == "object" and not isinstance(schema.get("additionalProperties"), dict))

    def _reached_by(self, answer: Answer) -> Schema:
        return {"$ref": f"#/components/schemas/{answer.wrapper}"} if answer.kind == "page" else answer.schema

    def _reach(self, roots: Any) -> set[str]:
        """Names of the schemas that these refer to, directly or by others."""
        found: set[str] = set()
        waiting = [name for root in roots for name in _references(root)]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += _references(self.schemas[name])
        return found

    def _events(self, webhooks: dict[str, Any]) -> Iterator[tuple[str, Schema]]:
        for name, item in sorted(webhooks.items()):
            content = item["post"]["requestBody"]["content"]
            yield name, content[JSON]["schema"]

    def _operations(self, paths: dict[str, Any]) -> Iterator[Operation]:
        taken: set[str] = set()
        for path, item in paths.items():
            for method in METHODS:
                raw = item.get(method)
                if raw is None or "x-command" not in raw:
                    continue
                command = raw["x-command"]
                if command in taken:
                    raise Unsupported(f"{command} is the name of two operations")
                taken.add(command)
                yield self._operation(path, method, raw, item.get("parameters", []))

    def _operation(self, path: str, method: str, raw: dict[str, Any], shared: list[dict[str, Any]]) -> Operation:
        group, verb = raw["x-command"].split(" ")
        parameters = [*shared, *raw.get("parameters", [])]
        by_place: dict[str, list[Parameter]] = {"path": [], "query": [], "header": []}
        for one in parameters:
            by_place[one["in"]].append(Parameter(one["name"], one["schema"], bool(one.get("required")), one.get("description", "")))
        order = re.findall(r"\{([^}]+)\}", path)
        by_place["path"].sort(key=lambda one: order.index(one.name))
        headers = {one.name for one in by_place["header"]}
        known = {"Idempotency-Key", "Range"}
        if unknown := {one.name for one in by_place["header"] if one.required} - known:
            raise Unsupported(f"{raw['x-command']}: required headers {unknown}")
        body, files = None, []
        content = raw.get("requestBody", {}).get("content", {})
        if FORM in content:
            form = content[FORM]["schema"]
            needed = self.required(form)
            files = [Parameter(name, one, name in needed, one.get("description", "")) for name, one in self.properties(form).items()]
        elif JSON in content:
            body = content[JSON]["schema"]
        elif content:
            raise Unsupported(f"{raw['x-command']}: a body of {list(content)}")
        answer = self._answer(raw, by_place["query"])
        return Operation(
            raw["operationId"], group, verb, method.upper(), path, raw.get("summary", ""), raw.get("description", ""), by_place["path"],
            by_place["query"], "Idempotency-Key" in headers, body, bool(raw.get("requestBody", {}).get("required")), files, answer,
        )  # fmt: skip

    def _answer(self, raw: dict[str, Any], query: list[Parameter]) -> Answer:
        contents = [answer["content"] for status, answer in raw["responses"].items() if status.startswith("2") and answer.get("content")]
        if not contents:
            return Answer("nothing")
        if JSON not in contents[0]:
            return Answer("bytes")
        schema = contents[0][JSON]["schema"]
        if "$ref" not in schema:
            raise Unsupported(f"{raw['x-command']}: an answer without a name")
        wrapper, members, asked = name_of(schema["$ref"]), self.properties(schema), {one.name for one in query}
        data = members.get("data")
        if data is None:
            return Answer("model", schema)
        items = data.get("items") if data.get("type") == "array" else None
        if items is not None:
            for member, parameter, paging in CONTINUATIONS:
                if member in members:
                    return Answer("page", items, wrapper, paging, parameter if parameter in asked else "", member)
            if "offset" in asked:
                return Answer("page", items, wrapper, "offset", "offset", "")
        return Answer("data", data, wrapper) if set(members) == {"data"} else Answer("model", schema)


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for one in schema for name in _references(one)]
    if not isinstance(schema, dict):
        return []
    own = [name_of(schema["$ref"])] if isinstance(schema.get("$ref"), str) else []
    places = ("properties", "items", "additionalProperties", "anyOf", "oneOf", "allOf")
    for place in places:
        inner = schema.get(place)
        own += _references(list(inner.values()) if place == "properties" and inner else inner)
    return own
