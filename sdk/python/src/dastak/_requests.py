"""What a request is made of, and how its answer is read. No network."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, Mapping, TypeVar
from urllib.parse import quote, urlencode

import httpx
import pydantic

from ._errors import ApiError, InvalidArgumentError, UnexpectedAnswerError, api_error
from ._files import FileInput, form_part
from ._retry import repeatable, retry_after
from ._version import VERSION

T = TypeVar("T")
LARGEST_ANSWER = 64 * 1024 * 1024
"""Bytes of an answer that is read into memory. A page of the service ends after 4 MB."""


class Omit:
    """The type of `OMIT`, an argument that is not given. For fields where null has a meaning, None is null."""

    def __repr__(self) -> str:
        return "OMIT"


OMIT = Omit()


def opt(value: T | None) -> T | Omit:
    """The value, or OMIT for None: for fields where null means nothing."""
    return OMIT if value is None else value


@dataclass(frozen=True)
class Operation(Generic[T]):
    """An operation of the API whose method returns a `T`."""

    method: str
    path: str
    answer: Any = None
    data: bool = False
    """The method returns the member `data` of the body."""
    keyed: bool = False
    """It takes an `Idempotency-Key`."""
    body: Any = None


@dataclass(frozen=True)
class Settings:
    """How a client reaches the service."""

    base_url: str
    api_key: str = field(repr=False)
    timeout: float
    max_retries: int
    headers: Mapping[str, str]

    def checked(self) -> Settings:
        url = httpx.URL(self.base_url)
        if url.scheme not in ("http", "https") or not url.host:
            raise InvalidArgumentError(f"base_url: {self.base_url!r} is no address like https://dastak.example")
        if not self.api_key or not self.api_key.isascii() or not self.api_key.isprintable() or " " in self.api_key:
            raise InvalidArgumentError("api_key: give it, or set DASTAK_API_KEY; a key is one word such as dastak_test_…")
        if not self.timeout > 0:
            raise InvalidArgumentError("timeout: it is a number of seconds above 0")
        if not 0 <= self.max_retries <= 20:
            raise InvalidArgumentError("max_retries: it is from 0 to 20")
        return self


@dataclass
class Request:
    """A request that is ready to be sent, any number of times with the same key."""

    method: str
    url: str
    headers: dict[str, str]
    content: bytes | None
    files: dict[str, Any] | None
    timeout: float
    repeatable: bool
    what: str


def path_of(template: str, values: Mapping[str, Any]) -> str:
    """The path with its parameters filled in; none of them can lead to another path."""
    path = template
    for name, value in values.items():
        text = str(value)
        if text in ("", ".", ".."):
            raise InvalidArgumentError(f"{name}: {text!r} is no value of a path")
        path = path.replace("{" + name + "}", quote(text, safe=""))
    return path


def query_of(values: Mapping[str, Any]) -> str:
    """The query; None is absent."""
    return urlencode([(name, _query_text(name, value)) for name, value in values.items() if value is not None])


def _query_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            raise InvalidArgumentError(f"{name}: a time needs a zone, such as datetime.now(timezone.utc)")
        return value.isoformat()
    return str(value)


def body_of(model: Any, values: Any) -> bytes:
    """The body as JSON. Members that are OMIT are absent."""
    if isinstance(values, dict):
        values = {name: value for name, value in values.items() if not isinstance(value, Omit)}
    adapter = _adapter(model)
    try:
        return adapter.dump_json(adapter.validate_python(values), by_alias=True, exclude_unset=True)
    except (pydantic.ValidationError, ValueError) as error:
        raise InvalidArgumentError(_first_problem(error)) from error


def _first_problem(error: Exception) -> str:
    if not isinstance(error, pydantic.ValidationError):
        return f"the body cannot be sent: {error}"
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


@lru_cache(maxsize=1024)
def _adapter(model: Any) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(model)


def prepare(
    settings: Settings, operation: Operation[Any], *, path: Mapping[str, Any] | None = None, query: Mapping[str, Any] | None = None,
    body: Any = None, files: Mapping[str, FileInput] | None = None, key: str | None = None, accept: str = "application/json",
) -> Request:  # fmt: skip
    place = path_of(operation.path, path or {})
    address = settings.base_url.rstrip("/") + place
    if asked := query_of(query or {}):
        address += f"?{asked}"
    headers = {"Authorization": f"Bearer {settings.api_key}", "Accept": accept, "User-Agent": f"dastak-python/{VERSION}", **settings.headers}
    content = None
    if operation.body is not None:
        content = body_of(operation.body, {} if body is None else body)
        headers["Content-Type"] = "application/json"
    if operation.keyed:
        key = str(uuid.uuid4()) if key is None else key
        if not 1 <= len(key) <= 255 or not key.isascii() or not key.isprintable():
            raise InvalidArgumentError("idempotency_key: it is 1 to 255 printable ASCII characters")
        headers["Idempotency-Key"] = key
    parts = {name: form_part(name, file) for name, file in files.items()} if files else None
    again = repeatable(operation.method, headers.get("Idempotency-Key"))
    what = f"{operation.method} {place}"
    return Request(operation.method, address, headers, content, parts, settings.timeout, again, what)


def refusal(status: int, headers: httpx.Headers, body: bytes) -> ApiError | UnexpectedAnswerError | None:
    """The error of an answer that is no success."""
    if 200 <= status < 300:
        return None
    if status < 400:
        text = f"the server answered {status}, which this API does not: is base_url right?"
        return UnexpectedAnswerError(text, status=status, request_id=headers.get("x-request-id"), body=body)
    asked = retry_after(headers.get("retry-after"), dt.datetime.now(dt.timezone.utc))
    return api_error(status, headers, body, asked)


def read(operation: Operation[T], status: int, headers: httpx.Headers, body: bytes) -> T:
    """What a successful answer says."""
    found: Any = parsed(status, headers, body) if operation.answer is not None else None
    if operation.answer is None:
        return found  # type: ignore[no-any-return]
    try:
        result: T = _adapter(operation.answer).validate_python(found["data"] if operation.data else found)
    except (pydantic.ValidationError, KeyError, TypeError) as error:
        detail = _first_problem(error) if isinstance(error, pydantic.ValidationError) else "it has no `data`"
        raise _unexpected(f"the answer has another shape than promised: {detail}", status, headers, body) from error
    return result


def parsed(status: int, headers: httpx.Headers, body: bytes) -> Any:
    """A body as JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _unexpected("the answer is no JSON", status, headers, body) from error


def _unexpected(message: str, status: int, headers: httpx.Headers, body: bytes) -> UnexpectedAnswerError:
    return UnexpectedAnswerError(message, status=status, request_id=headers.get("x-request-id"), body=body)
