/** Answers that are on their way. */

/** An answer with what methods leave out: status, headers and the body as it came. */
export interface RawResponse<T> {
  status: number;
  headers: Headers;
  requestId: string | undefined;
  /** The body; empty for a download. */
  body: string;
  /** What the method itself gives. */
  data: T;
}

export function rawResponse<T>(response: Response, body: string, data: T): RawResponse<T> {
  const { status, headers } = response;
  return { status, headers, requestId: headers.get("x-request-id") ?? undefined, body, data };
}

/** A promise of an answer; `withResponse` gives the answer with its status and headers. */
export class Pending<T> extends Promise<T> {
  readonly #raw: Promise<RawResponse<T>>;

  constructor(raw: Promise<RawResponse<T>>) {
    super((resolve) => resolve(undefined as never));
    this.#raw = raw;
  }

  withResponse(): Promise<RawResponse<T>> {
    return this.#raw;
  }

  override then<A = T, B = never>(done?: ((value: T) => A | PromiseLike<A>) | null, failed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<A | B> {
    return this.#raw.then((raw) => raw.data).then(done, failed);
  }

  override catch<B = never>(failed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, failed);
  }

  override finally(last?: (() => void) | null): Promise<T> {
    return this.#raw.then((raw) => raw.data).finally(last);
  }

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }
}
