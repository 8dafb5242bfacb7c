"""Lists in pages, walked to their end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, AsyncIterator, Awaitable, Callable, Generator, Generic, Iterator, Mapping, TypeVar

from ._errors import PagingError
from ._requests import Operation

Item = TypeVar("Item")
Answer = TypeVar("Answer")
MOST_PAGES = 100_000
"""Pages of one walk."""


@dataclass(frozen=True)
class PagedOperation(Operation[Answer], Generic[Item, Answer]):
    """An operation that answers a page of `Item`s, with `Answer` as the whole body."""

    parameter: str = ""
    """The query parameter that takes the continuation; none where all is listed at once."""
    continuation: str = ""
    """The member of the body with it, as an attribute; without one an offset is counted."""
    counted: bool = False
    """The continuation is an offset, and has to grow."""


@dataclass(frozen=True)
class Walk(Generic[Item, Answer]):
    """A list and the place in it."""

    operation: PagedOperation[Item, Answer]
    path: Mapping[str, Any]
    query: Mapping[str, Any]
    seen: set[Any] = field(default_factory=set)

    def after(self, answer: Any) -> Walk[Item, Answer] | None:
        """The place of the next page; None at the end."""
        parameter = self.operation.parameter
        if not parameter or (place := self._next(answer)) is None:
            return None
        if place in self.seen or place == self.query.get(parameter):
            raise PagingError(f"{self.operation.path}: the continuation {place!r} came twice")
        if len(self.seen) >= MOST_PAGES:
            raise PagingError(f"{self.operation.path}: more than {MOST_PAGES} pages")
        self.seen.add(place)
        return replace(self, query={**self.query, parameter: place})

    def _next(self, answer: Any) -> Any:
        before = int(self.query.get(self.operation.parameter) or 0) if self.operation.counted else 0
        if self.operation.continuation:
            place = getattr(answer, self.operation.continuation)
            if self.operation.counted and place is not None and place <= before:
                raise PagingError(f"{self.operation.path}: the offset {place} does not lead on from {before}")
            return place
        total, reached = getattr(answer, "total", None), before + len(answer.data)
        return reached if answer.data and (total is None or reached < total) else None


class Page(Generic[Item, Answer]):
    """A page of a list. Iterating over it goes on through the pages after it; `data` has the items of this one."""

    def __init__(self, answer: Answer, walk: Walk[Item, Answer], fetch: Callable[[Walk[Item, Answer]], Page[Item, Answer]]) -> None:
        self.answer = answer
        """The whole body."""
        self._walk, self._fetch = walk, fetch
        self._next: Walk[Item, Answer] | None = None
        self._looked = False

    @property
    def data(self) -> list[Item]:
        answer: Any = self.answer
        found: list[Item] = answer.data
        return found

    def _after(self) -> Walk[Item, Answer] | None:
        if not self._looked:
            self._next, self._looked = self._walk.after(self.answer), True
        return self._next

    @property
    def has_next(self) -> bool:
        return self._after() is not None

    def next_page(self) -> Page[Item, Answer] | None:
        """The page after this one; None at the end."""
        place = self._after()
        return self._fetch(place) if place is not None else None

    def pages(self) -> Iterator[Page[Item, Answer]]:
        """This page and those after it."""
        page: Page[Item, Answer] | None = self
        while page is not None:
            yield page
            page = page.next_page()

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from page.data


class AsyncPage(Generic[Item, Answer]):
    """A page of a list. Iterating over it goes on through the pages after it; `data` has the items of this one."""

    def __init__(self, answer: Answer, walk: Walk[Item, Answer], fetch: Callable[[Walk[Item, Answer]], Awaitable[AsyncPage[Item, Answer]]]) -> None:
        self.answer = answer
        """The whole body."""
        self._walk, self._fetch = walk, fetch
        self._next: Walk[Item, Answer] | None = None
        self._looked = False

    @property
    def data(self) -> list[Item]:
        answer: Any = self.answer
        found: list[Item] = answer.data
        return found

    def _after(self) -> Walk[Item, Answer] | None:
        if not self._looked:
            self._next, self._looked = self._walk.after(self.answer), True
        return self._next

    @property
    def has_next(self) -> bool:
        return self._after() is not None

    async def next_page(self) -> AsyncPage[Item, Answer] | None:
        """The page after this one; None at the end."""
        place = self._after()
        return await self._fetch(place) if place is not None else None

    async def pages(self) -> AsyncIterator[AsyncPage[Item, Answer]]:
        """This page and those after it."""
        page: AsyncPage[Item, Answer] | None = self
        while page is not None:
            yield page
            page = await page.next_page()

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in page.data:
                yield item


class AsyncPager(Generic[Item, Answer]):
    """A list: `async for` goes through all of its items, `await` gives the first page."""

    def __init__(self, walk: Walk[Item, Answer], fetch: Callable[[Walk[Item, Answer]], Awaitable[AsyncPage[Item, Answer]]]) -> None:
        self._walk, self._fetch = walk, fetch

    def __await__(self) -> Generator[Any, None, AsyncPage[Item, Answer]]:
        return self._fetch(replace(self._walk, seen=set())).__await__()

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for item in await self:
            yield item
