"""Rules without a network: signatures, retries, events of streams, paths and bodies."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from conftest import vectors

import dastak
from dastak import Client, InvalidArgumentError, SignatureError, models, webhooks
from dastak._requests import body_of, path_of, query_of
from dastak._retry import pause, repeatable, retry_after
from dastak._sse import LARGEST_EVENT, Decoder, EventTooLarge


@pytest.mark.parametrize("case", vectors("signature")["cases"], ids=lambda case: case["name"])
def test_signatures(case: dict[str, Any]) -> None:
    for payload in (case["payload"], case["payload"].encode()):
        try:
            webhooks.verify(payload, case["header"], case["secrets"], tolerance=case["tolerance"], now=case["now"])
            valid = True
        except SignatureError:
            valid = False
        assert valid == case["valid"]


def test_an_event_is_read_after_its_signature() -> None:
    case = vectors("signature")["cases"][0]
    event = webhooks.unwrap(case["payload"], case["header"], case["secrets"], now=case["now"])
    assert isinstance(event, models.CallCompletedEvent) and event.data.call_id == "call_01k0"
    newer = models.Event.model_validate({"id": "evt_1", "type": "call.dreamt", "createdAt": "2026-01-01T00:00:00Z", "livemode": False, "data": {"of": 1}})
    assert webhooks.known(newer) is newer and newer.data == {"of": 1}
    with pytest.raises(SignatureError):
        webhooks.unwrap(case["payload"] + " ", case["header"], case["secrets"], now=case["now"])
    with pytest.raises(InvalidArgumentError):
        webhooks.verify(case["payload"], case["header"], [])


def test_the_header_of_a_signature_is_found_whatever_the_brand() -> None:
    assert webhooks.signature_header({"Content-Type": "application/json", "x-acme-signature": "t=1,v1=a"}) == "t=1,v1=a"
    for headers in ({}, {"X-A-Signature": "1", "X-B-Signature": "2"}):
        with pytest.raises(SignatureError):
            webhooks.signature_header(headers)


@pytest.mark.parametrize("case", vectors("retry")["cases"], ids=lambda case: case["name"])
def test_retries(case: dict[str, Any]) -> None:
    now = dt.datetime.fromisoformat(vectors("retry")["now"].replace("Z", "+00:00"))
    assert repeatable(case["method"], case["key"]) == case["repeatable"]
    asked = retry_after(case["retryAfter"], now)
    found = pause(case["attempt"], case["status"], case["code"], asked, case["draw"])
    assert found == case["pause"]


def test_events_of_a_stream_are_whole_however_their_bytes_are_cut() -> None:
    stream = 'event: text\r\ndata: {"text":"नमस्ते"}\r\n\r\n:\n\nid: 7\ndata: a\ndata:b\n\nevent: done\rdata: x\r\rdata: rest\n'.encode()
    expected = [("text", '{"text":"नमस्ते"}'), ("message", "a\nb"), ("done", "x")]
    for size in (1, 2, 3, 7, len(stream)):
        decoder = Decoder()
        found = [one for begin in range(0, len(stream), size) for one in decoder.feed(stream[begin : begin + size])]
        assert [(one.event, one.data) for one in found] == expected, size


def test_an_event_has_a_ceiling() -> None:
    with pytest.raises(EventTooLarge):
        Decoder().feed(b"data: " + b"x" * LARGEST_EVENT + b"\n")
    with pytest.raises(EventTooLarge):
        Decoder().feed(b"x" * (LARGEST_EVENT + 1))


def test_no_value_of_a_path_leads_elsewhere() -> None:
    assert path_of("/v1/calls/{id}", {"id": "a/../b?c#d"}) == "/v1/calls/a%2F..%2Fb%3Fc%23d"
    for wrong in ("", ".", ".."):
        with pytest.raises(InvalidArgumentError, match="^id:"):
            path_of("/v1/calls/{id}", {"id": wrong})


def test_queries() -> None:
    when = dt.datetime(2026, 1, 1, 5, 30, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30)))
    assert query_of({"from": when, "limit": 3, "test": True, "q": None}) == "from=2026-01-01T05%3A30%3A00%2B05%3A30&limit=3&test=true"
    with pytest.raises(InvalidArgumentError, match="^from:"):
        query_of({"from": dt.datetime(2026, 1, 1)})


def test_bodies_have_the_names_of_the_api() -> None:
    given = {"agentId": "agt_1", "toNumber": "+919812345678", "retry": {"max_retries": 1}, "metadata": {"snake_case": 1, "x": None}}
    expected = {**given, "retry": {"maxRetries": 1}}
    assert json.loads(body_of(models.NewNudge, given)) == expected
    assert json.loads(body_of(models.NewNudge, {**given, "retry": models.NewNudgeRetry(max_retries=1)})) == expected
    newer = {**given, "retry": {"maxRetries": 1, "aField": "of a later version"}}
    assert json.loads(body_of(models.NewNudge, newer)) == newer
    with pytest.raises(InvalidArgumentError, match="^retry.max_retries:"):
        body_of(models.NewNudge, {**given, "retry": {"max_retries": "many"}})


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("api_key", {"api_key": ""}),
        ("api_key", {"api_key": "a\nb"}),
        ("api_key", {"api_key": "schlüssel"}),
        ("base_url", {"base_url": "dastak.example"}),
        ("base_url", {"base_url": "ftp://dastak.example"}),
        ("timeout", {"timeout": 0}),
        ("max_retries", {"max_retries": -1}),
    ],
)
def test_wrong_options_are_named(argument: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DASTAK_API_KEY", raising=False)
    with pytest.raises(InvalidArgumentError, match=f"^{argument}:"):
        Client(**{"api_key": "dastak_test_1", **options})


def test_the_environment_gives_key_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASTAK_API_KEY", "dastak_test_1")
    monkeypatch.setenv("DASTAK_BASE_URL", "https://dastak.example")
    with Client() as client:
        assert client.base_url == "https://dastak.example"
        assert "dastak_test_1" not in repr(client._transport.settings)


def test_the_package_says_its_version_and_that_it_is_typed() -> None:
    from importlib.metadata import version
    from importlib.resources import files

    assert dastak.__version__ == version("dastak")
    assert (files("dastak") / "py.typed").is_file()
    assert "site-packages" in str(files("dastak")), "the tests run against the package that was built"
