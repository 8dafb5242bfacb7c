/** A reply of a chat while it is written. */

import { ApiError, StreamInterruptedError, type UnexpectedAnswerError } from "./errors.js";
import { isObject, text } from "./json.js";
import type { ChatReply } from "./models.js";
import { unexpected } from "./requests.js";
import { Decoder, EventTooLarge, type ServerSentEvent } from "./sse.js";
import type { Opened } from "./transport.js";

const LARGEST_ANSWER = 64 * 1024 * 1024;

/** More words of the reply. */
export interface ChatText {
  type: "text";
  text: string;
}

/** The end of a reply. `reply` is what counts: words that were streamed before a hand-off are not the reply. */
export interface ChatDone {
  type: "done";
  reply: ChatReply;
}

export type ChatStreamEvent = ChatText | ChatDone;

/** Events of a reply; the last one is `done`. Events of types that this version does not know are passed over. */
export class ChatStream implements AsyncIterable<ChatStreamEvent> {
  readonly #opened: Opened;
  readonly #what: string;
  readonly #events: AsyncGenerator<ChatStreamEvent, void, undefined>;

  private constructor(opened: Opened, what: string, stream: boolean) {
    this.#opened = opened;
    this.#what = what;
    this.#events = stream ? this.#read() : this.#whole();
  }

  static async of(opened: Opened, what: string): Promise<ChatStream> {
    const kind = (opened.response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
    // A repeat by the same idempotency key may answer without a stream.
    if (kind === "text/event-stream" || kind === "application/json") return new ChatStream(opened, what, kind === "text/event-stream");
    await opened.pieces.return();
    throw unexpected(`the answer is ${kind || "of no type"}, not a stream of events`, opened.response);
  }

  [Symbol.asyncIterator](): AsyncGenerator<ChatStreamEvent, void, undefined> {
    return this.#events;
  }

  /** Reads to the end, and gives the reply. */
  async reply(): Promise<ChatReply> {
    for await (const event of this.#events) if (event.type === "done") return event.reply;
    throw new StreamInterruptedError(`${this.#what}: the stream was read or closed already`);
  }

  /** Closes the connection. The agent still writes its reply to the end. */
  async close(): Promise<void> {
    await this.#opened.pieces.return();
  }

  async *#read(): AsyncGenerator<ChatStreamEvent, void, undefined> {
    const decoder = new Decoder();
    for await (const piece of this.#opened.pieces) {
      for (const one of this.#decoded(decoder, piece)) {
        const event = this.#event(one);
        if (event) yield event;
        if (event?.type === "done") return;
      }
    }
    throw new StreamInterruptedError(`${this.#what}: the stream ended before the reply was done`);
  }

  async *#whole(): AsyncGenerator<ChatStreamEvent, void, undefined> {
    let [body, size] = ["", 0];
    const decoder = new TextDecoder();
    for await (const piece of this.#opened.pieces) {
      body += decoder.decode(piece, { stream: true });
      size += piece.length;
      if (size > LARGEST_ANSWER) throw this.#unexpected("the answer is too large");
    }
    yield this.#done(body);
  }

  #decoded(decoder: Decoder, piece: Uint8Array): ServerSentEvent[] {
    try {
      return decoder.feed(piece);
    } catch (cause) {
      throw cause instanceof EventTooLarge ? this.#unexpected("an event of the stream is too large") : cause;
    }
  }

  #event(event: ServerSentEvent): ChatStreamEvent | undefined {
    if (event.event === "done") return this.#done(event.data);
    if (event.event === "text") {
      const words = this.#json(event.data)["text"];
      if (typeof words !== "string") throw this.#unexpected("an event `text` without a text");
      return { type: "text", text: words };
    }
    if (event.event !== "error") return undefined;
    const fields = this.#json(event.data);
    const { status, headers } = this.#opened.response;
    throw new ApiError(text(fields["error"]) ?? "the reply failed", {
      status,
      code: text(fields["code"]),
      meta: isObject(fields["meta"]) ? fields["meta"] : undefined,
      requestId: headers.get("x-request-id") ?? undefined,
      docUrl: text(fields["docUrl"]),
    });
  }

  #done(data: string): ChatDone {
    const reply = this.#json(data)["data"];
    if (!isObject(reply)) throw this.#unexpected("the end of the reply has another shape than promised");
    return { type: "done", reply: reply as unknown as ChatReply };
  }

  #json(data: string): Record<string, unknown> {
    let found: unknown;
    try {
      found = JSON.parse(data);
    } catch {
      throw this.#unexpected("an event is no JSON");
    }
    if (!isObject(found)) throw this.#unexpected("an event is no object");
    return found;
  }

  #unexpected(message: string): UnexpectedAnswerError {
    return unexpected(message, this.#opened.response);
  }
}
