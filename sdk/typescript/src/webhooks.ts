/** Webhooks: whether a delivery comes from the service, and what it says. */

import { createHmac, timingSafeEqual } from "node:crypto";

import { InvalidArgumentError, SignatureError, UnexpectedAnswerError } from "./errors.js";
import type { EventsByType } from "./events.js";
import { isObject } from "./json.js";
import type { Event } from "./models.js";

/** Seconds by which the time of a signature may differ from the receiver's clock. */
export const TOLERANCE = 300;
const MOST_SIGNATURES = 16;

/** How a signature is judged. */
export interface VerifyOptions {
  /** Seconds by which the time of the signature may differ from now; by default 300. */
  tolerance?: number | undefined;
  /** Now, in Unix seconds; by default the clock's. */
  now?: number | undefined;
}

/** Headers of a request, as `node:http` or `fetch` gives them. */
export type HeadersLike = Headers | Record<string, string | string[] | undefined>;

/** The value of the header `X-<brand>-Signature`, whatever the brand of the service is; headers in any case. */
export function signatureHeader(headers: HeadersLike): string {
  const entries = headers instanceof Headers ? [...headers.entries()] : Object.entries(headers);
  const found = entries.filter(([name, value]) => /^x-.*-signature$/i.test(name) && value !== undefined).flatMap(([, value]) => value ?? []);
  if (found.length !== 1) throw new SignatureError(`the request has ${found.length === 0 ? "no header" : "several headers"} X-…-Signature`);
  return found[0] ?? "";
}

/**
 * Throws a `SignatureError` unless one of the secrets signed this body within the tolerance.
 *
 * `payload` is the raw body as it came, `signature` the value of the header `X-Service-Signature`. Several secrets are for the time of a
 * rotation. Comparisons take the same time for every secret.
 */
export function verifyWebhook(payload: string | Uint8Array, signature: string, secrets: string | readonly string[], options: VerifyOptions = {}): void {
  const keys = typeof secrets === "string" ? [secrets] : secrets;
  if (keys.length === 0 || keys.some((key) => !key)) throw new InvalidArgumentError("secrets: at least one is needed, and none may be empty");
  const { at, given } = read(signature);
  const tolerance = options.tolerance ?? TOLERANCE;
  const expected = keys.map((key) => createHmac("sha256", key).update(`${at}.`).update(payload).digest("hex"));
  let matches = 0;
  for (const one of given) for (const other of expected) matches |= Number(equal(one, other));
  if (matches === 0) throw new SignatureError("no secret of yours made this signature of this body");
  const now = options.now ?? Date.now() / 1000;
  if (!(Math.abs(now - at) <= tolerance)) throw new SignatureError(`the signature is more than ${tolerance} seconds from now`);
}

/** The event of a delivery, after `verifyWebhook`. `isEvent` says of which type it is. */
export function unwrapWebhook(payload: string | Uint8Array, signature: string, secrets: string | readonly string[], options: VerifyOptions = {}): Event {
  verifyWebhook(payload, signature, secrets, options);
  const text = typeof payload === "string" ? payload : new TextDecoder().decode(payload);
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch (cause) {
    throw new UnexpectedAnswerError("the body is signed, but no JSON", { body: text, cause });
  }
  const members = isObject(event) ? event : {};
  if (typeof members["id"] !== "string" || typeof members["type"] !== "string" || !("data" in members)) {
    throw new UnexpectedAnswerError("the body is signed, but no event", { body: text });
  }
  return event as Event;
}

/** Whether an event is of this type; its `data` then has the members of that type. */
export function isEvent<Type extends keyof EventsByType>(event: { type: string }, type: Type): event is EventsByType[Type] {
  return event.type === type;
}

function equal(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The time and the signatures of `t=…,v1=…`. */
function read(signature: string): { at: number; given: string[] } {
  const parts = signature.split(",").map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith("t=")).map((part) => part.slice(2));
  const given = parts.filter((part) => part.startsWith("v1=")).map((part) => part.slice(3));
  const shape = "it should look like t=<unix seconds>,v1=<hex>";
  if (times.length !== 1 || !/^\d{1,12}$/.test(times[0] ?? "")) throw new SignatureError(`the signature has no time: ${shape}`);
  if (given.length === 0 || given.length > MOST_SIGNATURES) throw new SignatureError(`the signature has no v1: ${shape}`);
  return { at: Number(times[0]), given };
}
