/** Server-sent events, decoded from bytes as they come. Pure. */

/** Characters of one event, and of one line. */
const LARGEST_EVENT = 1024 * 1024;

/** An event has more characters than any event of the service. */
export class EventTooLarge extends Error {}

export interface ServerSentEvent {
  event: string;
  data: string;
}

export class Decoder {
  readonly #text = new TextDecoder("utf-8");
  #rest = "";
  #event = "";
  #data: string[] = [];
  #size = 0;

  /** The events that are whole with these bytes. */
  feed(chunk: Uint8Array): ServerSentEvent[] {
    const text = this.#rest + this.#text.decode(chunk, { stream: true });
    const found: ServerSentEvent[] = [];
    let begin = 0;
    for (const end of text.matchAll(/\r\n|\n|\r/g)) {
      if (end[0] === "\r" && end.index + 1 === text.length) break; // the line feed of a pair may still come
      const event = this.#line(text.slice(begin, end.index));
      if (event !== undefined) found.push(event);
      begin = end.index + end[0].length;
    }
    this.#rest = text.slice(begin);
    if (this.#rest.length > LARGEST_EVENT) throw new EventTooLarge();
    return found;
  }

  #line(line: string): ServerSentEvent | undefined {
    if (line === "") {
      const event = this.#data.length > 0 ? { event: this.#event || "message", data: this.#data.join("\n") } : undefined;
      this.#event = "";
      this.#data = [];
      this.#size = 0;
      return event;
    }
    this.#size += line.length;
    if (this.#size > LARGEST_EVENT) throw new EventTooLarge();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#event = value;
    if (name === "data") this.#data.push(value);
    return undefined;
  }
}
