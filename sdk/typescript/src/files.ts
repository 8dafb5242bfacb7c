/** Bytes that are received. */

import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import type { Opened } from "./transport.js";

/** Bytes of an answer. Read it to its end, or `close` it, so that its connection is released. */
export class Download implements AsyncIterable<Uint8Array> {
  readonly #opened: Opened;

  constructor(opened: Opened) {
    this.#opened = opened;
  }

  get contentType(): string {
    return this.#opened.response.headers.get("content-type") ?? "";
  }

  get headers(): Headers {
    return this.#opened.response.headers;
  }

  /** The bytes as they come. */
  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#opened.pieces;
  }

  /** All of it, in memory. */
  async bytes(): Promise<Uint8Array> {
    const found: Uint8Array[] = [];
    for await (const piece of this) found.push(piece);
    return new Uint8Array(Buffer.concat(found));
  }

  /** All of it, in memory, as text. */
  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  /** Writes it into a file. */
  async save(path: string): Promise<void> {
    await pipeline(Readable.from(this), createWriteStream(path));
  }

  async close(): Promise<void> {
    await this.#opened.pieces.return();
  }
}
