/** Sends requests, and sends them again where that is safe. */

import { AbortedError, ApiError, ConnectionFailedError, DastakError, RequestTimeoutError } from "./errors.js";
import { Download } from "./files.js";
import { type Page, Pager, type PagedOperation, type Walk, pageOf } from "./paging.js";
import { Pending, type RawResponse, rawResponse } from "./pending.js";
import { type Operation, type Parts, type Prepared, type Settings, prepare, read, refusal, unexpected } from "./requests.js";
import { pause } from "./retry.js";

/** Bytes of an answer that is read into memory. A page of the service ends after 4 MB. */
const LARGEST_ANSWER = 64 * 1024 * 1024;

/** An answer whose body may still be on its way. */
export interface Opened {
  response: Response;
  /** The body as it comes. It fails when a piece does not come in time, when the signal aborts, and when the connection breaks. */
  pieces: AsyncGenerator<Uint8Array, void, undefined>;
}

export class Transport {
  constructor(readonly settings: Settings) {}

  call<T>(operation: Operation, parts: Parts = {}): Pending<T> {
    return new Pending(this.#call<T>(operation, parts));
  }

  pages<Item, Answer>(operation: PagedOperation, parts: Parts = {}): Pager<Item, Answer> {
    return new Pager(this.page<Item, Answer>({ operation, parts, seen: new Set() }));
  }

  async page<Item, Answer>(walk: Walk): Promise<RawResponse<Page<Item, Answer>>> {
    const raw = await this.#call<Answer>(walk.operation, walk.parts);
    return { ...raw, data: pageOf<Item, Answer>(raw, walk, async (next) => (await this.page<Item, Answer>(next)).data) };
  }

  download(operation: Operation, parts: Parts = {}): Pending<Download> {
    return new Pending(this.#download(operation, parts));
  }

  /** The answer, whose body is not read yet. */
  async open(request: Prepared): Promise<Opened> {
    return this.#send(request, (opened) => Promise.resolve(opened));
  }

  async #download(operation: Operation, parts: Parts): Promise<RawResponse<Download>> {
    const opened = await this.open(prepare(this.settings, operation, { accept: "*/*", ...parts }));
    return rawResponse(opened.response, "", new Download(opened));
  }

  async #call<T>(operation: Operation, parts: Parts): Promise<RawResponse<T>> {
    const request = prepare(this.settings, operation, parts);
    const { response, body } = await this.#send(request, async (opened, ends) => ({ response: opened.response, body: await whole(opened, request, ends) }));
    return rawResponse(response, body, read(operation, response, body) as T);
  }

  async #send<T>(request: Prepared, take: (opened: Opened, ends: number) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const ends = Date.now() + request.timeout;
        const opened = await this.#once(request);
        if (opened.response.ok) return await take(opened, ends);
        const error = refusal(opened.response, await whole(opened, request, ends));
        if (error) throw error;
      } catch (error) {
        const seconds = attempt < request.maxRetries && request.repeatable ? pauseAfter(error, attempt) : undefined;
        if (seconds === undefined) throw error;
        await sleep(seconds * 1000, request);
      }
    }
  }

  async #once(request: Prepared): Promise<Opened> {
    const limit = new Limit(request);
    try {
      const { method, headers, body } = request;
      const response = await this.settings.fetch(request.url, {
        method,
        headers,
        redirect: "manual",
        signal: limit.signal,
        ...(body === undefined ? {} : { body }),
      });
      limit.rest();
      return { response, pieces: pieces(response, limit) };
    } catch (cause) {
      limit.end();
      throw limit.failure(cause);
    }
  }
}

/** Aborts a request when the next piece of its answer does not come in time, or when the caller's signal does. */
class Limit {
  readonly #controller = new AbortController();
  readonly #abort = (): void => this.#controller.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #late = false;

  constructor(readonly request: Prepared) {
    if (request.signal?.aborted) this.#abort();
    request.signal?.addEventListener("abort", this.#abort, { once: true });
    this.wait();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** A piece is being waited for. */
  wait(): void {
    this.rest();
    this.#timer = setTimeout(() => {
      this.#late = true;
      this.#abort();
    }, this.request.timeout);
  }

  /** Nothing is being waited for: the caller works on what came. */
  rest(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    this.rest();
    this.request.signal?.removeEventListener("abort", this.#abort);
  }

  failure(cause: unknown): Error {
    const { what, signal } = this.request;
    if (cause instanceof DastakError) return cause;
    if (signal?.aborted) return new AbortedError(`${what}: aborted`, { cause: signal.reason });
    if (this.#late) return new RequestTimeoutError(`${what}: no answer in time`, { cause });
    return new ConnectionFailedError(`${what}: ${reason(cause)}`, { cause });
  }
}

function reason(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return inner instanceof Error ? inner.message || inner.name : String(inner);
}

async function* pieces(response: Response, limit: Limit): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = response.body?.getReader();
  try {
    while (reader) {
      limit.wait();
      const { done, value } = await reader.read();
      limit.rest();
      if (done) return;
      yield value as Uint8Array;
    }
  } catch (cause) {
    throw limit.failure(cause);
  } finally {
    limit.end();
    // What is left is not wanted: its connection is closed. It may be broken already.
    await reader?.cancel().catch(() => undefined);
  }
}

/** The body as text, within its time and its size. */
async function whole(opened: Opened, request: Prepared, ends: number): Promise<string> {
  const found: Uint8Array[] = [];
  let size = 0;
  for await (const piece of opened.pieces) {
    found.push(piece);
    size += piece.length;
    if (size > LARGEST_ANSWER) throw unexpected(`the answer has more than ${LARGEST_ANSWER / 1024 / 1024} MB`, opened.response);
    if (Date.now() > ends) throw new RequestTimeoutError(`${request.what}: no whole answer in time`);
  }
  return Buffer.concat(found).toString("utf8");
}

function pauseAfter(error: unknown, attempt: number): number | undefined {
  if (error instanceof ApiError) return pause(attempt, error.status, error.code, error.retryAfter, Math.random());
  return error instanceof ConnectionFailedError ? pause(attempt, undefined, undefined, undefined, Math.random()) : undefined;
}

function sleep(milliseconds: number, request: Prepared): Promise<void> {
  return new Promise((resolve, reject) => {
    const { signal, what } = request;
    const abort = (): void => {
      clearTimeout(timer);
      reject(new AbortedError(`${what}: aborted`, { cause: signal?.reason }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** A group of operations. */
export class Resource {
  constructor(protected readonly transport: Transport) {}
}
