// The parts by themselves: the grid with 3,12,406 rows, dialogs that ask first, toasts with Undo, dates abroad, tabs, facets.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { build } from 'vite';
import { CHROMIUM, FLAGS, axe, noConsoleErrors, noSidewaysScroll, shot, watch } from './browser.ts';
import { startFront, type Front } from './front.ts';

const folder = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
let browser: Browser;
let front: Front;
before(async () => {
  await build({ root: folder('./parts'), configFile: folder('../vite.config.ts'), publicDir: folder('../public'), logLevel: 'warn', build: { outDir: folder('./parts/dist'), emptyOutDir: true } });
  front = await startFront('http://127.0.0.1:1', folder('./parts/dist'));
  browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: [...FLAGS, '--js-flags=--expose-gc'] });
});
after(async () => { await browser?.close(); await front?.close(); });

async function open(look: { width?: number; timezone?: string; theme?: 'light' | 'dark' } = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: look.width ?? 1440, height: 900 }, timezoneId: look.timezone ?? 'Asia/Kolkata', reducedMotion: 'reduce', colorScheme: look.theme ?? 'light' });
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  watch(page, front.url);
  await page.goto(`${front.url}/console/`);
  await page.getByRole('grid').waitFor();
  return page;
}
const active = (page: Page): Promise<number> => page.evaluate(() => {
  const grid = document.querySelector('[role="grid"]');
  const row = document.getElementById(grid?.getAttribute('aria-activedescendant') ?? '');
  return Number(row?.getAttribute('aria-rowindex') ?? -1) - 2;
});
const main = (page: Page, name: string): Promise<string | null> => page.locator('main').getAttribute(`data-${name}`);

test('the grid has one tab stop and every row by keys', async () => {
  const page = await open();
  const grid = page.getByRole('grid', { name: 'Rows' });
  assert.equal(await grid.getAttribute('aria-rowcount'), '312407');
  await grid.focus();
  const presses: [string, number][] = [['j', 1], ['ArrowDown', 2], ['k', 1], ['ArrowUp', 0], ['End', 312_405], ['k', 312_404], ['Home', 0], ['PageDown', -1]];
  for (const [key, row] of presses) {
    await page.keyboard.press(key);
    if (row >= 0) await page.waitForFunction((wanted) => document.getElementById(document.querySelector('[role="grid"]')?.getAttribute('aria-activedescendant') ?? '')?.getAttribute('aria-rowindex') === String(wanted + 2), row);
  }
  const at = await active(page);
  assert.ok(at >= 10 && at <= 30, `a page is ${at} rows`);
  await page.keyboard.press('x');
  assert.equal(await main(page, 'picked'), `row_${at}`);
  await page.keyboard.press('Enter');
  assert.equal(await main(page, 'opened'), `row_${at}`);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.querySelector('[role="grid"]')?.contains(document.activeElement)), false, 'no second stop within it');
  noConsoleErrors(page);
  await page.context().close();
});

test('nothing that is not on the screen exists: nodes, heap and frames of 3,12,406 rows', async () => {
  const page = await open();
  await page.getByRole('grid').focus();
  const frames = await page.evaluate(async () => {
    const grid = document.querySelector('[role="grid"]') as HTMLElement;
    const times: number[] = [];
    let last = performance.now();
    for (let turn = 0; turn < 60; turn += 1) {
      grid.dispatchEvent(new KeyboardEvent('keydown', { key: 'PageDown', bubbles: true, cancelable: true }));
      await new Promise((resolve) => { requestAnimationFrame(resolve); });
      const now = performance.now();
      times.push(now - last);
      last = now;
    }
    return times.sort((a, b) => a - b);
  });
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
  const heap = await page.evaluate(() => {
    (globalThis as unknown as { gc?: () => void }).gc?.();
    return (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize / 1e6;
  });
  assert.ok(nodes <= 1_500, `${nodes} nodes`);
  assert.ok(heap <= 30, `${heap.toFixed(1)} MB`);
  assert.ok(await page.getByRole('row').count() < 80);
  console.log(`# ${nodes} nodes, ${heap.toFixed(1)} MB, frames p50 ${frames[30]?.toFixed(0)} ms, p95 ${frames[57]?.toFixed(0)} ms`);
  await page.context().close();
});

test('what erases asks first, says what is missing, and keeps a refusal in place', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Erase…' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Erase this person?' });
  await dialog.waitFor();
  await axe(page);
  await page.keyboard.type('5679');
  await page.keyboard.press('Enter');
  await dialog.getByText('Type “5678” to go on.').waitFor();
  assert.equal(await main(page, 'erased'), '0');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('8');
  await page.keyboard.press('Enter');
  await dialog.getByText('req_test0000000000000000').waitFor();
  await dialog.getByRole('button', { name: 'Erase this person' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await main(page, 'erased'), '2');
  await page.getByRole('button', { name: 'Undo' }).click();
  assert.equal(await main(page, 'erased'), '9');
  noConsoleErrors(page);
  await page.context().close();
});

test('Escape closes the top thing and gives the focus back', async () => {
  const page = await open();
  const button = page.getByRole('button', { name: 'Erase…' });
  await button.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.textContent === 'Erase…');
  await page.context().close();
});

test('today is India’s, in a browser in Los Angeles', async () => {
  for (const timezone of ['America/Los_Angeles', 'Asia/Kolkata']) {
    const page = await open({ timezone });
    await page.clock.setFixedTime(new Date('2026-11-26T20:00:00Z'));
    await page.reload();
    await page.getByRole('button', { name: /21 Nov – 27 Nov/ }).click();
    await page.getByRole('dialog', { name: 'Dates, India time' }).waitFor();
    await page.locator('.day[data-today]').waitFor();
    assert.equal(await page.locator('.day[data-today]').innerText(), '27', timezone);
    await axe(page);
    await shot(page, `parts-dates-${timezone.split('/')[1]}`);
    await page.getByRole('button', { name: 'Today', exact: true }).click();
    await page.getByRole('button', { name: 'Today', exact: true }).waitFor();
    await page.context().close();
  }
});

test('filters stand in the address, and Back undoes one', async () => {
  const page = await open();
  await page.getByRole('button', { name: /^State/ }).click();
  await page.getByRole('option', { name: /Ended/ }).click();
  await page.waitForURL(/\?state=ended$/);
  await axe(page);
  await page.keyboard.press('Escape');
  await page.goBack();
  assert.equal(new URL(page.url()).search, '');
  assert.equal(await page.locator('.facet[data-on="true"]').count(), 1, 'only the dates');
  await page.context().close();
});

for (const [theme, width] of [['light', 1440], ['dark', 1440], ['light', 360], ['dark', 360], ['light', 320]] as const) test(`tabs, rows and a failure, ${theme}, ${width} px`, async () => {
  const page = await open({ theme, width });
  await axe(page);
  await noSidewaysScroll(page);
  await shot(page, `parts-${width}-${theme}`);
  await page.getByRole('tab', { name: 'Failure' }).click();
  await page.getByRole('alert').waitFor();
  await axe(page);
  await shot(page, `parts-failure-${width}-${theme}`);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('grid').waitFor();
  await page.getByRole('button', { name: 'Hindi' }).click();
  await page.locator('html[lang="hi"]').waitFor();
  await page.getByRole('button', { name: 'और काम' }).waitFor();
  noConsoleErrors(page);
  await page.context().close();
});
