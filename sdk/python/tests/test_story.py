"""A day of a bookshop, against the service: agent, call, nudge, campaign, chat, webhook, erasure."""

from __future__ import annotations

import asyncio
import http.server
import queue
import threading
import uuid
from typing import Any, Iterator

import pytest

import dastak
from dastak import AsyncClient, ChatDone, ChatText, Client, models, webhooks

NUMBER = "+919812345678"
FLOW: dict[str, Any] = {
    "startNodeId": "hello",
    "nodes": [
        {"id": "hello", "type": "say", "text": "Welcome to the bookshop.", "next": "which"},
        {"id": "which", "type": "collect", "text": "Which book?", "field": {"key": "book", "label": "Book", "type": "text"}, "attempts": 3, "next": "bye"},
        {"id": "bye", "type": "end", "text": "{{book}} it is.", "outcome": "ordered"},
    ],
    "variables": [],
}


class Receiver(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Delivery)
        self.got: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()


class _Delivery(http.server.BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.put((dict(self.headers), body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *_: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def live(service: dict[str, str]) -> Iterator[Client]:
    with Client(service["live"], service["url"]) as client:
        yield client


@pytest.fixture
def test(service: dict[str, str]) -> Iterator[Client]:
    with Client(service["test"], service["url"]) as client:
        yield client


def later(client: Client, seconds: int) -> None:
    client.request("POST", "/dev/clock", body={"advanceSeconds": seconds})


@pytest.fixture
def agent(live: Client) -> models.AgentDetail:
    made = live.agents.create(name="Asha", channel="call")
    live.flows.save(made.id, graph=models.FlowGraph.model_validate(FLOW), base_version=live.flows.get(made.id).draft_version)
    live.flows.publish(made.id)
    return live.agents.set_status(made.id, status="active")


def test_who_am_i(test: Client, live: Client) -> None:
    assert test.account.get().workspace.name == live.account.get().workspace.name == "Bookshop"
    raw = test.account.with_raw_response.get()
    assert raw.status == 200 and raw.request_id and raw.parsed.key.name == "test"
    with pytest.raises(dastak.AuthenticationError) as refused:
        Client("dastak_test_nobody", test.base_url).account.get()
    assert refused.value.code == "unauthorized"
    with pytest.raises(dastak.PermissionDeniedError) as refused_too:
        test.agents.create(name="Asha")
    assert refused_too.value.code == "test_mode_read_only"


def test_a_call(test: Client, agent: models.AgentDetail) -> None:
    key = str(uuid.uuid4())
    placed = test.calls.place(agent_id=agent.id, to_number=NUMBER, metadata={"order_id": 7}, idempotency_key=key)
    again = test.calls.with_raw_response.place(agent_id=agent.id, to_number=NUMBER, metadata={"order_id": 7}, idempotency_key=key)
    assert placed.placed and again.parsed.interaction_id == placed.interaction_id and again.headers["idempotent-replayed"] == "true"
    with pytest.raises(dastak.UnprocessableError) as reused:
        test.calls.place(agent_id=agent.id, to_number="+919812345679", idempotency_key=key)
    assert reused.value.code == "idempotency_key_reused"
    later(test, 30)
    call = test.calls.get(placed.interaction_id)
    assert (call.state, call.end_cause, call.metadata) == ("ended", "agent_ended", {"order_id": 7})
    assert any("Which book?" in turn.text for turn in call.transcript) and call.answered_at is not None
    more = [test.calls.place(agent_id=agent.id, to_number=f"+9198123456{one}").interaction_id for one in range(80, 85)]
    listed = [one.id for one in test.calls.list(agent_id=agent.id, limit=2)]
    assert listed == [*reversed(more), placed.interaction_id]
    with pytest.raises(dastak.BadRequestError) as refused:
        test.calls.place(agent_id=agent.id, to_number="12345678")
    assert refused.value.meta["field"] == "toNumber"
    with pytest.raises(dastak.NotFoundError):
        test.calls.get("call_0")


def test_a_nudge(test: Client, agent: models.AgentDetail) -> None:
    made = test.nudges.create(agent_id=agent.id, to_number=NUMBER, retry={"max_retries": 1, "delay_minutes": 60})
    assert made.retry is not None and made.retry.max_retries == 1
    assert made.id in [one.id for one in test.nudges.list(agent_id=agent.id)]
    assert test.nudges.cancel(made.id).status == "finished"
    assert test.nudges.get(made.id).result == "cancelled"


def test_a_campaign_of_500_people(live: Client, agent: models.AgentDetail) -> None:
    campaign = live.campaigns.create(name="Orders", agent_id=agent.id)
    people = [models.NewCallingListRow(phone=f"+9198200{one:05}", name=f"Reader {one}") for one in range(500)]
    assert live.campaigns.set_contacts(campaign.id, contacts=people).total == 500
    page = live.campaigns.contacts(campaign.id, limit=200)
    assert (page.answer.total, page.has_next) == (500, True)
    assert [row.phone for row in page] == [person.phone for person in people]
    forecast = live.campaigns.preflight(campaign.id)
    assert isinstance(forecast, models.Preflight) and forecast.total == 500
    assert live.campaigns.set_status(campaign.id, status="archived").status == "archived"


def test_a_chat(live: Client) -> None:
    agent = live.agents.create(name="Ravi", channel="chat")
    live.flows.save(agent.id, graph=models.FlowGraph.model_validate(FLOW), base_version=live.flows.get(agent.id).draft_version)
    live.flows.publish(agent.id)
    live.agents.set_status(agent.id, status="active")
    session = live.chats.open(agent_id=agent.id)
    assert session.reply is not None and "Which book?" in session.reply
    key = str(uuid.uuid4())
    with live.chats.stream(session.session_id, text="The blue umbrella", idempotency_key=key) as stream:
        events = list(stream)
    said, done = events[:-1], events[-1]
    assert said and all(isinstance(one, ChatText) for one in said)
    assert isinstance(done, ChatDone) and done.reply.ended and done.reply.reply == "The blue umbrella it is."
    assert live.chats.stream(session.session_id, text="The blue umbrella", idempotency_key=key).reply() == done.reply
    assert [one.role for one in live.chats.get(session.session_id).messages] == ["agent", "user", "agent"]
    with pytest.raises(dastak.ConflictError) as ended:
        live.chats.stream(session.session_id, text="And another")
    assert ended.value.code == "session_ended"


def test_a_webhook(live: Client, test: Client, agent: models.AgentDetail, receiver: Receiver) -> None:
    endpoint = live.webhooks.create(url=f"http://127.0.0.1:{receiver.server_port}/hook", events=["call.completed"], agent_ids=[agent.id])
    placed = test.calls.place(agent_id=agent.id, to_number=NUMBER)
    later(test, 30)
    headers, body = receiver.got.get(timeout=60)
    event = webhooks.unwrap(body, webhooks.signature_header(headers), ["whsec_of_before", endpoint.secret])
    assert isinstance(event, models.CallCompletedEvent) and event.type == "call.completed" and event.livemode is False
    assert (event.data.call_id, event.data.end_cause) == (placed.interaction_id, "agent_ended")
    with pytest.raises(dastak.SignatureError):
        webhooks.unwrap(body + b" ", webhooks.signature_header(headers), endpoint.secret)
    later(test, 5)
    deliveries = list(test.webhooks.deliveries(endpoint.id, call_id=placed.interaction_id))
    assert [(one.event, one.status) for one in deliveries] == [("call.completed", "succeeded")]
    found = test.events.list(after="start", limit=100)
    assert event.id in [one.id for one in found.data] and found.brand == "Service"
    assert event in [webhooks.known(one) for one in found.data]
    assert event.id in [one.id for _, one in zip(found.data, test.events.follow(after="start"), strict=False)]
    assert live.webhooks.delete(endpoint.id).deleted is True


def test_an_erasure(live: Client) -> None:
    contact = live.contacts.upsert(external_ref=f"reader-{uuid.uuid4()}", phone="+919812399999", name="Meera", email=None)
    assert live.contacts.get(contact.id).name == "Meera"
    assert live.contacts.erase(contact.id).already_erased is False
    assert live.contacts.erase(contact.id).already_erased is True
    with pytest.raises(dastak.GoneError) as gone:
        live.contacts.get(contact.id)
    assert gone.value.code == "contact_erased"


def test_the_log_of_decisions_is_downloaded(live: Client, tmp_path: Any) -> None:
    path = tmp_path / "decisions.csv"
    size = live.audit.export(format="csv").save(path)
    assert size == path.stat().st_size > 0
    with live.audit.export(format="pdf") as download:
        assert download.content_type == "application/pdf" and download.read().startswith(b"%PDF")


def test_the_same_from_asyncio(service: dict[str, str], agent: models.AgentDetail) -> None:
    async def tell() -> None:
        async with AsyncClient(service["test"], service["url"]) as client:
            placed = [await client.calls.place(agent_id=agent.id, to_number=f"+9198123457{one}") for one in range(10, 13)]
            assert len([one async for one in client.calls.list(agent_id=agent.id, limit=1)]) == len(placed)
            found = await client.events.list(after="start", limit=1)
            async for event in client.events.follow(after="start"):
                assert event.id == found.data[0].id
                break
        async with AsyncClient(service["live"], service["url"]) as client:
            assert (await (await client.audit.export(format="csv")).read()).count(b"\n") > 0

    asyncio.run(tell())
