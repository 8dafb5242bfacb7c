/** What some groups of operations have beside those of the document. */

import { ChatStream } from "./chat-stream.js";
import { InvalidArgumentError, NoRecordingError, PagingError } from "./errors.js";
import { Download } from "./files.js";
import type * as models from "./models.js";
import { Calls as CallOperations } from "./operations/calls.js";
import { Chats as ChatOperations } from "./operations/chats.js";
import { Events as EventOperations } from "./operations/events.js";
import { type KeyedOptions, type Operation, type RequestOptions, prepare } from "./requests.js";
import { VERSION } from "./version.js";

const SEND: Operation = { method: "POST", path: "/v1/chat/sessions/{id}/messages", keyed: true, json: true };
const LONGEST_WAIT = 25;

export class Calls extends CallOperations {
  /** The recording of a call, as WAV. Its link needs no key, so none is sent. */
  async recording(id: string, options: RequestOptions = {}): Promise<Download> {
    const call = await this.get(id, options);
    if (!call.recordingUrl) throw new NoRecordingError(`${id} has no recording, or not yet`);
    const headers = { Accept: "audio/wav", "User-Agent": `dastak-typescript/${VERSION}` };
    const { settings } = this.transport;
    const [timeout, maxRetries] = [options.timeout ?? settings.timeout, options.maxRetries ?? settings.maxRetries];
    const what = `GET the recording of ${id}`;
    const request = { method: "GET", url: call.recordingUrl, headers, body: undefined, repeatable: true, what };
    return new Download(await this.transport.open({ ...request, timeout, maxRetries, signal: options.signal }));
  }
}

export class Chats extends ChatOperations {
  /**
   * Sends a message of the customer, and gives the reply while it is written. An error before the reply begins is thrown here, one within
   * the stream while it is read.
   */
  async stream(id: string, body: models.NewChatMessage, options: KeyedOptions = {}): Promise<ChatStream> {
    const request = prepare(this.transport.settings, SEND, { path: { id }, body, options, accept: "text/event-stream" });
    return ChatStream.of(await this.transport.open(request), request.what);
  }
}

/** Where the stream of events is followed from, and how. */
export interface FollowOptions extends RequestOptions {
  /** `latest` (default), `start`, or a cursor of `list`. */
  after?: string | undefined;
  /** How long the service waits for an event before it answers that there is none, in seconds; by default 25. */
  wait?: number | undefined;
}

export class Events extends EventOperations {
  /** Events of the key's mode as they happen, without end. */
  async *follow({ after = "latest", wait = LONGEST_WAIT, ...options }: FollowOptions = {}): AsyncGenerator<models.Event, void, undefined> {
    if (!(wait >= 1 && wait <= LONGEST_WAIT)) throw new InvalidArgumentError(`wait: it is from 1 to ${LONGEST_WAIT} seconds`);
    const timeout = (options.timeout ?? this.transport.settings.timeout) + wait * 1000;
    for (;;) {
      const answer = await this.list({ after, wait }, { ...options, timeout });
      if (answer.data.length > 0 && answer.cursor === after) throw new PagingError("the stream of events gives events, but the same cursor");
      after = answer.cursor;
      yield* answer.data;
    }
  }
}
