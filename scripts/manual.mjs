// Opens the manual (/docs) of a fresh `dastak dev` in Chromium, as a reader does: finds every operation, searches, reads guides, tries a
// call with a test key; in light and dark, wide and on a phone. The browser's console stays empty, axe finds nothing, nothing scrolls sideways.
//
// usage: manual.mjs BINARY [FOLDER for pictures]; packages come from console/node_modules (scripts/console.sh), Chromium from Debian
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const require = createRequire(new URL('../console/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const [binary, pictures] = process.argv.slice(2);

const folder = mkdtempSync(join(tmpdir(), 'manual-'));
const service = spawn(resolve(binary), ['dev', '--listen', '127.0.0.1:0'], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
const line = await new Promise((done, fail) => { createInterface(service.stdout).once('line', done); service.once('exit', () => fail(new Error('the service did not start'))); });
const { url } = JSON.parse(line);
const keys = Object.fromEntries(readFileSync(join(folder, 'dastak-data/demo.env'), 'utf8').trim().split('\n').map((each) => each.split('=')));
const browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });

/** A page of one look; what the browser's console says of it is an error. */
async function look({ theme = 'light', width = 1280 } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, reducedMotion: 'reduce' });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const said = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) said.push(`${page.url()}: ${message.text()}`); });
  page.on('pageerror', (error) => said.push(`${page.url()}: ${error}`));
  page.on('request', (asked) => { if (!asked.url().startsWith(url)) said.push(`asked another host: ${asked.url()}`); });
  return { page, said, close: () => context.close() };
}

async function accessible(page) {
  // The policy lets no page run what it was not served with; the test's own script comes through the debugger.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const ran = await globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
    return ran.violations.map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes.slice(0, 3).map((node) => node.target.join(' ')).join(' | ')}`);
  });
  assert.deepEqual(found, [], page.url());
}

async function fits(page) {
  const [wide, visible] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(wide <= visible, `${page.url()} scrolls sideways: ${wide} > ${visible}`);
}

async function everyOperation(page) {
  const document = await (await fetch(`${url}/v1/openapi.json`)).json();
  await page.goto(`${url}/docs/reference`);
  const links = new Map(await page.$$eval('main .cards a', (all) => all.map((link) => [link.hash.slice(1), link.pathname])));
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  assert.ok(operations.length > 150, `only ${operations.length} operations`);
  for (const { operationId } of operations) assert.ok(links.has(operationId), `${operationId} is not in the reference`);
  let seen = 0;
  for (const chapter of new Set(links.values())) {
    await page.goto(url + chapter);
    const there = new Map(await page.$$eval('main h2', (all) => all.map((heading) => [heading.id, heading.textContent])));
    for (const { operationId, summary } of operations.filter((each) => links.get(each.operationId) === chapter)) {
      assert.equal(there.get(operationId), summary);
      seen += 1;
    }
    const text = await page.textContent('main');
    assert.doesNotMatch(text, /undefined|\[object/);
  }
  assert.equal(seen, operations.length);
  return seen;
}

async function search(page) {
  await page.goto(`${url}/docs`);
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'm-find');
  const { summary } = (await (await fetch(`${url}/v1/openapi.json`)).json()).paths['/v1/calls'].post;
  for (const [typed, address] of [[summary, '/docs/reference/calls#placeCall'], ['call_blocked', '/docs/errors/call_blocked'], ['nudge.finished', '/docs/events/nudge.finished']]) {
    await page.goto(`${url}/docs`);
    await page.focus('#m-find');
    await page.keyboard.type(typed);
    await page.waitForSelector('#m-results [role="option"][aria-selected="true"]');
    const options = await page.$$eval('#m-results [role="option"] b', (all) => all.map((option) => option.textContent));
    const at = options.indexOf(typed);
    assert.ok(at >= 0 && at < 5, `${typed}: ${options}`);
    for (let step = 0; step < at; step += 1) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(url + address);
  }
  await page.focus('#m-find');
  await page.keyboard.type('zzzz nothing');
  await page.waitForSelector('#m-results [aria-disabled="true"]');
}

async function readGuides(page) {
  const guides = await (await page.goto(`${url}/docs/guides`), page.$$eval('main .cards a', (all) => all.map((link) => link.pathname)));
  assert.ok(guides.length >= 13, `${guides}`);
  for (const guide of ['first-call', 'nudges', 'webhooks']) {
    await page.goto(`${url}/docs/guides/${guide}`);
    assert.ok((await page.textContent('main')).length > 1500);
    assert.ok(await page.locator('.copy').count() > 3, `${guide} has code to copy`);
  }
  // The six languages are tabs; the chosen one is kept.
  const tabs = page.locator('.tablist').first().locator('button');
  assert.deepEqual(await tabs.allTextContents(), ['Python', 'Node.js', 'Go', 'Java', 'PHP', 'Ruby']);
  await tabs.nth(5).click();
  assert.equal(await page.locator('.tabs').first().locator('.code:visible').count(), 1);
  await page.reload();
  assert.equal(await page.locator('[role="tab"][aria-selected="true"]').first().textContent(), 'Ruby');
  await page.locator('[role="tab"][aria-selected="true"]').first().focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.locator('[role="tab"][aria-selected="true"]').first().textContent(), 'Python');
}

async function tryIt(page) {
  await page.goto(`${url}/docs/reference/calls#placeCall`);
  const form = page.locator('.try[data-path="/v1/calls"][data-method="POST"]');
  await form.locator('summary').click();
  const body = JSON.stringify({ agentId: keys.AGENT, toNumber: '+919812345678' });
  await form.locator('textarea').fill(body);
  await form.getByLabel('Test key').fill(keys.LIVE_KEY);
  await form.getByRole('button', { name: 'Send' }).click();
  await form.locator('.refused').waitFor();
  assert.match(await form.locator('.refused').textContent(), /Only test keys/);
  await form.getByLabel('Test key').fill(keys.TEST_KEY);
  await form.getByRole('button', { name: 'Send' }).click();
  await form.locator('output pre').waitFor();
  const answer = await form.locator('output').textContent();
  assert.match(answer, /"placed": true/, answer);
  if (pictures) { await form.evaluate((element) => { element.scrollIntoView({ block: 'center' }); }); await page.screenshot({ path: join(pictures, 'reference.png') }); }
  const kept = await page.evaluate(() => [sessionStorage.getItem('docs-test-key'), JSON.stringify(localStorage)]);
  assert.equal(kept[0], keys.TEST_KEY);
  assert.ok(!kept[1].includes(keys.TEST_KEY), 'the key is in this tab only');
  // The call is there, read through the page.
  await page.goto(`${url}/docs/reference/calls#listCalls`);
  const list = page.locator('.try[data-path="/v1/calls"][data-method="GET"]');
  await list.locator('summary').click();
  await list.getByLabel('limit').fill('1');
  await list.getByRole('button', { name: 'Send' }).click();
  await list.locator('output pre').waitFor();
  assert.match(await list.locator('output').textContent(), /"toNumber": "\+919812345678"/);
}

const LOOKED_AT = ['/docs', '/docs/guides/webhooks', '/docs/guides/campaigns', '/docs/reference', '/docs/reference/calls', '/docs/reference/agents', '/docs/events/nudge.finished', '/docs/errors', '/docs/errors/call_blocked', '/docs/scopes', '/docs/contract/nudges', '/docs/operating', '/docs/no-such-page'];

try {
  const wide = await look();
  console.log(await everyOperation(wide.page), 'operations');
  await search(wide.page);
  await readGuides(wide.page);
  await tryIt(wide.page);
  assert.deepEqual(wide.said, []);
  await wide.close();
  for (const theme of ['light', 'dark']) {
    for (const width of [1280, 360]) {
      const { page, said, close } = await look({ theme, width });
      for (const path of LOOKED_AT) {
        await page.goto(url + path);
        // Folded parts are looked at, too; of the forms one.
        await page.evaluate(() => { document.querySelectorAll('main details:not(.try)').forEach((part, index) => { part.open = index < 40; }); const form = document.querySelector('.try'); if (form) form.open = true; });
        await fits(page);
        await accessible(page);
      }
      if (pictures && theme === 'dark' && width === 360) { await page.goto(`${url}/docs/guides/nudges`); await page.screenshot({ path: join(pictures, 'guide-phone-dark.png') }); }
      if (pictures && theme === 'light' && width === 1280) { await page.goto(`${url}/docs/guides/webhooks`); await page.screenshot({ path: join(pictures, 'guide.png') }); }
      assert.deepEqual(said.filter((text) => !/no-such-page: .*404/.test(text)), []);
      await close();
    }
  }
  console.log('the manual reads well in light and dark, wide and on a phone');
} finally {
  await browser.close();
  service.kill('SIGTERM');
  await new Promise((done) => { if (service.exitCode !== null || service.signalCode !== null) done(); else service.once('exit', done); });
  rmSync(folder, { recursive: true, force: true });
}
