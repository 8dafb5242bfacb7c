/** A later version of the service, and servers that fail: nothing breaks, and what cannot be helped is a clear error. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as dastak from "dastak";
import { ApiError, type Client, type models } from "dastak";

import { at, collect } from "./around.js";

const place = (client: Client): PromiseLike<models.PlacedCall> => client.calls.place({ agentId: "agt_1", toNumber: "+919812345678" });

/** The error that a request ends with; it has to be of this kind. */
async function failure<T extends Error>(kind: abstract new (...args: never[]) => T, request: PromiseLike<unknown>): Promise<T> {
  try {
    await request;
  } catch (error) {
    assert.ok(error instanceof kind, `${String(error)} is no ${kind.name}`);
    return error;
  }
  throw new assert.AssertionError({ message: `no ${kind.name}` });
}

test("new fields, words and codes break nothing", async () => {
  const { client } = at("newer");
  const call = await client.calls.get("call_1");
  assert.deepEqual([call.state, call.direction, call.answeredBy], ["meditating", "sideways", "robot"]);
  assert.deepEqual((await collect(client.calls.list())).map((one) => one.id), ["call_1", "call_2"]);
  const refused = await failure(ApiError, client.account.get());
  assert.deepEqual([refused.status, refused.code, refused.meta["aMember"]], [418, "a_new_code", 1]);
  assert.deepEqual([refused.docUrl, refused.requestId], ["/docs/errors/a_new_code", "req_stub"]);
  assert.equal((await client.request<{ more: boolean }>("GET", "/v1/something-new")).more, true);
});

test("an event of an unknown type is passed over", async () => {
  const events = await collect(await at("newer-event").client.chats.stream("chatsess_1", { text: "Hello" }));
  assert.deepEqual(events.map((one) => one.type), ["text", "done"]);
});

for (const scenario of ["broken-once", "half-once", "limited-once", "in-progress-once", "unavailable-twice"]) {
  test(`what passes is tried again with the same key: ${scenario}`, async () => {
    const { client, log } = at(scenario);
    assert.equal((await place(client)).interactionId, "call_1");
    const requests = await log();
    assert.equal(requests.length, scenario === "unavailable-twice" ? 3 : 2);
    assert.equal(new Set(requests.map((one) => one.key)).size, 1);
    assert.equal(new Set(requests.map((one) => one.body)).size, 1);
    assert.ok(requests[0]?.key);
    await client.calls.place({ agentId: "agt_1", toNumber: "+919812345678" }, { idempotencyKey: "mine" });
    assert.equal((await log()).at(-1)?.key, "mine");
  });
}

test("what has no key is sent once", async () => {
  for (const [scenario, kind] of [["broken", dastak.ConnectionFailedError], ["unavailable", dastak.ServerError]] as const) {
    const { client, log } = at(scenario);
    await failure<Error>(kind, client.agents.create({ name: "Asha" }));
    await failure<Error>(kind, client.webhooks.update("whe_1", { status: "disabled" }));
    assert.deepEqual((await log()).map((one) => [one.method, one.key]), [["POST", null], ["PATCH", null]]);
  }
});

test("retries have an end", async () => {
  const { client, log } = at("unavailable");
  assert.equal((await failure(dastak.ServerError, client.calls.get("call_1"))).code, "unavailable");
  assert.equal((await log()).length, 3);
  await failure(dastak.ServerError, client.calls.get("call_1", { maxRetries: 0 }));
  await failure(dastak.ServerError, client.withOptions({ maxRetries: 0 }).calls.get("call_1"));
  assert.equal((await log()).length, 5);
});

test("a dial that may have gone out is not repeated", async () => {
  const { client, log } = at("possibly-placed");
  assert.equal((await failure(dastak.ServerError, place(client))).code, "possibly_placed");
  assert.equal((await log()).length, 1);
});

test("a service that asks for an hour is not waited for", async () => {
  const { client, log } = at("limited-long");
  assert.equal((await failure(dastak.RateLimitError, client.calls.get("call_1"))).retryAfter, 3600);
  assert.equal((await log()).length, 1);
});

for (const [status, kind] of [
  [400, dastak.BadRequestError],
  [401, dastak.AuthenticationError],
  [402, dastak.InsufficientBalanceError],
  [403, dastak.PermissionDeniedError],
  [404, dastak.NotFoundError],
  [409, dastak.ConflictError],
  [410, dastak.GoneError],
  [422, dastak.UnprocessableError],
  [423, dastak.LockedError],
  [500, dastak.ServerError],
  [418, ApiError],
] as const) {
  test(`${status} is a ${kind.name}`, async () => {
    const refused = await failure(ApiError, at("status", { maxRetries: 0 }).client.calls.get(String(status)));
    assert.equal(refused.constructor, kind);
    assert.equal(refused.name, kind.name);
    assert.deepEqual([refused.status, refused.code, refused.meta], [status, "some_code", { field: "toNumber" }]);
    assert.match(refused.message, /refused.*req_stub/);
  });
}

for (const scenario of ["html", "deep", "empty", "redirect"]) {
  test(`what is no answer of the API is said: ${scenario}`, async () => {
    const { client } = at(scenario);
    assert.equal((await failure(dastak.UnexpectedAnswerError, client.calls.get("call_1"))).requestId, "req_stub");
    await failure(dastak.UnexpectedAnswerError, client.calls.list());
  });
}

test("a list that is no list is said", async () => {
  await failure(dastak.UnexpectedAnswerError, at("shape").client.calls.list());
});

test("errors of others are errors too", async () => {
  for (const [scenario, kind] of [["html-error", dastak.PermissionDeniedError], ["odd-error", dastak.BadRequestError]] as const) {
    const refused = await failure<ApiError>(kind, at(scenario).client.calls.get("call_1"));
    assert.deepEqual([refused.code, refused.meta, refused.docUrl], [undefined, {}, undefined]);
  }
});

test("a server that says nothing is left", async () => {
  const { client, log } = at("silent", { timeout: 200, maxRetries: 1 });
  await failure(dastak.RequestTimeoutError, client.calls.get("call_1"));
  assert.equal((await log()).length, 2);
});

test("an answer that never ends is left", async () => {
  await failure(dastak.RequestTimeoutError, at("trickle", { timeout: 300, maxRetries: 0 }).client.calls.get("call_1"));
  const { client } = at("stream-silent", { timeout: 300 });
  const read = async (): Promise<unknown> => (await client.chats.stream("chatsess_1", { text: "When?" })).reply();
  await failure(dastak.RequestTimeoutError, read());
});

test("a request can be aborted, and so can its pauses", async () => {
  const { client } = at("silent");
  const control = new AbortController();
  const pending = client.calls.get("call_1", { signal: control.signal });
  control.abort(new Error("enough"));
  assert.equal(((await failure(dastak.AbortedError, pending)).cause as Error).message, "enough");
  const pausing = at("unavailable", { maxRetries: 20 });
  const other = new AbortController();
  const paused = pausing.client.calls.get("call_1", { signal: other.signal });
  while ((await pausing.log()).length === 0);
  other.abort();
  await failure(dastak.AbortedError, paused);
  await failure(dastak.AbortedError, client.calls.get("call_1", { signal: AbortSignal.abort() }));
});

test("an answer has a ceiling", async () => {
  assert.match((await failure(dastak.UnexpectedAnswerError, at("endless").client.calls.get("call_1"))).message, /64 MB/);
});

test("pages are walked to their end", async () => {
  const { client, log } = at("pages");
  assert.deepEqual((await collect(client.calls.list({ limit: 2 }))).map((one) => one.id), [0, 1, 2, 3, 4, 5].map((one) => `call_${one}`));
  assert.deepEqual((await log()).map((one) => one.path), ["/v1/calls?limit=2", "/v1/calls?limit=2&cursor=c1", "/v1/calls?limit=2&cursor=c2"]);
  const page = await client.calls.list({ limit: 2 });
  assert.deepEqual([page.hasNext, page.data.length, page.answer.nextCursor], [true, 2, "c1"]);
  assert.deepEqual((await collect(page.pages())).map((one) => one.data.length), [2, 2, 2]);
  assert.deepEqual((await page.nextPage())?.data.map((one) => one.id), ["call_2", "call_3"]);
  assert.equal((await collect(at("offsets").client.doNotCall.list({ limit: 2 }))).length, 5);
});

for (const scenario of ["same-cursor", "cursor-circle"]) {
  test(`pages that do not end are an error: ${scenario}`, async () => {
    const { client, log } = at(scenario);
    await failure(dastak.PagingError, collect(client.calls.list()));
    assert.ok((await log()).length <= 4);
  });
}

test("an offset that does not grow is an error", async () => {
  await failure(dastak.PagingError, collect(at("same-offset").client.scheduledCalls.list({ offset: 50 })));
});

test("a reply is streamed", async () => {
  const { client, log } = at("stream");
  const events = await collect(await client.chats.stream("chatsess_1", { text: "When?" }));
  assert.deepEqual(events, [
    { type: "text", text: "Within " },
    { type: "text", text: "30 days." },
    { type: "done", reply: { reply: "Within 30 days.", ended: false, handedOff: false } },
  ]);
  const sent = (await log())[0];
  assert.deepEqual([sent?.headers["accept"], sent?.body], ["text/event-stream", '{"text":"When?"}']);
  assert.ok(sent?.key);
  for (const one of [client, at("stream-replayed").client]) {
    assert.equal((await (await one.chats.stream("chatsess_1", { text: "When?" })).reply()).reply, "Within 30 days.");
  }
});

for (const [scenario, kind] of [
  ["stream-cut", dastak.StreamInterruptedError],
  ["stream-nonsense", dastak.UnexpectedAnswerError],
  ["stream-endless", dastak.UnexpectedAnswerError],
  ["html", dastak.UnexpectedAnswerError],
] as const) {
  test(`a stream that breaks is an error: ${scenario}`, async () => {
    const { client, log } = at(scenario);
    const read = async (): Promise<unknown> => (await client.chats.stream("chatsess_1", { text: "When?" })).reply();
    await failure<Error>(kind, read());
    assert.equal((await log()).length, 1, "a reply that began is not asked for again");
  });
}

test("an error within a stream is an error of the API", async () => {
  const heard: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const event of await at("stream-error").client.chats.stream("chatsess_1", { text: "When?" })) heard.push(event);
  };
  assert.equal((await failure(ApiError, read())).code, "reply_failed");
  assert.deepEqual(heard, [{ type: "text", text: "Within " }]);
  await failure(dastak.ServerError, at("unavailable", { maxRetries: 0 }).client.chats.stream("chatsess_1", { text: "When?" }));
});

test("files are sent as forms", async () => {
  const { client, log } = at("newer");
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  for (const [file, name, content] of [
    [bytes("of bytes"), "file", "of bytes"],
    [new Blob(["of a blob"]), "file", "of a blob"],
    [{ content: bytes("named"), name: "a.pdf", type: "application/pdf" }, "a.pdf", "named"],
  ] as const) {
    await client.templates.uploadSample({ file });
    const sent = (await log()).at(-1);
    assert.ok(sent?.body.includes(`name="file"; filename="${name}"`) && sent.body.includes(content), sent?.body);
    assert.match(sent?.headers["content-type"] ?? "", /^multipart\/form-data; boundary=/);
  }
  assert.match((await log()).at(-1)?.body ?? "", /application\/pdf/);
});

test("a recording is fetched without the key", async () => {
  const { client, log } = at("recorded", { headers: { "X-Of-Mine": "1" } });
  assert.equal((await (await client.calls.recording("call_1")).bytes()).length, 100_004);
  const download = await client.calls.recording("call_1");
  assert.equal(download.contentType, "audio/wav");
  await download.close();
  const requests = await log("wave");
  assert.deepEqual(requests.map((one) => one.path), Array(2).fill("/v1/recordings/rec_1?signature=s"));
  assert.ok(requests.every((one) => !("authorization" in one.headers) && !("x-of-mine" in one.headers)));
  await failure(dastak.NoRecordingError, at("half-once").client.calls.recording("call_1"));
});

test("answers can be had raw", async () => {
  const raw = await at("newer").client.calls.get("call_1").withResponse();
  assert.deepEqual([raw.status, raw.requestId, raw.data.id], [200, "req_stub", "call_1"]);
  assert.match(raw.body, /meditating/);
  assert.equal((await at("pages").client.calls.list().withResponse()).data.hasNext, true);
});
