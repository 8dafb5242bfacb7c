"""Files that are sent, and bytes that are received."""

from __future__ import annotations

import os
import pathlib
from contextlib import contextmanager
from types import TracebackType
from typing import IO, Any, AsyncIterator, Iterator, Union

import httpx

from ._errors import ConnectionFailedError, InvalidArgumentError, RequestTimeoutError

FileContent = Union[bytes, IO[bytes]]
FileInput = Union[FileContent, "os.PathLike[str]", "tuple[str, FileContent]", "tuple[str, FileContent, str]"]
"""Bytes, an open file, a path, or `(file name, content)` with the content type as an optional third."""


def form_part(name: str, file: FileInput) -> Any:
    """The file as httpx takes it; a path is read whole."""
    if isinstance(file, os.PathLike):
        path = pathlib.Path(file)
        return path.name, path.read_bytes()
    if isinstance(file, tuple):
        if len(file) not in (2, 3) or not file[0]:
            raise InvalidArgumentError(f"{name}: a tuple is (file name, content) or (file name, content, content type)")
        return file
    if isinstance(file, (bytes, bytearray)):
        return name, bytes(file)
    label = getattr(file, "name", None)
    return (os.path.basename(label) if isinstance(label, str) else "") or name, file


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Names the failures of a connection while an answer is read."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise RequestTimeoutError(f"{what}: no answer in time") from error
    except (httpx.TransportError, httpx.StreamError) as error:
        raise ConnectionFailedError(f"{what}: {error or type(error).__name__}") from error


class _Received:
    def __init__(self, response: httpx.Response, what: str) -> None:
        self._response = response
        self._what = what

    @property
    def content_type(self) -> str:
        return str(self._response.headers.get("content-type", ""))

    @property
    def headers(self) -> httpx.Headers:
        return self._response.headers


class Download(_Received):
    """Bytes of an answer. Use it in a `with` block, or read it to its end, so that its connection is released."""

    def iter_bytes(self) -> Iterator[bytes]:
        """The bytes as they come."""
        with reading(self._what):
            try:
                yield from self._response.iter_bytes()
            finally:
                self._response.close()

    def read(self) -> bytes:
        """All of it, in memory."""
        return b"".join(self.iter_bytes())

    def save(self, path: str | os.PathLike[str]) -> int:
        """Writes it into a file, and says how many bytes it has."""
        size = 0
        with open(path, "wb") as file:
            for chunk in self.iter_bytes():
                size += file.write(chunk)
        return size

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> Download:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class AsyncDownload(_Received):
    """Bytes of an answer. Use it in an `async with` block, or read it to its end, so that its connection is released."""

    async def iter_bytes(self) -> AsyncIterator[bytes]:
        """The bytes as they come."""
        with reading(self._what):
            try:
                async for chunk in self._response.aiter_bytes():
                    yield chunk
            finally:
                await self._response.aclose()

    async def read(self) -> bytes:
        """All of it, in memory."""
        return b"".join([chunk async for chunk in self.iter_bytes()])

    async def save(self, path: str | os.PathLike[str]) -> int:
        """Writes it into a file, and says how many bytes it has."""
        size = 0
        with open(path, "wb") as file:
            async for chunk in self.iter_bytes():
                size += file.write(chunk)
        return size

    async def close(self) -> None:
        await self._response.aclose()

    async def __aenter__(self) -> AsyncDownload:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
