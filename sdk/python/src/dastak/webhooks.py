"""Webhooks: whether a delivery comes from the service, and what it says."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from typing import Any, Mapping, Sequence

import pydantic

from . import models
from ._errors import InvalidArgumentError, SignatureError, UnexpectedAnswerError
from ._events import EVENTS, AnyEvent

TOLERANCE = 300
"""Seconds by which the time of a signature may differ from the receiver's clock."""
_MOST_SIGNATURES = 16

__all__ = ["TOLERANCE", "AnyEvent", "known", "signature_header", "unwrap", "verify"]


def signature_header(headers: Mapping[str, str]) -> str:
    """The value of the header `X-<brand>-Signature`, whatever the brand of the service is; headers in any case."""
    found = [value for name, value in headers.items() if name.lower().startswith("x-") and name.lower().endswith("-signature")]
    if len(found) != 1:
        raise SignatureError("the request has no header X-…-Signature" if not found else "the request has several headers X-…-Signature")
    return found[0]


def verify(payload: bytes | str, signature: str, secrets: str | Sequence[str], *, tolerance: int = TOLERANCE, now: float | None = None) -> None:
    """Raises a `SignatureError` unless one of the secrets signed this body within the tolerance.

    `payload` is the raw body as it came, `signature` the value of the header `X-Service-Signature`. Several secrets are for the time
    of a rotation. `now` is in Unix seconds, by default the clock's. Comparisons take the same time for every secret."""
    keys = [secrets] if isinstance(secrets, str) else list(secrets)
    if not keys or not all(keys):
        raise InvalidArgumentError("secrets: at least one is needed, and none may be empty")
    body = payload.encode() if isinstance(payload, str) else payload
    at, given = _read(signature)
    signed = str(at).encode() + b"." + body
    expected = [hmac.new(key.encode(), signed, hashlib.sha256).hexdigest().encode() for key in keys]
    matches = 0
    for one in given:
        for other in expected:
            matches |= hmac.compare_digest(one, other)
    if not matches:
        raise SignatureError("no secret of yours made this signature of this body")
    if abs((time.time() if now is None else now) - at) > tolerance:
        raise SignatureError(f"the signature is more than {tolerance} seconds from now")


def unwrap(
    payload: bytes | str, signature: str, secrets: str | Sequence[str], *, tolerance: int = TOLERANCE, now: float | None = None
) -> AnyEvent:
    """The event of a delivery, after `verify`. An event of a type that this version does not know is a `models.Event`."""
    verify(payload, signature, secrets, tolerance=tolerance, now=now)
    try:
        raw = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise UnexpectedAnswerError("the body is signed, but no JSON") from error
    return _typed(raw)


def known(event: models.Event) -> AnyEvent:
    """An event of `client.events` as the model of its type; as it is when this version does not know the type."""
    return _typed(event.model_dump(by_alias=True)) if event.type in EVENTS else event


def _typed(raw: Any) -> AnyEvent:
    kind: Any = EVENTS.get(str(raw.get("type")), models.Event) if isinstance(raw, dict) else models.Event
    try:
        event: AnyEvent = kind.model_validate(raw)
    except pydantic.ValidationError as error:
        raise UnexpectedAnswerError(f"this is no event: {error}") from error
    return event


def _read(signature: str) -> tuple[int, list[bytes]]:
    """The time and the signatures of `t=…,v1=…`."""
    times, given = [], []
    for part in signature.split(","):
        name, _, value = part.strip().partition("=")
        if name == "t":
            times.append(value)
        elif name == "v1":
            given.append(value.encode("utf-8", "replace"))
    if len(times) != 1 or not (times[0].isascii() and times[0].isdigit() and len(times[0]) <= 12):
        raise SignatureError("the signature has no time: it should look like t=<unix seconds>,v1=<hex>")
    if not given or len(given) > _MOST_SIGNATURES:
        raise SignatureError("the signature has no v1: it should look like t=<unix seconds>,v1=<hex>")
    return int(times[0]), given
