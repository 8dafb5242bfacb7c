// A row of the table of pages. tests/pages/<module>.ts exports `rows`; everything below is tested for each by itself.
import type { Page } from 'playwright-core';
import type { Stage } from './browser.ts';
import type { Fixtures } from './fixtures.ts';
import type { Role } from './service.ts';

export interface PageRow {
  readonly name: string;
  /** Below the workspace; may name what the fixtures made. */
  readonly path: (fixtures: Fixtures, stage: Stage) => string;
  /** Who looks; the owner unless it says otherwise, null for nobody. */
  readonly role?: Role | null;
  readonly mode?: 'live' | 'test';
  /** The h1, in English. */
  readonly heading: RegExp;
  /** An answer without rows: the address of the request, the answer, and what is said then. */
  readonly empty?: { readonly request: RegExp; readonly answer: unknown; readonly says: RegExp };
  /** The request that fails with 500, and what is said in the place of the data. */
  readonly failing?: { readonly request: RegExp; readonly says: RegExp };
  /** Keys, without a mouse: pressed one after the other, then what must be seen. */
  readonly keys?: readonly { readonly press: readonly string[]; readonly sees: (page: Page) => Promise<unknown> }[];
  /** States that are looked at, too: an open overlay, a tab. */
  readonly states?: Readonly<Record<string, (page: Page) => Promise<unknown>>>;
  readonly prepare?: (stage: Stage, fixtures: Fixtures) => Promise<unknown>;
}
