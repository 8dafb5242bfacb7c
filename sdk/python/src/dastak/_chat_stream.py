"""A reply of a chat while it is written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import TracebackType
from typing import Any, AsyncIterator, Iterator, Literal, Union

import httpx
import pydantic

from . import models
from ._errors import ApiError, StreamInterruptedError, UnexpectedAnswerError
from ._files import reading
from ._requests import LARGEST_ANSWER
from ._sse import Decoder, EventTooLarge, ServerSentEvent


@dataclass(frozen=True)
class ChatText:
    """More words of the reply."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True)
class ChatDone:
    """The end of a reply. `reply` is what counts: words that were streamed before a hand-off are not the reply."""

    reply: models.ChatReply
    type: Literal["done"] = "done"


ChatStreamEvent = Union[ChatText, ChatDone]


class _Reader:
    """What both kinds of streams share: bytes in, events out."""

    def __init__(self, response: httpx.Response, what: str) -> None:
        self.response, self.what = response, what
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.whole = kind == "application/json"
        self._decoder, self._body = Decoder(), b""
        if not self.whole and kind != "text/event-stream":
            raise self._unexpected(f"the answer is {kind or 'of no type'}, not a stream of events")

    def feed(self, chunk: bytes) -> Iterator[ChatStreamEvent]:
        if self.whole:
            self._body += chunk
            if len(self._body) > LARGEST_ANSWER:
                raise self._unexpected("the answer is too large")
            return
        try:
            events = self._decoder.feed(chunk)
        except EventTooLarge as error:
            raise self._unexpected("an event of the stream is too large") from error
        yield from (found for found in map(self._event, events) if found is not None)

    def end(self) -> ChatStreamEvent:
        """What is left at the end of the body: a repeat by the same idempotency key may answer without a stream."""
        if not self.whole:
            raise StreamInterruptedError(f"{self.what}: the stream ended before the reply was done")
        return self._done(self._body.decode("utf-8", "replace"))

    def _event(self, event: ServerSentEvent) -> ChatStreamEvent | None:
        if event.event == "text":
            text = self._json(event.data).get("text")
            if not isinstance(text, str):
                raise self._unexpected("an event `text` without a text")
            return ChatText(text)
        if event.event == "error":
            fields = self._json(event.data)
            raise ApiError(
                str(fields.get("error") or "the reply failed"), status=self.response.status_code, code=fields.get("code"),
                meta=fields.get("meta"), request_id=self.response.headers.get("x-request-id"), doc_url=fields.get("docUrl"),
            )  # fmt: skip
        return self._done(event.data) if event.event == "done" else None

    def _done(self, data: str) -> ChatDone:
        try:
            return ChatDone(models.ChatReply.model_validate(self._json(data).get("data")))
        except pydantic.ValidationError as error:
            raise self._unexpected("the end of the reply has another shape than promised") from error

    def _json(self, data: str) -> dict[str, Any]:
        try:
            found = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._unexpected("an event is no JSON") from error
        if not isinstance(found, dict):
            raise self._unexpected("an event is no object")
        return found

    def _unexpected(self, text: str) -> UnexpectedAnswerError:
        return UnexpectedAnswerError(text, status=self.response.status_code, request_id=self.response.headers.get("x-request-id"))


# The generators do not refer to the streams that hold them, so that one which is given up closes its connection at once: a cycle would be
# collected at any moment, also while this thread holds the lock of the connections.
def _events(reader: _Reader) -> Iterator[ChatStreamEvent]:
    try:
        with reading(reader.what):
            for chunk in reader.response.iter_bytes():
                for event in reader.feed(chunk):
                    if isinstance(event, ChatDone):
                        reader.response.close()
                        yield event
                        return
                    yield event
        yield reader.end()
    finally:
        reader.response.close()


async def _async_events(reader: _Reader) -> AsyncIterator[ChatStreamEvent]:
    try:
        with reading(reader.what):
            async for chunk in reader.response.aiter_bytes():
                for event in reader.feed(chunk):
                    if isinstance(event, ChatDone):
                        await reader.response.aclose()
                        yield event
                        return
                    yield event
        yield reader.end()
    finally:
        await reader.response.aclose()


class ChatStream:
    """Events of a reply; the last one is `ChatDone`. Events of types that this version does not know are passed over."""

    def __init__(self, response: httpx.Response, what: str) -> None:
        try:
            self._reader = _Reader(response, what)
        except UnexpectedAnswerError:
            response.close()
            raise
        self._events = _events(self._reader)

    def __iter__(self) -> Iterator[ChatStreamEvent]:
        return self._events

    def reply(self) -> models.ChatReply:
        """Reads to the end, and gives the reply."""
        for event in self._events:
            if isinstance(event, ChatDone):
                return event.reply
        raise StreamInterruptedError(f"{self._reader.what}: the stream was read or closed already")

    def close(self) -> None:
        """Closes the connection. The agent still writes its reply to the end."""
        self._reader.response.close()

    def __enter__(self) -> ChatStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class AsyncChatStream:
    """Events of a reply; the last one is `ChatDone`. Events of types that this version does not know are passed over."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._events = _async_events(reader)

    @classmethod
    async def of(cls, response: httpx.Response, what: str) -> AsyncChatStream:
        try:
            return cls(_Reader(response, what))
        except UnexpectedAnswerError:
            await response.aclose()
            raise

    def __aiter__(self) -> AsyncIterator[ChatStreamEvent]:
        return self._events

    async def reply(self) -> models.ChatReply:
        """Reads to the end, and gives the reply."""
        async for event in self._events:
            if isinstance(event, ChatDone):
                return event.reply
        raise StreamInterruptedError(f"{self._reader.what}: the stream was read or closed already")

    async def close(self) -> None:
        """Closes the connection. The agent still writes its reply to the end."""
        await self._reader.response.aclose()

    async def __aenter__(self) -> AsyncChatStream:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
