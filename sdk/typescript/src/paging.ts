/** Lists in pages, walked to their end. */

import { PagingError, UnexpectedAnswerError } from "./errors.js";
import { isObject } from "./json.js";
import { Pending, type RawResponse } from "./pending.js";
import type { Operation, Parts } from "./requests.js";

/** Pages of one walk. */
const MOST_PAGES = 100_000;

/** An operation that answers a page. */
export interface PagedOperation extends Operation {
  /** The query parameter that takes the continuation; none where all is listed at once. */
  parameter?: string;
  /** The member of the body with it; without one an offset is counted. */
  continuation?: string;
  /** The continuation is an offset, and has to grow. */
  counted?: boolean;
}

/** A list and the place in it. */
export interface Walk {
  operation: PagedOperation;
  parts: Parts;
  seen: Set<unknown>;
}

/** A page of a list. `for await` goes on through the pages after it; `data` has the items of this one. */
export class Page<Item, Answer> implements AsyncIterable<Item> {
  readonly #next: () => Walk | undefined;
  readonly #fetch: (walk: Walk) => Promise<Page<Item, Answer>>;

  constructor(
    readonly data: Item[],
    /** The whole body. */
    readonly answer: Answer,
    next: () => Walk | undefined,
    fetch: (walk: Walk) => Promise<Page<Item, Answer>>,
  ) {
    let found: { walk: Walk | undefined } | undefined;
    this.#next = () => (found ??= { walk: next() }).walk;
    this.#fetch = fetch;
  }

  get hasNext(): boolean {
    return this.#next() !== undefined;
  }

  /** The page after this one; undefined at the end. */
  async nextPage(): Promise<Page<Item, Answer> | undefined> {
    const walk = this.#next();
    return walk && this.#fetch(walk);
  }

  /** This page and those after it. */
  async *pages(): AsyncGenerator<Page<Item, Answer>, void, undefined> {
    for (let page: Page<Item, Answer> | undefined = this; page; page = await page.nextPage()) yield page;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }
}

/** A list: `for await` goes through all of its items, `await` gives the first page. */
export class Pager<Item, Answer> extends Pending<Page<Item, Answer>> implements AsyncIterable<Item> {
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    yield* await this;
  }
}

export function pageOf<Item, Answer>(raw: RawResponse<Answer>, walk: Walk, fetch: (walk: Walk) => Promise<Page<Item, Answer>>): Page<Item, Answer> {
  const answer: unknown = raw.data;
  if (!isObject(answer) || !Array.isArray(answer["data"])) {
    throw new UnexpectedAnswerError("the answer has another shape than promised: it has no list `data`", raw);
  }
  const data = answer["data"] as Item[];
  return new Page(data, raw.data, () => after(walk, answer, data.length), fetch);
}

/** The place of the next page; undefined at the end. */
function after(walk: Walk, answer: Record<string, unknown>, length: number): Walk | undefined {
  const { parameter, path } = walk.operation;
  if (parameter === undefined) return undefined;
  const query = { ...walk.parts.query } as Record<string, unknown>;
  const place = nextPlace(walk.operation, answer, length, Number(query[parameter] ?? 0));
  if (place === undefined || place === null) return undefined;
  if (walk.seen.has(place) || place === query[parameter]) throw new PagingError(`${path}: the continuation ${String(place)} came twice`);
  if (walk.seen.size >= MOST_PAGES) throw new PagingError(`${path}: more than ${MOST_PAGES} pages`);
  const seen = walk.seen.add(place);
  return { ...walk, seen, parts: { ...walk.parts, query: { ...query, [parameter]: place } } };
}

function nextPlace(operation: PagedOperation, answer: Record<string, unknown>, length: number, before: number): unknown {
  if (operation.continuation !== undefined) {
    const place = answer[operation.continuation];
    if (operation.counted && typeof place === "number" && place <= before) {
      throw new PagingError(`${operation.path}: the offset ${place} does not lead on from ${before}`);
    }
    return place;
  }
  const { total } = answer;
  return length > 0 && (typeof total !== "number" || before + length < total) ? before + length : undefined;
}
