/** What a request is made of, and how its answer is read. No network. */

import { randomUUID } from "node:crypto";

import { type ApiError, InvalidArgumentError, UnexpectedAnswerError, apiError } from "./errors.js";
import { isObject, text } from "./json.js";
import { repeatable, retryAfter } from "./retry.js";
import { VERSION } from "./version.js";

/** Options of one request; they come before those of the client. */
export interface RequestOptions {
  /** Milliseconds for a whole answer, and between two pieces of a download or a stream. */
  timeout?: number | undefined;
  /** How often the request is sent again, where it may be. */
  maxRetries?: number | undefined;
  headers?: Record<string, string> | undefined;
  /** Aborts the request, its pauses between attempts, and reading its answer. */
  signal?: AbortSignal | undefined;
}

/** Options of an operation that takes an `Idempotency-Key`. */
export interface KeyedOptions extends RequestOptions {
  /** A text of your own for this request; by default one is made, and kept through retries. */
  idempotencyKey?: string | undefined;
}

/** Bytes that are sent as a file; with a name where the service shall know it. */
export type Upload = Blob | Uint8Array | ArrayBuffer | { content: Blob | Uint8Array | ArrayBuffer; name: string; type?: string };

export interface Operation {
  method: string;
  path: string;
  /** The method returns the member `data` of the body. */
  data?: boolean;
  /** It takes an `Idempotency-Key`. */
  keyed?: boolean;
  /** It takes a body of JSON. */
  json?: boolean;
}

export interface Parts {
  path?: Record<string, string | number>;
  query?: object | undefined;
  body?: unknown;
  files?: Record<string, Upload>;
  options?: KeyedOptions | undefined;
  accept?: string;
}

/** How a client reaches the service. */
export interface Settings {
  baseUrl: string;
  apiKey: string;
  timeout: number;
  maxRetries: number;
  headers: Record<string, string>;
  fetch: typeof fetch;
}

/** A request that is ready to be sent, any number of times with the same key. */
export interface Prepared {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | FormData | undefined;
  timeout: number;
  maxRetries: number;
  repeatable: boolean;
  signal: AbortSignal | undefined;
  what: string;
}

export function checked(settings: Settings): Settings {
  if (!isAddress(settings.baseUrl)) {
    throw new InvalidArgumentError(`baseUrl: ${JSON.stringify(settings.baseUrl)} is no address like https://dastak.example`);
  }
  if (!/^[\x21-\x7e]+$/.test(settings.apiKey)) {
    throw new InvalidArgumentError("apiKey: give it, or set DASTAK_API_KEY; a key is one word such as dastak_test_…");
  }
  checkedLimits(settings.timeout, settings.maxRetries);
  return settings;
}

function isAddress(address: string): boolean {
  try {
    return ["http:", "https:"].includes(new URL(address).protocol);
  } catch {
    return false;
  }
}

function checkedLimits(timeout: number, maxRetries: number): void {
  if (!(timeout > 0 && timeout <= 2 ** 31 - 1)) throw new InvalidArgumentError("timeout: it is a number of milliseconds above 0, at most 2147483647");
  if (!(Number.isInteger(maxRetries) && maxRetries >= 0 && maxRetries <= 20)) throw new InvalidArgumentError("maxRetries: it is from 0 to 20");
}

/** The path with its parameters filled in; none of them can lead to another path. */
export function pathOf(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? "");
    if (value === "" || value === "." || value === "..") throw new InvalidArgumentError(`${name}: ${JSON.stringify(value)} is no value of a path`);
    return encodeURIComponent(value);
  });
}

/** The query; undefined and null are absent. */
export function queryOf(values: object | undefined): string {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(values ?? {})) {
    if (value !== undefined && value !== null) found.append(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const query = found.toString();
  return query === "" ? "" : `?${query}`;
}

export function prepare(settings: Settings, operation: Operation, parts: Parts): Prepared {
  const options = parts.options ?? {};
  const headers: Record<string, string> = {
    Authorization: `Bearer ${settings.apiKey}`,
    Accept: parts.accept ?? "application/json",
    "User-Agent": `dastak-typescript/${VERSION}`,
    ...settings.headers,
    ...options.headers,
  };
  let body: string | FormData | undefined;
  if (operation.json) {
    body = jsonOf(parts.body ?? {});
    headers["Content-Type"] = "application/json";
  } else if (parts.files) {
    body = formOf(parts.files);
  }
  if (operation.keyed) {
    const key = options.idempotencyKey ?? randomUUID();
    if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw new InvalidArgumentError("idempotencyKey: it is 1 to 255 printable ASCII characters");
    headers["Idempotency-Key"] = key;
  }
  const path = pathOf(operation.path, parts.path ?? {});
  const timeout = options.timeout ?? settings.timeout;
  const maxRetries = options.maxRetries ?? settings.maxRetries;
  checkedLimits(timeout, maxRetries);
  return {
    method: operation.method,
    url: `${settings.baseUrl.replace(/\/+$/, "")}${path}${queryOf(parts.query)}`,
    headers,
    body,
    timeout,
    maxRetries,
    repeatable: repeatable(operation.method, headers["Idempotency-Key"]),
    signal: options.signal,
    what: `${operation.method} ${path}`,
  };
}

function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw new InvalidArgumentError(`the body cannot be sent: ${String(cause)}`, { cause });
  }
}

function formOf(files: Record<string, Upload>): FormData {
  const form = new FormData();
  for (const [name, file] of Object.entries(files)) {
    const named = typeof file === "object" && "content" in file ? file : { content: file, name: ("name" in file && text(file.name)) || name };
    const { content } = named;
    const type = "type" in named && named.type ? named.type : content instanceof Blob ? content.type : "application/octet-stream";
    form.append(name, new Blob([content as Blob], { type }), named.name);
  }
  return form;
}

/** The error of an answer that is no success. */
export function refusal(response: Response, body: string): ApiError | UnexpectedAnswerError | undefined {
  if (response.status >= 200 && response.status < 300) return undefined;
  if (response.status < 400) {
    return unexpected(`the server answered ${response.status}, which this API does not: is baseUrl right?`, response, body);
  }
  return apiError(response.status, response.headers, body, retryAfter(response.headers.get("retry-after"), Date.now()));
}

/** What a successful answer says. */
export function read(operation: Operation, response: Response, body: string): unknown {
  if (body === "") return undefined;
  let found: unknown;
  try {
    found = JSON.parse(body);
  } catch (cause) {
    throw unexpected("the answer is no JSON", response, body, cause);
  }
  if (!operation.data) return found;
  if (!isObject(found) || !("data" in found)) throw unexpected("the answer has another shape than promised: it has no `data`", response, body);
  return found["data"];
}

export function unexpected(message: string, response: Response, body = "", cause?: unknown): UnexpectedAnswerError {
  return new UnexpectedAnswerError(message, { status: response.status, requestId: response.headers.get("x-request-id") ?? undefined, body, cause });
}
