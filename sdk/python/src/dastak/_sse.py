"""Server-sent events, decoded from bytes as they come. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

LARGEST_EVENT = 1024 * 1024
"""Bytes of one event, and of one line."""
_END_OF_LINE = re.compile(rb"\r\n|\n|\r")


class EventTooLarge(Exception):
    """An event has more bytes than `LARGEST_EVENT`."""


@dataclass(frozen=True)
class ServerSentEvent:
    event: str
    data: str


class Decoder:
    def __init__(self) -> None:
        self._rest = b""
        self._event = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events that are whole with these bytes."""
        text, found, begin = self._rest + chunk, [], 0
        for end in _END_OF_LINE.finditer(text):
            if end.group() == b"\r" and end.end() == len(text):
                break  # the line feed of a pair may still come
            if event := self._line(text[begin : end.start()]):
                found.append(event)
            begin = end.end()
        self._rest = text[begin:]
        if len(self._rest) > LARGEST_EVENT:
            raise EventTooLarge
        return found

    def _line(self, line: bytes) -> ServerSentEvent | None:
        if not line:
            event = ServerSentEvent(self._event or "message", "\n".join(self._data)) if self._data else None
            self._event, self._data, self._size = "", [], 0
            return event
        self._size += len(line)
        if self._size > LARGEST_EVENT:
            raise EventTooLarge
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        return None
