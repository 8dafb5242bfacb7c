// Every page: both themes and widths with axe, no sideways scroll, nothing against the headers, a picture; Hindi; no rows; a failure; keys.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { axe, drawn, noConsoleErrors, noSidewaysScroll, shot, startStage, type Look, type Stage } from './browser.ts';
import { fill, type Fixtures } from './fixtures.ts';
import type { PageRow } from './table.ts';

const folder = new URL('./pages/', import.meta.url);
const only = process.env.PAGES?.split(',');
const rows: PageRow[] = [];
for (const name of readdirSync(folder).filter((one) => one.endsWith('.ts')).sort()) rows.push(...((await import(new URL(name, folder).href)) as { rows: readonly PageRow[] }).rows.filter((row) => !only || only.includes(row.name) || only.includes(name.replace('.ts', ''))));

let stage: Stage;
let fixtures: Fixtures;
before(async () => { stage = await startStage(); fixtures = await fill(stage.service); });
after(() => stage?.close());

const who = (row: PageRow): Look => ({ ...(row.role === undefined ? {} : { role: row.role }), ...(row.mode ? { mode: row.mode } : {}) });
const FAILED = /Failed to load resource/;
// Light and wide with all states, dark and narrow. LOOKS=all has every pair of them with all states, Hindi, no rows, a failure and the keys, and takes half an hour.
const all = process.env.LOOKS === 'all';
const looks = ([['light', 1440], ['dark', 360], ['dark', 1440], ['light', 360]] as const).slice(0, all ? 4 : 2);
for (const row of rows) {
  describe(row.name, () => {
    // Each row has a minute of its own: what a member may ask is counted by the service's clock, which stands.
    before(async () => { await stage.service.advance(60); await row.prepare?.(stage, fixtures); });
    for (const [theme, width] of looks) {
      test(`${theme}, ${width} px`, async () => {
        const page = await stage.open(row.path(fixtures, stage), { theme, width, ...who(row) });
        assert.match((await page.locator('h1').first().innerText()).trim(), row.heading);
        await axe(page);
        await noSidewaysScroll(page);
        await shot(page, `${row.name}-${width}-${theme}`);
        for (const [name, show] of Object.entries(all || width === 1440 ? row.states ?? {} : {})) {
          await show(page).catch(async (why: unknown) => {
            throw new Error(`${name}: on the page was: ${(await page.locator('main').innerText()).slice(0, 2000)}`, { cause: why });
          });
          await axe(page);
          await noSidewaysScroll(page);
          await shot(page, `${row.name}-${name}-${width}-${theme}`);
        }
        noConsoleErrors(page);
        await page.context().close();
      });
    }
    if (!all) return;
    test('Hindi', async () => {
      for (const width of [1440, 360]) {
        const page = await stage.open(row.path(fixtures, stage), { lang: 'hi', width, ...who(row) });
        assert.equal(await page.locator('html').getAttribute('lang'), 'hi');
        await noSidewaysScroll(page);
        await axe(page);
        await shot(page, `${row.name}-${width}-hindi`);
        noConsoleErrors(page);
        await page.context().close();
      }
    });
    const { empty, failing } = row;
    if (empty) test('no rows', () => answered(row, empty.request, 200, empty.answer, empty.says));
    if (failing) test('a failure', () => answered(row, failing.request, 500, { error: 'internal error', code: 'internal_error', requestId: 'req_test0000000000000000' }, failing.says, true));
    if (row.keys) test('keys', async () => {
      const page = await stage.open(row.path(fixtures, stage), who(row));
      for (const step of row.keys ?? []) {
        for (const key of step.press) await page.keyboard.press(key);
        await step.sees(page);
      }
      noConsoleErrors(page);
      await page.context().close();
    });
  });
}

async function answered(row: PageRow, request: RegExp, status: number, answer: unknown, says: RegExp, again = false): Promise<void> {
  const page = await stage.open('~/console/sign-in', { role: row.role ?? 'owner' });
  await page.route(request, (route) => route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(answer) }));
  await page.goto(stage.address(row.path(fixtures, stage), row.mode));
  await page.getByText(says).first().waitFor();
  await axe(page);
  if (again) {
    await page.getByText('req_test0000000000000000').first().waitFor();
    await page.unroute(request);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByText(says).first().waitFor({ state: 'detached' });
  }
  await drawn(page);
  noConsoleErrors(page, FAILED);
  await page.context().close();
}
