"""What some groups of operations have beside those of the document."""

from __future__ import annotations

from dataclasses import replace
from typing import AsyncIterator, Iterator

from . import models
from ._chat_stream import AsyncChatStream, ChatStream
from ._errors import DastakError, InvalidArgumentError, PagingError
from ._files import AsyncDownload, Download
from ._operations import calls, chats, events
from ._requests import Operation, Request, Settings, prepare
from ._version import VERSION

_SEND: Operation[models.ChatReply] = Operation("POST", "/v1/chat/sessions/{id}/messages", keyed=True, body=models.NewChatMessage)
_LONGEST_WAIT = 25


class NoRecordingError(DastakError):
    """The call has no recording, or not yet: `recording.ready` says when."""


def _recording(settings: Settings, call: models.CallDetail) -> Request:
    if not call.recording_url:
        raise NoRecordingError(f"{call.id} has no recording, or not yet")
    headers = {"Accept": "audio/wav", "User-Agent": f"dastak-python/{VERSION}"}
    return Request("GET", call.recording_url, headers, None, None, settings.timeout, True, f"GET the recording of {call.id}")


def _chat(settings: Settings, id: str, text: str, key: str | None) -> Request:
    return prepare(settings, _SEND, path={"id": id}, body={"text": text}, key=key, accept="text/event-stream")


class Calls(calls.Calls):
    def recording(self, id: str) -> Download:
        """The recording of a call, as WAV. Its link needs no key, so none is sent."""
        request = _recording(self._transport.settings, self.get(id))
        return Download(self._transport.open(request), request.what)


class AsyncCalls(calls.AsyncCalls):
    async def recording(self, id: str) -> AsyncDownload:
        """The recording of a call, as WAV. Its link needs no key, so none is sent."""
        request = _recording(self._transport.settings, await self.get(id))
        return AsyncDownload(await self._transport.open(request), request.what)


class Chats(chats.Chats):
    def stream(self, id: str, *, text: str, idempotency_key: str | None = None) -> ChatStream:
        """Sends a message of the customer, and gives the reply while it is written. An error before the reply begins is raised here,
        one within the stream while it is read."""
        request = _chat(self._transport.settings, id, text, idempotency_key)
        return ChatStream(self._transport.open(request), request.what)


class AsyncChats(chats.AsyncChats):
    async def stream(self, id: str, *, text: str, idempotency_key: str | None = None) -> AsyncChatStream:
        """Sends a message of the customer, and gives the reply while it is written. An error before the reply begins is raised here,
        one within the stream while it is read."""
        request = _chat(self._transport.settings, id, text, idempotency_key)
        return await AsyncChatStream.of(await self._transport.open(request), request.what)


def _longer(settings: Settings, wait: int) -> Settings:
    """Settings whose timeout has room for the wait."""
    if not 1 <= wait <= _LONGEST_WAIT:
        raise InvalidArgumentError(f"wait: it is from 1 to {_LONGEST_WAIT} seconds")
    return replace(settings, timeout=settings.timeout + wait)


def _moved(before: str, answer: models.EventStream) -> str:
    if answer.data and answer.cursor == before:
        raise PagingError("the stream of events gives events, but the same cursor")
    return answer.cursor


class Events(events.Events):
    def follow(self, *, after: str = "latest", wait: int = _LONGEST_WAIT) -> Iterator[models.Event]:
        """Events of the key's mode as they happen, without end. `after` is `latest`, `start`, or a cursor of `list`; `wait` is how
        long the service waits for an event before it answers that there is none, in seconds."""
        transport = type(self._transport)(_longer(self._transport.settings, wait), self._transport.http)
        group = events.Events(transport)
        while True:
            answer = group.list(after=after, wait=wait)
            after = _moved(after, answer)
            yield from answer.data


class AsyncEvents(events.AsyncEvents):
    async def follow(self, *, after: str = "latest", wait: int = _LONGEST_WAIT) -> AsyncIterator[models.Event]:
        """Events of the key's mode as they happen, without end. `after` is `latest`, `start`, or a cursor of `list`; `wait` is how
        long the service waits for an event before it answers that there is none, in seconds."""
        transport = type(self._transport)(_longer(self._transport.settings, wait), self._transport.http)
        group = events.AsyncEvents(transport)
        while True:
            answer = await group.list(after=after, wait=wait)
            after = _moved(after, answer)
            for event in answer.data:
                yield event
