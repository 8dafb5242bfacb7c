"""A later version of the service, and servers that fail: nothing breaks, and what cannot be helped is a clear error."""

from __future__ import annotations

import asyncio
import gc
import io
from typing import Any, Callable

import pytest
from stub import Stub

import dastak
from dastak import ApiError, AsyncClient, ChatDone, ChatText, Client, _retry


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses are tested by their rule; here they only cost time."""
    monkeypatch.setattr(_retry, "FIRST_PAUSE", 0.001)


@pytest.fixture
def at(stub: Stub, request: pytest.FixtureRequest) -> Callable[..., Client]:
    def client(scenario: str, **options: Any) -> Client:
        made = Client("dastak_test_1", stub.url(f"{scenario}~{request.node.name}"), **options)
        request.addfinalizer(made.close)
        return made

    return client


def log(stub: Stub, client: Client | AsyncClient) -> list[dict[str, Any]]:
    return stub.log.get(client.base_url.rsplit("/", 1)[1], [])


def place(client: Client, **more: Any) -> dastak.models.PlacedCall:
    return client.calls.place(agent_id="agt_1", to_number="+919812345678", **more)


def test_new_fields_words_and_codes_break_nothing(at: Callable[..., Client]) -> None:
    client = at("newer")
    call = client.calls.get("call_1")
    assert (call.state, call.direction, call.answered_by) == ("meditating", "sideways", "robot")
    assert call.model_extra is not None and call.model_extra["aField"] == {"of": ["a later version"]}
    assert [one.id for one in client.calls.list()] == ["call_1", "call_2"]
    with pytest.raises(ApiError) as refused:
        client.account.get()
    assert (refused.value.status, refused.value.code, refused.value.meta["aMember"]) == (418, "a_new_code", 1)
    assert refused.value.doc_url == "/docs/errors/a_new_code" and refused.value.request_id == "req_stub"
    assert client.request("GET", "/v1/something-new")["more"] is True


def test_what_an_older_service_does_not_send_is_none(at: Callable[..., Client]) -> None:
    call = at("broken-once").calls.get("call_1")
    assert call.id == "call_1" and call.full_transcript is None


def test_an_event_of_an_unknown_type_is_passed_over(at: Callable[..., Client]) -> None:
    with at("newer-event").chats.stream("chatsess_1", text="Hello") as stream:
        events = list(stream)
    assert [one.type for one in events] == ["text", "done"]
    assert isinstance(events[1], ChatDone) and events[1].reply.reply == "Within 30 days."


@pytest.mark.parametrize("scenario", ["broken-once", "half-once", "limited-once", "in-progress-once", "unavailable-twice"])
def test_what_passes_is_tried_again_with_the_same_key(scenario: str, at: Callable[..., Client], stub: Stub) -> None:
    client = at(scenario)
    assert place(client).interaction_id == "call_1"
    requests = log(stub, client)
    assert len(requests) == (3 if scenario == "unavailable-twice" else 2)
    assert len({one["key"] for one in requests}) == 1 and requests[0]["key"]
    assert len({one["body"] for one in requests}) == 1
    place(client, idempotency_key="mine")
    assert log(stub, client)[-1]["key"] == "mine"
    assert requests[0]["key"] != "mine"


def test_what_has_no_key_is_sent_once(at: Callable[..., Client], stub: Stub) -> None:
    for scenario, error in (("broken", dastak.ConnectionFailedError), ("unavailable", dastak.ServerError)):
        client = at(scenario)
        with pytest.raises(error):
            client.agents.create(name="Asha")
        with pytest.raises(error):
            client.webhooks.update("whe_1", status="disabled")
        assert [one["method"] for one in log(stub, client)] == ["POST", "PATCH"]
        assert {one["key"] for one in log(stub, client)} == {None}


def test_retries_have_an_end(at: Callable[..., Client], stub: Stub) -> None:
    client = at("unavailable")
    with pytest.raises(dastak.ServerError) as refused:
        client.calls.get("call_1")
    assert refused.value.code == "unavailable" and len(log(stub, client)) == 3
    with pytest.raises(dastak.ServerError):
        client.with_options(max_retries=0).calls.get("call_1")
    assert len(log(stub, client)) == 4


def test_a_dial_that_may_have_gone_out_is_not_repeated(at: Callable[..., Client], stub: Stub) -> None:
    client = at("possibly-placed")
    with pytest.raises(dastak.ServerError) as refused:
        place(client)
    assert refused.value.code == "possibly_placed" and len(log(stub, client)) == 1


def test_a_service_that_asks_for_an_hour_is_not_waited_for(at: Callable[..., Client], stub: Stub) -> None:
    client = at("limited-long")
    with pytest.raises(dastak.RateLimitError) as refused:
        client.calls.get("call_1")
    assert refused.value.retry_after == 3600 and len(log(stub, client)) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, dastak.BadRequestError), (401, dastak.AuthenticationError), (402, dastak.InsufficientBalanceError),
        (403, dastak.PermissionDeniedError), (404, dastak.NotFoundError), (409, dastak.ConflictError), (410, dastak.GoneError),
        (422, dastak.UnprocessableError), (423, dastak.LockedError), (500, dastak.ServerError), (418, ApiError),
    ],
)  # fmt: skip
def test_each_status_has_its_error(status: int, kind: type[ApiError], at: Callable[..., Client]) -> None:
    with pytest.raises(ApiError) as refused:
        at("status", max_retries=0).calls.get(str(status))
    assert type(refused.value) is kind
    assert (refused.value.status, refused.value.code, refused.value.meta) == (status, "some_code", {"field": "toNumber"})
    assert "refused" in str(refused.value) and "req_stub" in str(refused.value)


@pytest.mark.parametrize("scenario", ["html", "deep", "shape", "empty", "redirect"])
def test_what_is_no_answer_of_the_api_is_said(scenario: str, at: Callable[..., Client], stub: Stub) -> None:
    client = at(scenario)
    with pytest.raises(dastak.UnexpectedAnswerError) as refused:
        client.calls.get("call_1")
    assert refused.value.request_id == "req_stub"
    with pytest.raises(dastak.UnexpectedAnswerError):
        client.calls.list()
    assert not any(name.startswith("thief") for name in stub.log), "a key was carried to another address"


def test_errors_of_others_are_errors_too(at: Callable[..., Client]) -> None:
    for scenario, kind in (("html-error", dastak.PermissionDeniedError), ("odd-error", dastak.BadRequestError)):
        with pytest.raises(kind) as refused:
            at(scenario).calls.get("call_1")
        assert refused.value.code is None and refused.value.meta == {} and refused.value.doc_url is None


def test_a_server_that_says_nothing_is_left(at: Callable[..., Client], stub: Stub) -> None:
    client = at("silent", timeout=0.2, max_retries=1)
    with pytest.raises(dastak.RequestTimeoutError):
        client.calls.get("call_1")
    assert len(log(stub, client)) == 2


def test_an_answer_that_never_ends_is_left(at: Callable[..., Client], stub: Stub) -> None:
    with pytest.raises(dastak.RequestTimeoutError):
        at("trickle", timeout=0.3, max_retries=0).calls.get("call_1")
    with pytest.raises(dastak.RequestTimeoutError):
        at("stream-silent", timeout=0.3).chats.stream("chatsess_1", text="When?").reply()


def test_an_answer_has_a_ceiling(at: Callable[..., Client]) -> None:
    with pytest.raises(dastak.UnexpectedAnswerError, match="64 MB"):
        at("endless").calls.get("call_1")


def test_pages_are_walked_to_their_end(at: Callable[..., Client], stub: Stub) -> None:
    client = at("pages")
    assert [one.id for one in client.calls.list(limit=2)] == [f"call_{one}" for one in range(6)]
    assert [one["path"] for one in log(stub, client)] == ["/v1/calls?limit=2", "/v1/calls?limit=2&cursor=c1", "/v1/calls?limit=2&cursor=c2"]
    page = client.calls.list(limit=2)
    assert page.has_next and len(page.data) == 2 and page.answer.next_cursor == "c1"
    assert [len(one.data) for one in page.pages()] == [2, 2, 2]
    following = page.next_page()
    assert following is not None and [one.id for one in following.data] == ["call_2", "call_3"]
    assert len(list(at("offsets").do_not_call.list(limit=2))) == 5


@pytest.mark.parametrize("scenario", ["same-cursor", "cursor-circle"])
def test_pages_that_do_not_end_are_an_error(scenario: str, at: Callable[..., Client], stub: Stub) -> None:
    client = at(scenario)
    with pytest.raises(dastak.PagingError):
        for _ in client.calls.list():
            pass
    assert len(log(stub, client)) <= 4
    with pytest.raises(dastak.PagingError):
        list(at("same-offset").scheduled_calls.list(offset=50))


def test_a_reply_is_streamed(at: Callable[..., Client], stub: Stub) -> None:
    client = at("stream")
    with client.chats.stream("chatsess_1", text="When?") as stream:
        events = list(stream)
    assert events[:2] == [ChatText("Within "), ChatText("30 days.")] and isinstance(events[2], ChatDone)
    sent = log(stub, client)[0]
    assert sent["headers"]["accept"] == "text/event-stream" and sent["key"] and sent["body"] == '{"text":"When?"}'
    assert client.chats.stream("chatsess_1", text="When?").reply().reply == "Within 30 days."
    assert at("stream-replayed").chats.stream("chatsess_1", text="When?").reply().reply == "Within 30 days."


@pytest.mark.parametrize(
    ("scenario", "kind"),
    [("stream-cut", dastak.StreamInterruptedError), ("stream-nonsense", dastak.UnexpectedAnswerError), ("stream-endless", dastak.UnexpectedAnswerError), ("html", dastak.UnexpectedAnswerError)],
)
def test_a_stream_that_breaks_is_an_error(scenario: str, kind: type[Exception], at: Callable[..., Client], stub: Stub) -> None:
    client = at(scenario)
    with pytest.raises(kind):
        client.chats.stream("chatsess_1", text="When?").reply()
    assert len(log(stub, client)) == 1, "a reply that began is not asked for again"


def test_a_stream_that_is_given_up_closes_at_once(at: Callable[..., Client]) -> None:
    stream = at("stream-silent").chats.stream("chatsess_1", text="When?")
    response = stream._reader.response
    assert next(iter(stream)) == ChatText("Within ") and not response.is_closed
    gc.disable()
    try:
        del stream
        assert response.is_closed, "a cycle is left to the collector, which may run while the lock of the connections is held"
    finally:
        gc.enable()


def test_an_error_within_a_stream_is_an_error_of_the_api(at: Callable[..., Client]) -> None:
    heard = []
    with pytest.raises(ApiError) as refused:
        for event in at("stream-error").chats.stream("chatsess_1", text="When?"):
            heard.append(event)
    assert heard == [ChatText("Within ")] and refused.value.code == "reply_failed"
    with pytest.raises(dastak.ServerError):
        at("unavailable", max_retries=0).chats.stream("chatsess_1", text="When?")


def test_files_are_sent_as_forms(at: Callable[..., Client], stub: Stub, tmp_path: Any) -> None:
    client = at("newer")
    path = tmp_path / "card.txt"
    path.write_bytes(b"of a path")
    for file, name, content in [
        (b"of bytes", "file", "of bytes"), (io.BytesIO(b"open"), "file", "open"), (path, "card.txt", "of a path"),
        (("a.pdf", b"named", "application/pdf"), "a.pdf", "named"),
    ]:  # fmt: skip
        client.templates.upload_sample(file=file)
        sent = log(stub, client)[-1]
        assert f'name="file"; filename="{name}"' in sent["body"] and content in sent["body"]
        assert sent["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    assert "application/pdf" in sent["body"]


def test_a_recording_is_fetched_without_the_key(at: Callable[..., Client], stub: Stub, tmp_path: Any) -> None:
    client = at("recorded", headers={"X-Of-Mine": "1"})
    path = tmp_path / "call.wav"
    assert client.calls.recording("call_1").save(path) == 100_004 and path.read_bytes().startswith(b"RIFF")
    with client.calls.recording("call_1") as download:
        assert download.content_type == "audio/wav" and next(download.iter_bytes()).startswith(b"RIFF")
    requests = stub.log[client.base_url.rsplit("/", 1)[1].replace("recorded", "wave")]
    assert requests[0]["path"] == "/v1/recordings/rec_1?signature=s"
    assert all("authorization" not in one["headers"] and "x-of-mine" not in one["headers"] for one in requests)
    with pytest.raises(dastak.NoRecordingError):
        at("half-once").calls.recording("call_1")


def test_answers_can_be_had_raw(at: Callable[..., Client]) -> None:
    raw = at("newer").calls.with_raw_response.get("call_1")
    assert (raw.status, raw.request_id, raw.parsed.id) == (200, "req_stub", "call_1") and b"meditating" in raw.content
    assert at("pages").calls.with_raw_response.list().parsed.has_next


def test_the_same_from_asyncio(stub: Stub) -> None:
    async def tell() -> None:
        def at(scenario: str, **options: Any) -> AsyncClient:
            return AsyncClient("dastak_test_1", stub.url(f"{scenario}~asyncio"), **options)

        async with at("unavailable-twice") as client:
            assert (await client.calls.place(agent_id="agt_1", to_number="+919812345678")).interaction_id == "call_1"
            assert len({one["key"] for one in log(stub, client)}) == 1 and len(log(stub, client)) == 3
        async with at("broken") as client:
            with pytest.raises(dastak.ConnectionFailedError):
                await client.agents.create(name="Asha")
            assert len(log(stub, client)) == 1
        async with at("pages") as client:
            assert [one.id async for one in client.calls.list()] == [f"call_{one}" for one in range(6)]
            page = await client.calls.list()
            assert page.has_next and [len(one.data) async for one in page.pages()] == [2, 2, 2]
            assert (await client.calls.with_raw_response.list()).parsed.has_next
        async with at("cursor-circle") as client:
            with pytest.raises(dastak.PagingError):
                [one async for one in client.calls.list()]
        async with at("stream") as client:
            async with await client.chats.stream("chatsess_1", text="When?") as stream:
                assert [one.type async for one in stream] == ["text", "text", "done"]
        for scenario, kind in (("stream-cut", dastak.StreamInterruptedError), ("stream-error", ApiError), ("html", dastak.UnexpectedAnswerError)):
            async with at(scenario) as client:
                with pytest.raises(kind):
                    await (await client.chats.stream("chatsess_1", text="When?")).reply()
        async with at("silent", timeout=0.2, max_retries=0) as client:
            with pytest.raises(dastak.RequestTimeoutError):
                await client.calls.get("call_1")
        async with at("endless") as client:
            with pytest.raises(dastak.UnexpectedAnswerError, match="64 MB"):
                await client.calls.get("call_1")
        async with at("newer") as client:
            assert (await client.calls.with_raw_response.get("call_1")).parsed.state == "meditating"
            assert (await client.request("GET", "/v1/something-new"))["more"] is True

    asyncio.run(tell())
