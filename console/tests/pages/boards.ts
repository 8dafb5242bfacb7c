import type { Page } from 'playwright-core';
import { ATTACKS } from '../fixtures.ts';
import type { Shape } from '../service.ts';
import type { PageRow } from '../table.ts';
import { campaigns } from './campaigns.ts';

let owner = '';
const prepare: NonNullable<PageRow['prepare']> = async (stage) => { owner = (await campaigns(stage.service)).dialled; };

/** Shows some cards as the service shows those that wait for a look, with words that attack: the sandbox's calls leave no doubt. */
export async function unsure(page: Page): Promise<void> {
  await page.route(/\/board\/cards\?/, async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as Shape;
    const board = (await (await page.request.get(route.request().url().replace(/\/cards\?.*/, ''))).json()) as Shape;
    const promised = board.data.columns.find((one: Shape) => one.key === 'advancing');
    const words = ['Says the EMI was debited on 12 Nov, wants it checked.', 'EMI भर दी है, receipt भेजी है।', ATTACKS.markup, ATTACKS.rightToLeft, ATTACKS.long, ATTACKS.devanagari];
    body.data = body.data.map((card: Shape, at: number) => ({ ...card, lastSummary: words[at % words.length], ...(at < 3 && card.columnId !== promised.id ? { status: 'needs_review', attentionReason: 'low_confidence', suggestedColumnId: at === 2 ? null : promised.id, confidence: 0.62 } : {}) }));
    await route.fulfill({ response: answer, json: body });
  });
  await page.reload();
  await page.locator('[data-review="true"]').first().waitFor();
}

export const rows: readonly PageRow[] = [
  { name: 'boards', path: () => '/boards', heading: /^Boards$/, prepare, failing: { request: /\/v1\/campaigns$/, says: /The boards could not be read/ } },
  {
    name: 'board', path: () => `/boards/${owner}`, heading: /^Board$/, prepare, failing: { request: /\/board$/, says: /The board could not be read/ },
    empty: { request: /\/board\/cards\?/, answer: { data: [], nextCursor: null }, says: /Nobody here/ },
    states: { unsure },
    keys: [{ press: ['r'], sees: (page) => page.getByText('Nothing needs a look').waitFor() }],
  },
  { name: 'board-columns', path: () => `/boards/${owner}/columns`, heading: /^Columns of the board$/, prepare },
];
