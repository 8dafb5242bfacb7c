"""What the SDK raises. Everything is a `DastakError`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Mapping

if TYPE_CHECKING:
    from .models import ErrorCode

_SHOWN_OF_A_BODY = 500


class DastakError(Exception):
    """Base of all errors of this package."""


class InvalidArgumentError(DastakError, ValueError):
    """An argument is wrong; nothing was sent. The text names it."""


class ConnectionFailedError(DastakError):
    """No whole answer came: the connection could not be made, or broke. What the request asked for may have happened."""


class RequestTimeoutError(ConnectionFailedError):
    """No whole answer came in time. What the request asked for may have happened."""


class StreamInterruptedError(ConnectionFailedError):
    """A stream of events ended before its last event."""


class UnexpectedAnswerError(DastakError):
    """The answer is not one of this API: no JSON, another shape than promised, too large, or a redirect."""

    def __init__(self, message: str, *, status: int | None = None, request_id: str | None = None, body: bytes = b"") -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id
        self.body = body[:_SHOWN_OF_A_BODY]
        """The beginning of the body."""


class PagingError(DastakError):
    """The pages of a list do not end: a cursor came twice, or more pages came than any list has."""


class SignatureError(DastakError):
    """A webhook is not to be trusted: its signature is missing, malformed, wrong, or too old."""


class ApiError(DastakError):
    """The service refused a request. Branch on `code`; the text is for people and may change."""

    def __init__(
        self, message: str, *, status: int, code: str | None = None, meta: Mapping[str, Any] | None = None,
        request_id: str | None = None, doc_url: str | None = None, retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.message = message
        self.status = status
        """The HTTP status; that of the answer also for an error within a stream."""
        self.code: ErrorCode | None = code
        """The code of the error, such as `call_blocked`; None when the answer had none, such as one of a proxy."""
        self.meta: dict[str, Any] = dict(meta or {})
        """Details, such as `field`, the first wrong field."""
        self.request_id = request_id
        """The `X-Request-Id` of the answer, to be quoted to the operator."""
        self.doc_url = doc_url
        """Path of the page about this code, at the address of the service."""
        self.retry_after = retry_after
        """Seconds to wait before the next request, where the service says so."""
        self.headers: dict[str, str] = dict(headers or {})

    def __str__(self) -> str:
        parts = [str(self.status), self.code or "", f"request {self.request_id}" if self.request_id else ""]
        return f"{self.message} ({', '.join(part for part in parts if part)})"


class BadRequestError(ApiError):
    """400: the request is wrong; `meta["field"]` names the first wrong field."""


class AuthenticationError(ApiError):
    """401: the key is not valid."""


class InsufficientBalanceError(ApiError):
    """402: the wallet does not cover it."""


class PermissionDeniedError(ApiError):
    """403: the key may not do this, or the feature is off."""


class NotFoundError(ApiError):
    """404: there is no such object in the workspace and the mode of the key."""


class ConflictError(ApiError):
    """409: the state of the object does not allow it."""


class GoneError(ApiError):
    """410: the person was erased."""


class UnprocessableError(ApiError):
    """422: a rule or a compliance gate refused, or an idempotency key was used for another request."""


class LockedError(ApiError):
    """423: the operator has locked the agent."""


class RateLimitError(ApiError):
    """429: a limit is reached; `retry_after` says how long to wait."""


class ServerError(ApiError):
    """5xx: the service, or something before it, failed."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequestError, 401: AuthenticationError, 402: InsufficientBalanceError, 403: PermissionDeniedError, 404: NotFoundError,
    409: ConflictError, 410: GoneError, 422: UnprocessableError, 423: LockedError, 429: RateLimitError,
}  # fmt: skip


def api_error(status: int, headers: Mapping[str, str], body: bytes, retry_after: float | None) -> ApiError:
    """The error of an answer whose status is not 2xx; its body may be anything."""
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        parsed = None
    fields: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
    meta = fields.get("meta")
    return kind(
        _text(fields.get("error")) or f"the server answered {status}", status=status, code=_text(fields.get("code")),
        meta=meta if isinstance(meta, dict) else None, doc_url=_text(fields.get("docUrl")),
        request_id=headers.get("x-request-id") or _text(fields.get("requestId")), retry_after=retry_after, headers=headers,
    )  # fmt: skip


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
