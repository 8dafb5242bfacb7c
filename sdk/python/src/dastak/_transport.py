"""Sends requests, and sends them again where that is safe; once for threads and once for asyncio."""

from __future__ import annotations

import asyncio
import random
import time
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Generic, Mapping, ParamSpec, TypeVar

import httpx

from . import _retry
from ._errors import ApiError, ConnectionFailedError, RequestTimeoutError, UnexpectedAnswerError
from ._files import AsyncDownload, Download, reading
from ._paging import AsyncPage, AsyncPager, Page, PagedOperation, Walk
from ._requests import LARGEST_ANSWER, Operation, Request, Settings, prepare, read, refusal

T = TypeVar("T")
Item = TypeVar("Item")
Answer = TypeVar("Answer")
P = ParamSpec("P")


@dataclass(frozen=True)
class RawResponse(Generic[T]):
    """An answer with what the methods leave out: status, headers and the body as it came."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    """The body; empty for a download."""
    parsed: T
    """What the method itself returns."""

    @property
    def request_id(self) -> str | None:
        return self.headers.get("x-request-id")


_last: ContextVar[list[tuple[int, httpx.Headers, bytes]] | None] = ContextVar("dastak_last_answer", default=None)


def to_raw(method: Callable[P, T]) -> Callable[P, RawResponse[T]]:
    """The method, returning its answer with status and headers."""

    def call(*args: P.args, **kwargs: P.kwargs) -> RawResponse[T]:
        answers: list[tuple[int, httpx.Headers, bytes]] = []
        token = _last.set(answers)
        try:
            result = method(*args, **kwargs)
        finally:
            _last.reset(token)
        return RawResponse(*answers[-1], result)

    return call


def to_raw_async(method: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[RawResponse[T]]]:
    """The method, returning its answer with status and headers."""

    async def call(*args: P.args, **kwargs: P.kwargs) -> RawResponse[T]:
        answers: list[tuple[int, httpx.Headers, bytes]] = []
        token = _last.set(answers)
        try:
            result = await method(*args, **kwargs)
        finally:
            _last.reset(token)
        return RawResponse(*answers[-1], result)

    return call


def _note(response: httpx.Response, body: bytes) -> None:
    if (answers := _last.get()) is not None:
        answers.append((response.status_code, response.headers, body))


def _pause(request: Request, settings: Settings, attempt: int, error: Exception) -> float | None:
    """Seconds until this request is sent again after this error; None when it is not."""
    if attempt >= settings.max_retries or not request.repeatable:
        return None
    if isinstance(error, ApiError):
        return _retry.pause(attempt, error.status, error.code, error.retry_after, random.random())
    return _retry.pause(attempt, None, None, None, random.random()) if isinstance(error, ConnectionFailedError) else None


class _Body:
    """Collects a body within its time and its size."""

    def __init__(self, request: Request, response: httpx.Response) -> None:
        self._request, self._response = request, response
        self._ends = time.monotonic() + request.timeout
        self._chunks: list[bytes] = []
        self._size = 0

    def add(self, chunk: bytes) -> None:
        self._size += len(chunk)
        self._chunks.append(chunk)
        if self._size > LARGEST_ANSWER:
            text = f"the answer has more than {LARGEST_ANSWER // 1024 // 1024} MB"
            raise UnexpectedAnswerError(text, status=self._response.status_code, request_id=self._response.headers.get("x-request-id"))
        if time.monotonic() > self._ends:
            raise RequestTimeoutError(f"{self._request.what}: no whole answer in time")

    def whole(self) -> bytes:
        return b"".join(self._chunks)


class Transport:
    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self.settings, self.http = settings, http

    def call(self, operation: Operation[T], **parts: Any) -> T:
        response, body = self.send(prepare(self.settings, operation, **parts))
        return read(operation, response.status_code, response.headers, body)

    def pages(self, operation: PagedOperation[Item, Answer], *, path: Mapping[str, Any] | None = None, query: Mapping[str, Any] | None = None) -> Page[Item, Answer]:
        return self.page(Walk(operation, path or {}, query or {}))

    def page(self, walk: Walk[Item, Answer]) -> Page[Item, Answer]:
        answer = self.call(walk.operation, path=walk.path, query=walk.query)
        return Page(answer, walk, self.page)

    def download(self, operation: Operation[bytes], **parts: Any) -> Download:
        request = prepare(self.settings, operation, accept="*/*", **parts)
        return Download(self.open(request), request.what)

    def open(self, request: Request) -> httpx.Response:
        """The answer, whose body is not read yet."""
        return self._send(request, whole=False)[0]

    def send(self, request: Request) -> tuple[httpx.Response, bytes]:
        """The answer and its body."""
        return self._send(request, whole=True)

    def _send(self, request: Request, *, whole: bool) -> tuple[httpx.Response, bytes]:
        attempt = 0
        while True:
            try:
                return self._once(request, whole)
            except (ApiError, ConnectionFailedError) as error:
                if (pause := _pause(request, self.settings, attempt, error)) is None:
                    raise
            time.sleep(pause)
            attempt += 1

    def _once(self, request: Request, whole: bool) -> tuple[httpx.Response, bytes]:
        built = httpx.Request(request.method, request.url, headers=request.headers, content=request.content, files=request.files, extensions=_timeouts(request))
        with reading(request.what):
            response = self.http.send(built, stream=True, follow_redirects=False)
            success = 200 <= response.status_code < 300
            if success and not whole:
                _note(response, b"")
                return response, b""
            try:
                body = _Body(request, response)
                for chunk in response.iter_bytes():
                    body.add(chunk)
            finally:
                response.close()
        if error := refusal(response.status_code, response.headers, body.whole()):
            raise error
        _note(response, body.whole())
        return response, body.whole()


class AsyncTransport:
    def __init__(self, settings: Settings, http: httpx.AsyncClient) -> None:
        self.settings, self.http = settings, http

    async def call(self, operation: Operation[T], **parts: Any) -> T:
        response, body = await self.send(prepare(self.settings, operation, **parts))
        return read(operation, response.status_code, response.headers, body)

    def pages(self, operation: PagedOperation[Item, Answer], *, path: Mapping[str, Any] | None = None, query: Mapping[str, Any] | None = None) -> AsyncPager[Item, Answer]:
        return AsyncPager(Walk(operation, path or {}, query or {}), self.page)

    async def page(self, walk: Walk[Item, Answer]) -> AsyncPage[Item, Answer]:
        answer = await self.call(walk.operation, path=walk.path, query=walk.query)
        return AsyncPage(answer, walk, self.page)

    async def download(self, operation: Operation[bytes], **parts: Any) -> AsyncDownload:
        request = prepare(self.settings, operation, accept="*/*", **parts)
        return AsyncDownload(await self.open(request), request.what)

    async def open(self, request: Request) -> httpx.Response:
        """The answer, whose body is not read yet."""
        return (await self._send(request, whole=False))[0]

    async def send(self, request: Request) -> tuple[httpx.Response, bytes]:
        """The answer and its body."""
        return await self._send(request, whole=True)

    async def _send(self, request: Request, *, whole: bool) -> tuple[httpx.Response, bytes]:
        attempt = 0
        while True:
            try:
                return await self._once(request, whole)
            except (ApiError, ConnectionFailedError) as error:
                if (pause := _pause(request, self.settings, attempt, error)) is None:
                    raise
            await asyncio.sleep(pause)
            attempt += 1

    async def _once(self, request: Request, whole: bool) -> tuple[httpx.Response, bytes]:
        built = httpx.Request(request.method, request.url, headers=request.headers, content=request.content, files=request.files, extensions=_timeouts(request))
        with reading(request.what):
            response = await self.http.send(built, stream=True, follow_redirects=False)
            success = 200 <= response.status_code < 300
            if success and not whole:
                _note(response, b"")
                return response, b""
            try:
                body = _Body(request, response)
                async for chunk in response.aiter_bytes():
                    body.add(chunk)
            finally:
                await response.aclose()
        if error := refusal(response.status_code, response.headers, body.whole()):
            raise error
        _note(response, body.whole())
        return response, body.whole()


def _timeouts(request: Request) -> dict[str, Any]:
    return {"timeout": httpx.Timeout(request.timeout, connect=min(request.timeout, 10.0)).as_dict()}


class Resource:
    """A group of operations."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


class AsyncResource:
    """A group of operations."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
