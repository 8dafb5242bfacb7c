"""When a request is sent again, and after how long. Pure."""

from __future__ import annotations

import datetime as dt
import math
import re
from email.utils import parsedate_to_datetime

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
LONGEST_RETRY_AFTER = 60.0
"""Seconds. A service that asks for more is not waited for: the error says how long it asked for."""
_IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE"})
_NEVER_AGAIN = frozenset({"possibly_placed"})


def repeatable(method: str, idempotency_key: str | None) -> bool:
    """Whether a request may be sent twice: its method says so, or its key makes it so."""
    return method in _IDEMPOTENT or idempotency_key is not None


def retry_after(value: str | None, now: dt.datetime) -> float | None:
    """Seconds of a `Retry-After`, which is a number of seconds or a date; None when it is absent or neither."""
    if value is None:
        return None
    if re.fullmatch(r"\s*[0-9]+(\.[0-9]+)?\s*", value):
        seconds = float(value)
        return seconds if math.isfinite(seconds) else None
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (when if when.tzinfo else when.replace(tzinfo=dt.timezone.utc)).timestamp() - now.timestamp())


def pause(attempt: int, status: int | None, code: str | None, asked: float | None, draw: float) -> float | None:
    """Seconds until attempt `attempt + 1` (the first is 0) after an answer with this status and code, or without any (`status` is
    None); None when the answer stays as it is. `asked` is what `Retry-After` said, `draw` is from 0 to 1."""
    if status is not None and not _passes(status, code):
        return None
    if asked is not None:
        return asked + FIRST_PAUSE * draw if asked <= LONGEST_RETRY_AFTER else None
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(attempt, 16)) * (0.5 + 0.5 * draw)


def _passes(status: int, code: str | None) -> bool:
    if code in _NEVER_AGAIN:
        return False
    return status in (408, 429, 500, 502, 503, 504) or (status == 409 and code == "idempotency_in_progress")
