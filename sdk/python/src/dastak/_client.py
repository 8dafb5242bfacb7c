"""The clients."""

from __future__ import annotations

import os
from dataclasses import replace
from types import TracebackType
from typing import Any, Mapping

import httpx

from ._errors import InvalidArgumentError
from ._requests import Operation, Settings, parsed, prepare
from ._resources import AsyncResources, Resources
from ._transport import AsyncTransport, Transport

DEFAULT_BASE_URL = "http://127.0.0.1:8080"
DEFAULT_TIMEOUT = 60.0
DEFAULT_MAX_RETRIES = 2


def _settings(
    api_key: str | None, base_url: str | None, timeout: float, max_retries: int, headers: Mapping[str, str] | None
) -> Settings:
    return Settings(
        base_url or os.environ.get("DASTAK_BASE_URL") or DEFAULT_BASE_URL, api_key or os.environ.get("DASTAK_API_KEY") or "",
        timeout, max_retries, dict(headers or {}),
    ).checked()  # fmt: skip


def _changed(settings: Settings, timeout: float | None, max_retries: int | None, headers: Mapping[str, str] | None) -> Settings:
    return replace(
        settings, timeout=settings.timeout if timeout is None else timeout,
        max_retries=settings.max_retries if max_retries is None else max_retries, headers={**settings.headers, **(headers or {})},
    ).checked()  # fmt: skip


def _operation(method: str, path: str, body: Any, idempotency_key: str | None) -> Operation[Any]:
    if not path.startswith("/"):
        raise InvalidArgumentError("path: it begins with /, such as /v1/me")
    escaped = path.replace("{", "%7B").replace("}", "%7D")
    return Operation(method.upper(), escaped, Any, keyed=idempotency_key is not None, body=None if body is None else Any)


class Client(Resources):
    """Reaches the service from threads. One client serves a whole program; `close` it, or use it in a `with` block.

    - api_key: by default `DASTAK_API_KEY` of the environment.
    - base_url: by default `DASTAK_BASE_URL`, else http://127.0.0.1:8080, where `dastak dev` listens.
    - timeout: seconds for a whole answer, and between two pieces of a download or a stream.
    - max_retries: how often a request that may be repeated is sent again.
    - headers: sent with every request.
    - http_client: an `httpx.Client` of your own, for proxies or certificates; it stays yours to close."""

    def __init__(
        self, api_key: str | None = None, base_url: str | None = None, *, timeout: float = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_MAX_RETRIES, headers: Mapping[str, str] | None = None, http_client: httpx.Client | None = None,
    ) -> None:  # fmt: skip
        settings = _settings(api_key, base_url, timeout, max_retries, headers)
        http = http_client or httpx.Client()
        self._own = None if http_client else http
        self._transport = Transport(settings, http)
        super().__init__(self._transport)

    @property
    def base_url(self) -> str:
        return self._transport.settings.base_url

    def with_options(self, *, timeout: float | None = None, max_retries: int | None = None, headers: Mapping[str, str] | None = None) -> Client:
        """A client with other options, over the same connections."""
        settings = _changed(self._transport.settings, timeout, max_retries, headers)
        return Client(
            settings.api_key, settings.base_url, timeout=settings.timeout, max_retries=settings.max_retries, headers=settings.headers,
            http_client=self._transport.http,
        )  # fmt: skip

    def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None, idempotency_key: str | None = None
    ) -> Any:
        """A request that this version has no method for; the answer is the body's JSON."""
        asked = prepare(self._transport.settings, _operation(method, path, body, idempotency_key), query=query, body=body, key=idempotency_key)
        response, content = self._transport.send(asked)
        return parsed(response.status_code, response.headers, content) if content else None

    def close(self) -> None:
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class AsyncClient(AsyncResources):
    """Reaches the service from asyncio; otherwise as `Client`. Use it in an `async with` block, or `await close()` it."""

    def __init__(
        self, api_key: str | None = None, base_url: str | None = None, *, timeout: float = DEFAULT_TIMEOUT,
        max_retries: int = DEFAULT_MAX_RETRIES, headers: Mapping[str, str] | None = None, http_client: httpx.AsyncClient | None = None,
    ) -> None:  # fmt: skip
        settings = _settings(api_key, base_url, timeout, max_retries, headers)
        http = http_client or httpx.AsyncClient()
        self._own = None if http_client else http
        self._transport = AsyncTransport(settings, http)
        super().__init__(self._transport)

    @property
    def base_url(self) -> str:
        return self._transport.settings.base_url

    def with_options(self, *, timeout: float | None = None, max_retries: int | None = None, headers: Mapping[str, str] | None = None) -> AsyncClient:
        """A client with other options, over the same connections."""
        settings = _changed(self._transport.settings, timeout, max_retries, headers)
        return AsyncClient(
            settings.api_key, settings.base_url, timeout=settings.timeout, max_retries=settings.max_retries, headers=settings.headers,
            http_client=self._transport.http,
        )  # fmt: skip

    async def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None, idempotency_key: str | None = None
    ) -> Any:
        """A request that this version has no method for; the answer is the body's JSON."""
        asked = prepare(self._transport.settings, _operation(method, path, body, idempotency_key), query=query, body=body, key=idempotency_key)
        response, content = await self._transport.send(asked)
        return parsed(response.status_code, response.headers, content) if content else None

    async def close(self) -> None:
        if self._own is not None:
            await self._own.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
