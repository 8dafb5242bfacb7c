/** A day of a bookshop, against the service: agent, call, nudge, campaign, chat, webhook, erasure. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import * as dastak from "dastak";
import { Client, isEvent, type models, signatureHeader, unwrapWebhook } from "dastak";

import { collect, service } from "./around.js";

const NUMBER = "+919812345678";
const FLOW: models.FlowGraph = {
  startNodeId: "hello",
  nodes: [
    { id: "hello", type: "say", text: "Welcome to the bookshop.", next: "which" },
    { id: "which", type: "collect", text: "Which book?", field: { key: "book", label: "Book", type: "text" }, attempts: 3, next: "bye" },
    { id: "bye", type: "end", text: "{{book}} it is.", outcome: "ordered" },
  ],
  variables: [],
};

const { url: baseUrl, ...keys } = service();
const live = new Client({ apiKey: keys.live, baseUrl });
const simulated = new Client({ apiKey: keys.test, baseUrl });

async function later(seconds: number): Promise<void> {
  await simulated.request("POST", "/dev/clock", { body: { advanceSeconds: seconds } });
}

async function agentOf(name: string, channel: "call" | "chat"): Promise<models.AgentDetail> {
  const { id } = await live.agents.create({ name, channel });
  const { draftVersion } = await live.flows.get(id);
  await live.flows.save(id, { graph: FLOW, baseVersion: draftVersion });
  await live.flows.publish(id);
  return live.agents.setStatus(id, { status: "active" });
}

const agent = await agentOf("Asha", "call");

test("who am I", async () => {
  assert.equal((await simulated.account.get()).workspace.name, "Bookshop");
  const raw = await simulated.account.get().withResponse();
  assert.deepEqual([raw.status, raw.data.key.name], [200, "test"]);
  assert.ok(raw.requestId);
  await assert.rejects(async () => new Client({ apiKey: "dastak_test_nobody", baseUrl }).account.get(), { name: "AuthenticationError", code: "unauthorized" });
  await assert.rejects(async () => simulated.agents.create({ name: "Asha" }), { name: "PermissionDeniedError", code: "test_mode_read_only" });
});

test("a call", async () => {
  const idempotencyKey = randomUUID();
  const asked = { agentId: agent.id, toNumber: NUMBER, metadata: { orderId: 7 } };
  const placed = await simulated.calls.place(asked, { idempotencyKey });
  const again = await simulated.calls.place(asked, { idempotencyKey }).withResponse();
  assert.equal(again.data.interactionId, placed.interactionId);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  const other = async (): Promise<unknown> => simulated.calls.place({ ...asked, toNumber: "+919812345679" }, { idempotencyKey });
  await assert.rejects(other, { name: "UnprocessableError", code: "idempotency_key_reused" });
  await later(30);
  const call = await simulated.calls.get(placed.interactionId);
  assert.deepEqual([call.state, call.endCause, call.metadata], ["ended", "agent_ended", { orderId: 7 }]);
  assert.ok(call.transcript.some((turn) => turn.text.includes("Which book?")));
  const more: string[] = [];
  for (const one of [80, 81, 82, 83, 84]) more.push((await simulated.calls.place({ ...asked, toNumber: `+9198123456${one}` })).interactionId);
  const listed = await collect(simulated.calls.list({ agentId: agent.id, limit: 2 }));
  assert.deepEqual(listed.map((one) => one.id), [...more.reverse(), placed.interactionId]);
  await assert.rejects(async () => simulated.calls.place({ ...asked, toNumber: "12345678" }), (error: dastak.BadRequestError) => error.meta["field"] === "toNumber");
  await assert.rejects(async () => simulated.calls.get("call_0"), { name: "NotFoundError", code: "not_found" });
});

test("a nudge", async () => {
  const made = await simulated.nudges.create({ agentId: agent.id, toNumber: NUMBER, retry: { maxRetries: 1, delayMinutes: 60 } });
  assert.equal(made.retry?.maxRetries, 1);
  assert.ok((await collect(simulated.nudges.list({ agentId: agent.id }))).some((one) => one.id === made.id));
  assert.equal((await simulated.nudges.cancel(made.id)).status, "finished");
  assert.equal((await simulated.nudges.get(made.id)).result, "cancelled");
});

test("a campaign of 500 people", async () => {
  const campaign = await live.campaigns.create({ name: "Orders", agentId: agent.id });
  const contacts = Array.from({ length: 500 }, (_, one) => ({ phone: `+9198200${String(one).padStart(5, "0")}`, name: `Reader ${one}` }));
  assert.equal((await live.campaigns.setContacts(campaign.id, { contacts })).total, 500);
  const page = await live.campaigns.contacts(campaign.id, { limit: 200 });
  assert.deepEqual([page.answer.total, page.hasNext], [500, true]);
  assert.deepEqual((await collect(page)).map((row) => row.phone), contacts.map((row) => row.phone));
  assert.equal((await live.campaigns.preflight(campaign.id)).total, 500);
  assert.equal((await live.campaigns.setStatus(campaign.id, { status: "archived" })).status, "archived");
});

test("a chat", async () => {
  const { id } = await agentOf("Ravi", "chat");
  const session = await live.chats.open({ agentId: id });
  assert.match(session.reply ?? "", /Which book\?/);
  const idempotencyKey = randomUUID();
  const events = await collect(await live.chats.stream(session.sessionId, { text: "The blue umbrella" }, { idempotencyKey }));
  const done = events.at(-1);
  assert.ok(events.length > 1 && events.slice(0, -1).every((one) => one.type === "text"));
  assert.ok(done?.type === "done" && done.reply.ended && done.reply.reply === "The blue umbrella it is.");
  const repeated = await live.chats.stream(session.sessionId, { text: "The blue umbrella" }, { idempotencyKey });
  assert.deepEqual(await repeated.reply(), done.reply);
  assert.deepEqual((await live.chats.get(session.sessionId)).messages.map((one) => one.role), ["agent", "user", "agent"]);
  await assert.rejects(() => live.chats.stream(session.sessionId, { text: "And another" }), { name: "ConflictError", code: "session_ended" });
});

test("a webhook", async () => {
  const receiver = createServer();
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  try {
    const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const { id } = await agentOf("Ila", "call");
    const endpoint = await live.webhooks.create({ url: hook, events: ["call.completed"], agentIds: [id] });
    const delivery = received(receiver);
    const placed = await simulated.calls.place({ agentId: id, toNumber: NUMBER });
    await later(30);
    const { headers, body } = await delivery;
    const event = unwrapWebhook(body, signatureHeader(headers), ["whsec_of_before", endpoint.secret]);
    assert.ok(isEvent(event, "call.completed") && !isEvent(event, "call.failed") && !event.livemode);
    assert.deepEqual([event.data.callId, event.data.endCause], [placed.interactionId, "agent_ended"]);
    assert.throws(() => unwrapWebhook(`${body.toString()} `, signatureHeader(headers), endpoint.secret), dastak.SignatureError);
    await later(5);
    const deliveries = await collect(simulated.webhooks.deliveries(endpoint.id, { callId: placed.interactionId }));
    assert.deepEqual(deliveries.map((one) => [one.event, one.status]), [["call.completed", "succeeded"]]);
    for await (const one of simulated.events.follow({ after: "start" })) if (one.id === event.id) break;
    assert.equal((await live.webhooks.delete(endpoint.id)).deleted, true);
  } finally {
    receiver.close();
  }
});

async function received(server: ReturnType<typeof createServer>): Promise<{ headers: IncomingMessage["headers"]; body: Buffer }> {
  const [request, response] = (await once(server, "request")) as [IncomingMessage, { writeHead(status: number): { end(): void } }];
  const pieces = await collect(request as AsyncIterable<Buffer>);
  response.writeHead(204).end();
  return { headers: request.headers, body: Buffer.concat(pieces) };
}

test("an erasure", async () => {
  const contact = await live.contacts.upsert({ externalRef: `reader-${randomUUID()}`, phone: "+919812388888", name: "Meera" });
  assert.equal((await live.contacts.get(contact.id)).name, "Meera");
  assert.equal((await live.contacts.erase(contact.id)).alreadyErased, false);
  assert.equal((await live.contacts.erase(contact.id)).alreadyErased, true);
  await assert.rejects(async () => live.contacts.get(contact.id), { name: "GoneError", code: "contact_erased" });
});

test("the log of decisions is downloaded", async () => {
  const folder = await mkdtemp(join(tmpdir(), "dastak-"));
  try {
    const path = join(folder, "decisions.csv");
    await (await live.audit.export({ format: "csv" })).save(path);
    assert.deepEqual(Buffer.from(await (await live.audit.export({ format: "csv" })).bytes()), await readFile(path));
    assert.match(await (await live.audit.export({ format: "csv" })).text(), /^seq,timestamp,/);
    const pdf = await live.audit.export({ format: "pdf" });
    assert.equal(pdf.contentType, "application/pdf");
    assert.equal(Buffer.from(await pdf.bytes()).subarray(0, 4).toString(), "%PDF");
  } finally {
    await rm(folder, { recursive: true });
  }
});
