// Signing in, and what the console does while the session or the connection is gone.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { noConsoleErrors, startStage, type Stage } from './browser.ts';
import { PASSWORD, send } from './service.ts';

let stage: Stage;
before(async () => { stage = await startStage(); });
after(() => stage?.close());
afterEach(() => stage.front.cut(false));

const FAILED = /Failed to load resource/;
const needsYou = (page: Page): Promise<void> => page.getByRole('heading', { name: 'Needs you' }).waitFor();
const atHome = /\d+ \w+/;

test('a link signs in when its button is pressed, once, and without a mouse', async () => {
  const link = new URL(await stage.service.link('new@example.com', { name: 'Neha Iyer', workspaceId: stage.service.workspace, role: 'editor' }));
  const address = `~${link.pathname}${link.hash}`;
  const scanned = await stage.open(address, { role: null });
  assert.equal(new URL(scanned.url()).hash, '', 'the token has left the address');
  noConsoleErrors(scanned);
  await scanned.context().close();

  const page = await stage.open(address, { role: null });
  const button = page.getByRole('button', { name: 'Sign in', exact: true });
  for (let presses = 0; presses < 10 && !(await button.evaluate((one) => one === document.activeElement)); presses += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: atHome, level: 1 }).waitFor();
  assert.ok(page.url().startsWith(stage.address('/')), page.url());
  await page.getByText('Neha Iyer').first().waitFor();
  noConsoleErrors(page, FAILED);

  const again = await stage.open(address, { role: null });
  await again.getByRole('button', { name: 'Sign in', exact: true }).click();
  await again.getByText('This link was used, replaced or is over.').waitFor();
  noConsoleErrors(again, FAILED);
});

test('a wrong password and an unknown address say the same; then the page that was asked for is shown', async () => {
  await stage.service.cookie('viewer');
  const page = await stage.open('/?seen=1', { role: null });
  assert.match(page.url(), /\/console\/sign-in\?next=/);
  for (const email of ['viewer@example.com', 'nobody@example.com']) {
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Nobody has this address with this password.').waitFor();
  }
  await page.getByRole('button', { name: 'Lost your password?' }).click();
  await page.getByText('for a sign-in link').waitFor();
  await page.getByLabel('E-mail').fill('viewer@example.com');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: atHome, level: 1 }).waitFor();
  assert.equal(page.url(), stage.address('/?seen=1'));
  noConsoleErrors(page, FAILED);
});

test('the sign-in leads nowhere else', async () => {
  await stage.service.cookie('viewer');
  for (const next of ['//evil.example/', 'https://evil.example/console/', '/\\evil.example', '/console/api/me', 'javascript:alert(1)', '/console/../evil']) {
    const page = await stage.open(`~/console/sign-in?next=${encodeURIComponent(next)}`, { role: null });
    await page.getByLabel('E-mail').fill('viewer@example.com');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: atHome, level: 1 }).waitFor();
    assert.equal(page.url(), stage.address('/'), next);
    await page.context().close();
  }
});

test('a session that is revoked while a page is open: sign in over it, and the page is there', async () => {
  const page = await stage.open('/', { role: 'admin' });
  await page.locator('[data-connection="live"]').waitFor({ state: 'attached' });
  await page.evaluate(() => { document.querySelector('h1')?.setAttribute('data-kept', 'yes'); });
  const other = await send(`${stage.service.url}/console/api/sign-in`, 'POST', { email: stage.service.email('admin'), password: PASSWORD }, { origin: stage.service.url });
  const cookie = other.cookies.map((one) => one.split(';')[0]).join('; ');
  const revoked = await send(`${stage.service.url}/console/api/me/sessions`, 'DELETE', undefined, { origin: stage.service.url, cookie });
  assert.ok(revoked.status < 300, JSON.stringify(revoked.body));
  const dialog = page.getByRole('dialog', { name: 'Your session is over' });
  await dialog.waitFor();
  assert.equal(await dialog.getByLabel('E-mail').inputValue(), stage.service.email('admin'));
  await page.keyboard.press('Escape');
  await dialog.waitFor();
  await dialog.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.locator('[data-connection="live"]').waitFor({ state: 'attached' });
  assert.equal(await page.locator('h1').getAttribute('data-kept'), 'yes', 'the page was not loaded anew');
  noConsoleErrors(page, FAILED);
});

test('a lost connection: the data stays with its time, until the service is there again', async () => {
  const page = await stage.open('/', { role: 'editor' });
  await page.locator('[data-connection="live"]').waitFor({ state: 'attached' });
  stage.front.cut(true);
  await page.getByText(/^Reconnecting, data of \d\d:\d\d:\d\d$/).waitFor();
  await needsYou(page);
  stage.front.cut(false);
  await page.locator('[data-connection="live"]').waitFor({ state: 'attached' });
  await page.getByText('Reconnecting').waitFor({ state: 'detached' });
  noConsoleErrors(page, FAILED);
});

test('two tabs of a browser share one stream', async () => {
  const page = await stage.open('/', { role: 'owner' });
  await page.locator('[data-connection="live"]').waitFor({ state: 'attached' });
  const other = await page.context().newPage();
  const asked: string[] = [];
  other.on('request', (one) => { if (one.url().includes('/v1/stream')) asked.push(one.url()); });
  await other.goto(stage.address('/'));
  await needsYou(other);
  await other.evaluate(() => new Promise((resolve) => { requestIdleCallback(resolve); }));
  assert.deepEqual(asked, []);
  await page.close();
  await other.locator('[data-connection="live"]').waitFor({ state: 'attached' });
  assert.equal(asked.length, 1, 'the other tab leads when the first is closed');
});

test('test mode shows nothing live', async () => {
  const page = await stage.open('/', { mode: 'test' });
  const asked: string[] = [];
  page.on('request', (one) => asked.push(one.url()));
  await page.reload();
  await page.getByText('Test mode: calls are simulated, nobody is dialled, nothing is charged.').waitFor();
  await page.getByText('Try things out here').waitFor();
  assert.deepEqual(asked.filter((url) => url.includes(`/${stage.service.workspace}/live/`)), []);
  assert.equal(await page.getByText('₹').count(), 0);
  assert.equal(await page.getByRole('heading', { name: 'Needs you' }).count(), 0);
  noConsoleErrors(page);
});

test('Los Angeles and Kolkata see the same day and time', async () => {
  const seen: string[] = [];
  for (const timezone of ['America/Los_Angeles', 'Asia/Kolkata']) {
    const page = await stage.open('/', { timezone });
    seen.push(await page.locator('h1').innerText());
    await page.context().close();
  }
  assert.equal(seen[0], seen[1]);
  assert.equal(seen[0], new Intl.DateTimeFormat('en-IN', { timeZone: 'Asia/Kolkata', weekday: 'long', day: 'numeric', month: 'long' }).format(Date.now()));
});

test('a workspace that one is no member of is not there', async () => {
  const page = await stage.open('~/console/ws_00000000000000000000000000/');
  await page.getByText('Nothing is at this address').waitFor();
  await page.goto(stage.address('~/console/o/call_00000000000000000000000000'));
  await page.getByText('Nothing is at this address').waitFor();
  noConsoleErrors(page, FAILED);
});

test('no page frames the console, and what it serves says what may run', async () => {
  for (const path of ['/console/', '/console/sign-in', `/console/${stage.service.workspace}/calls`]) {
    const answer = await (await stage.browser.newContext()).request.get(stage.front.url + path);
    const headers = answer.headers();
    assert.match(headers['content-security-policy'] ?? '', /frame-ancestors 'none'.*require-trusted-types-for 'script'/);
    assert.doesNotMatch(headers['content-security-policy'] ?? '', /unsafe-/);
    assert.equal(headers['cache-control'], 'no-cache');
  }
});

test('the language is the person’s, wherever they sign in', async () => {
  const page = await stage.open('/', { role: 'editor' });
  await page.getByRole('button', { name: /^You: / }).click();
  await page.getByRole('menuitem', { name: 'हिन्दी' }).click();
  await page.getByText('आपकी ज़रूरत है').waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'hi');
  const context = page.context();
  await page.waitForFunction(async () => ((await (await fetch('/console/api/me')).json()) as { data: { language: string } }).data.language === 'hi');
  await context.close();
});

test('a viewer sees, and has no control that only others may use', async () => {
  const page = await stage.open('/', { role: 'viewer' });
  await needsYou(page);
  assert.equal(await page.getByRole('link', { name: 'New campaign' }).count(), 0);
  assert.equal(await page.getByRole('link', { name: 'Place a call' }).count(), 0);
  noConsoleErrors(page);
});

test('another role is known when the person comes back to the page', async () => {
  await stage.service.cookie('viewer');
  const page = await stage.open('/', { role: 'viewer' });
  await page.locator('[data-connection="live"]').waitFor({ state: 'attached' });
  const members = (await stage.service.as('owner', 'GET', '/v1/members')).data as { id: string; email: string }[];
  const viewer = members.find((one) => one.email === stage.service.email('viewer'));
  await page.getByRole('button', { name: /^Workspace / }).click();
  await page.getByRole('menuitem', { name: /Demo.*Viewer/ }).waitFor();
  await stage.service.as('owner', 'PATCH', `/v1/members/${viewer?.id}`, { role: 'editor' });
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
  await page.getByRole('menuitem', { name: /Demo.*Editor/ }).waitFor();
  noConsoleErrors(page);
});

test('a suspended workspace is one page, and nothing under it', async () => {
  const { service } = stage;
  const page = await stage.open('/', { role: 'owner' });
  await needsYou(page);
  await service.api('PATCH', `/v1/workspaces/${service.workspace}`, { suspended: true }, 'operator');
  await page.getByRole('heading', { name: 'This workspace is suspended' }).waitFor();
  await service.api('PATCH', `/v1/workspaces/${service.workspace}`, { suspended: false }, 'operator');
  await page.reload();
  await needsYou(page);
  noConsoleErrors(page, FAILED);
});
