/** Rules without a network: signatures, retries, events of streams, paths and options. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

import { Client, InvalidArgumentError, SignatureError, UnexpectedAnswerError, VERSION, isEvent, signatureHeader, unwrapWebhook, verifyWebhook } from "dastak";

import { pathOf, queryOf } from "../node_modules/dastak/dist/requests.js";
import { pause, repeatable, retryAfter } from "../node_modules/dastak/dist/retry.js";
import { Decoder, EventTooLarge } from "../node_modules/dastak/dist/sse.js";
import { vectors } from "./around.js";

interface SignatureCase {
  name: string;
  valid: boolean;
  payload: string;
  header: string;
  secrets: string[];
  now: number;
  tolerance: number;
}

interface RetryCase {
  name: string;
  method: string;
  key: string | null;
  repeatable: boolean;
  attempt: number;
  status: number | null;
  code: string | null;
  retryAfter: string | null;
  draw: number;
  pause: number | null;
}

const signatures = vectors<{ cases: SignatureCase[] }>("signature").cases;
const retries = vectors<{ now: string; cases: RetryCase[] }>("retry");

for (const one of signatures) {
  test(`signature: ${one.name}`, () => {
    for (const payload of [one.payload, new TextEncoder().encode(one.payload)]) {
      const verify = (): void => verifyWebhook(payload, one.header, one.secrets, { now: one.now, tolerance: one.tolerance });
      if (one.valid) verify();
      else assert.throws(verify, SignatureError);
    }
  });
}

for (const one of retries.cases) {
  test(`retry: ${one.name}`, () => {
    assert.equal(repeatable(one.method, one.key ?? undefined), one.repeatable);
    const asked = retryAfter(one.retryAfter, Date.parse(retries.now));
    assert.equal(pause(one.attempt, one.status ?? undefined, one.code ?? undefined, asked, one.draw) ?? null, one.pause);
  });
}

test("an event is read after its signature", () => {
  const one = signatures[0] as SignatureCase;
  const event = unwrapWebhook(one.payload, one.header, one.secrets, { now: one.now });
  assert.equal(event.type, "call.completed");
  assert.ok(isEvent(event, "call.completed"));
  assert.throws(() => unwrapWebhook(`${one.payload} `, one.header, one.secrets, { now: one.now }), SignatureError);
  assert.throws(() => verifyWebhook(one.payload, one.header, []), InvalidArgumentError);
  const empty = signatures.find((each) => each.valid && each.payload === "") as SignatureCase;
  assert.throws(() => unwrapWebhook(empty.payload, empty.header, empty.secrets, { now: empty.now }), UnexpectedAnswerError);
});

test("the header of a signature is found whatever the brand", () => {
  assert.equal(signatureHeader({ "content-type": "application/json", "x-acme-signature": "t=1,v1=a" }), "t=1,v1=a");
  assert.equal(signatureHeader(new Headers({ "X-Acme-Signature": "t=1,v1=a" })), "t=1,v1=a");
  for (const headers of [{}, { "X-A-Signature": "1", "X-B-Signature": "2" }, { "X-A-Signature": ["1", "2"] }]) {
    assert.throws(() => signatureHeader(headers), SignatureError);
  }
});

test("events of a stream are whole however their bytes are cut", () => {
  const stream = new TextEncoder().encode(
    'event: text\r\ndata: {"text":"नमस्ते"}\r\n\r\n:\n\nid: 7\ndata: a\ndata:b\n\nevent: done\rdata: x\r\rdata: rest\n',
  );
  const expected = [
    { event: "text", data: '{"text":"नमस्ते"}' },
    { event: "message", data: "a\nb" },
    { event: "done", data: "x" },
  ];
  for (const size of [1, 2, 3, 7, stream.length]) {
    const decoder = new Decoder();
    const found = [];
    for (let begin = 0; begin < stream.length; begin += size) found.push(...decoder.feed(stream.subarray(begin, begin + size)));
    assert.deepEqual(found, expected, `${size} bytes at a time`);
  }
});

test("an event has a ceiling", () => {
  const large = "x".repeat(1024 * 1024 + 1);
  for (const text of [`data: ${large}\n`, large]) assert.throws(() => new Decoder().feed(new TextEncoder().encode(text)), EventTooLarge);
});

test("no value of a path leads elsewhere", () => {
  assert.equal(pathOf("/v1/calls/{id}", { id: "a/../b?c#d" }), "/v1/calls/a%2F..%2Fb%3Fc%23d");
  for (const id of ["", ".", ".."]) assert.throws(() => pathOf("/v1/calls/{id}", { id }), { name: "InvalidArgumentError", message: /^id:/ });
});

test("queries", () => {
  const query = { from: new Date("2026-01-01T00:00:00Z"), limit: 3, test: true, q: undefined };
  assert.equal(queryOf(query), "?from=2026-01-01T00%3A00%3A00.000Z&limit=3&test=true");
  assert.equal(queryOf({}), "");
});

test("wrong options are named", () => {
  delete process.env["DASTAK_API_KEY"];
  const wrong = [
    ["apiKey", { apiKey: "" }],
    ["apiKey", { apiKey: "a\nb" }],
    ["apiKey", { apiKey: "schlüssel" }],
    ["baseUrl", { baseUrl: "dastak.example" }],
    ["baseUrl", { baseUrl: "ftp://dastak.example" }],
    ["timeout", { timeout: 0 }],
    ["maxRetries", { maxRetries: -1 }],
  ] as const;
  for (const [argument, options] of wrong) {
    const make = (): Client => new Client({ apiKey: "dastak_test_1", ...options });
    assert.throws(make, { name: "InvalidArgumentError", message: new RegExp(`^${argument}:`) });
  }
});

test("the environment gives key and address", () => {
  process.env["DASTAK_API_KEY"] = "dastak_test_1";
  process.env["DASTAK_BASE_URL"] = "https://dastak.example";
  assert.equal(new Client().baseUrl, "https://dastak.example");
  assert.equal(new Client().withOptions({ baseUrl: "https://other.example" }).baseUrl, "https://other.example");
  delete process.env["DASTAK_API_KEY"];
  delete process.env["DASTAK_BASE_URL"];
});

test("the package has no dependencies and says its version", () => {
  const path = createRequire(import.meta.url).resolve("dastak/package.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as { version: string; dependencies?: object };
  assert.equal(manifest.version, VERSION);
  assert.equal(manifest.dependencies, undefined);
  assert.ok(path.includes("node_modules"), "the tests run against the package that was built");
});
