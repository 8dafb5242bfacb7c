// Calls from end to end on the sandbox's lines: placed in the page, watched live, opened, played, graded and marked; each also without a mouse.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { axe, noConsoleErrors, startStage, type Stage } from '../browser.ts';
import { ATTACKS } from '../fixtures.ts';
import { startModel, type Model } from './model.ts';

const LONG = 120_000;
let stage: Stage;
let model: Model;
before(async () => {
  model = await startModel();
  Object.assign(process.env, model.env);
  stage = await startStage({ clock: 'real' });
  const { service } = stage;
  await service.as('owner', 'PUT', `/v1/agents/${service.agent}/evaluation`, { enabled: false, criteria: [{ key: 'polite', name: 'Was the agent polite?', kind: 'pass_fail', prompt: 'The agent greets.' }, { key: 'clear', name: 'Is the day clear?', kind: 'score', passThreshold: 70, prompt: 'How clear the day is.' }] });
  await service.api('POST', '/v1/contacts', { name: ATTACKS.markup.slice(0, 100), phone: '+919812349901', externalRef: 'STORY-1' });
  await service.api('POST', '/v1/contacts', { name: 'रोहित वर्मा', phone: '+919812349902', externalRef: 'STORY-2' });
});
after(async () => { await stage?.close(); await model?.close(); for (const name of Object.keys(model?.env ?? {})) delete process.env[name]; });

const idIn = (page: Page): string => /call_[0-9a-z]{26}/.exec(page.url())?.[0] ?? '';
/** Tab until what has the focus has this name. */
async function tabTo(page: Page, name: RegExp, most = 80): Promise<void> {
  for (let n = 0; n < most; n += 1) {
    const now = await page.evaluate(() => { const at = document.activeElement; return at && at !== document.body ? `${at.getAttribute('aria-label') ?? ''} ${at.textContent ?? ''}` : ''; });
    if (name.test(now)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`nothing with the name ${name} takes the focus`);
}
async function fillPlace(page: Page, number: string, keyboard: boolean): Promise<void> {
  await page.getByRole('dialog', { name: 'Place a call' }).waitFor();
  const field = page.getByRole('textbox', { name: 'Number' });
  if (keyboard) { await page.waitForFunction(() => document.activeElement?.getAttribute('type') === 'tel'); await page.keyboard.type(number); } else await field.fill(number);
  await page.locator('[data-forecast="dialled"], [data-forecast="window"]').waitFor();
}

describe('a simulated call in test mode', () => {
  for (const keyboard of [false, true]) test(keyboard ? 'without a mouse' : 'with a mouse', async () => {
    const page = await stage.open('/calls', { mode: 'test' });
    if (keyboard) await page.keyboard.press('n'); else await page.getByRole('button', { name: /^Place a call/ }).first().click();
    await fillPlace(page, '9812345678', keyboard);
    if (keyboard) await page.keyboard.press('Enter'); else await page.getByRole('button', { name: 'Simulate 1 call' }).click();
    await page.waitForURL(/\/test\/live\?call=call_/);
    const id = idIn(page);
    await page.locator(`.livecall[data-call="${id}"]`).waitFor();
    await page.locator('.livecall[data-over="true"]').waitFor({ timeout: LONG });
    if (keyboard) { await tabTo(page, /^\s*Open the call$/); await page.keyboard.press('Enter'); } else await page.getByRole('link', { name: 'Open the call' }).click();
    await page.locator('.turns li').first().waitFor();
    await page.getByText('Simulated calls have no sound.').waitFor();
    assert.equal(idIn(page), id);
    noConsoleErrors(page);
    await page.context().close();
  });
});

describe('a call on a line of the sandbox', () => {
  for (const keyboard of [false, true]) test(keyboard ? 'without a mouse' : 'with a mouse', async () => {
    const page = await stage.open('/calls');
    const ranges: string[] = [];
    page.on('request', (asked) => { if (asked.url().includes('/v1/recordings/')) ranges.push(asked.headers().range ?? ''); });
    if (keyboard) await page.keyboard.press('n'); else await page.getByRole('button', { name: /^Place a call/ }).first().click();
    await fillPlace(page, keyboard ? '98123 49902' : '98123 49901', keyboard);
    if (keyboard) await page.keyboard.press('Enter'); else await page.getByRole('button', { name: /^Call 1 person/ }).click();
    await page.waitForURL(/\/live\?call=call_/);
    const id = idIn(page);
    await page.locator('.livecall[data-over="true"]').waitFor({ timeout: LONG });
    if (keyboard) { await tabTo(page, /^\s*Open the call$/); await page.keyboard.press('Enter'); } else await page.getByRole('link', { name: 'Open the call' }).click();
    await page.locator('.player').waitFor({ timeout: LONG });
    await plays(page, keyboard);
    assert.ok(ranges.length > 0 && ranges.every((range) => /^bytes=\d+-/.test(range)), ranges.join());
    await axe(page);
    assert.equal(idIn(page), id);
    assert.equal(await page.locator('.call img, .call script').count(), 0);
    assert.match(await page.title(), /^Call · /);
    noConsoleErrors(page);
    await page.context().close();
  });
});

async function plays(page: Page, keyboard: boolean): Promise<void> {
  const moved = () => page.waitForFunction(() => Number(document.querySelector('[data-position]')?.getAttribute('data-position')) > 0.5);
  if (keyboard) await page.keyboard.press('Space'); else await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.locator('.player[data-playing="true"]').waitFor();
  await moved();
  if (keyboard) await page.keyboard.press('Space'); else await page.getByRole('button', { name: 'Pause' }).click();
  await page.locator('.player[data-playing="false"]').waitFor();
  const position = (): Promise<number> => page.locator('[data-position]').getAttribute('data-position').then(Number);
  const before = await position();
  if (keyboard) await page.keyboard.press('ArrowRight'); else await page.locator('.turns .at').last().click();
  await page.waitForFunction((from) => Number(document.querySelector('[data-position]')?.getAttribute('data-position')) > from + 0.4, before);
}

/** A call on which the person was understood; a busy machine may miss a word. */
async function understood(): Promise<string> {
  const { service } = stage;
  for (let n = 0; n < 4; n += 1) {
    const placed = await service.api('POST', '/v1/calls', { agentId: service.agent, toNumber: '+919812349902', variables: { name: 'Rohit' }, metadata: { sandboxQuestion: 'When is the payment due?' } });
    const id = String(placed.interactionId);
    for (let ended = false; !ended; await pause(500)) {
      const { data } = await service.api('GET', `/v1/calls/${id}`);
      ended = data.state === 'ended' && data.summary !== null;
      if (ended && data.transcript.some((turn: { role: string }) => turn.role === 'customer')) return id;
      if (data.state === 'ended' && !data.transcript.some((turn: { role: string }) => turn.role === 'customer')) break;
    }
  }
  return assert.fail('the sandbox understood nobody');
}

describe('a grade and a mark', () => {
  let id = '';
  before(async () => { id = await understood(); });
  for (const keyboard of [false, true]) test(keyboard ? 'without a mouse' : 'with a mouse', async () => {
    const page = await stage.open(`/calls/${id}`);
    await marks(page, keyboard);
    await axe(page);
    const told = await stage.service.as('owner', 'GET', `/v1/calls/${id}/evaluations`);
    assert.deepEqual(told.data[0].marks.map((mark: { criterionKey: string; verdict: string }) => [mark.criterionKey, mark.verdict]), [['polite', 'fail']]);
    noConsoleErrors(page);
    await page.context().close();
  });
});

async function marks(page: Page, keyboard: boolean): Promise<void> {
  const opens = page.locator('.grades').getByRole('button', { name: /^Grade (it|again)…$/ });
  await opens.waitFor({ timeout: LONG });
  if (keyboard) { await tabTo(page, /^\s*Grade (it|again)…$/); await page.keyboard.press('Enter'); } else await opens.click();
  await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByText('Grade this conversation by 2 criteria').waitFor();
  if (keyboard) { await tabTo(page, /^\s*Grade for/); await page.keyboard.press('Enter'); } else await page.getByRole('button', { name: /^Grade for/ }).click();
  await page.locator('.scrim').waitFor({ state: 'detached' });
  await page.locator('.grades[data-grades="graded"] [data-mark=""]').first().waitFor({ timeout: LONG });
  const criterion = page.locator('li[data-criterion="polite"]');
  if (keyboard) { await tabTo(page, /“Hello/); await page.keyboard.press('Enter'); } else await criterion.locator('button.quote').first().click();
  await page.locator('.turns li[data-marked="true"]').waitFor();
  if (keyboard) { await tabTo(page, /^\s*Pass$/); await page.keyboard.press('ArrowRight'); await page.keyboard.press('Space'); } else await criterion.getByRole('radio', { name: 'Fail' }).click();
  await criterion.locator('[data-mark="fail"]').waitFor();
}

describe('a live call', () => {
  test('is ended by two presses, never by one; rows keep their place under the pointer', async () => {
    const page = await stage.open('/live');
    const placed = await stage.service.api('POST', '/v1/calls', { agentId: stage.service.agent, toNumber: '+919812349902', variables: { name: 'Rohit' }, metadata: { sandboxQuestion: 'Within how many days can shoes be returned?', note: ATTACKS.markup } });
    await page.locator(`.livecall[data-call="${String(placed.interactionId)}"]`).waitFor({ timeout: LONG });
    await page.locator('.bubbles li').first().waitFor({ timeout: LONG });
    assert.match(await page.locator('.bubbles li').first().innerText(), /this is Asha/);
    assert.equal(await page.locator('.live img, .live script').count(), 0);
    await page.locator('.livelist .grid').hover();
    await stage.service.api('POST', '/v1/calls', { agentId: stage.service.agent, toNumber: '+919812349901', variables: { name: 'x' } });
    await page.getByRole('button', { name: '1 newer' }).waitFor({ timeout: LONG });
    assert.equal(await page.locator('.livelist .gr').count(), 1);
    let asked = 0;
    page.on('request', (request) => { if (request.url().endsWith('/hangup')) asked += 1; });
    await page.keyboard.press('Shift+E');
    await page.getByText('Press again to end it').waitFor();
    await page.getByText('End the call…').waitFor();
    assert.equal(asked, 0);
    await page.keyboard.press('Shift+E');
    await page.getByText('Press again to end it').waitFor();
    await page.keyboard.press('Shift+E');
    await page.getByText('The call is ending').waitFor();
    assert.equal(asked, 1);
    noConsoleErrors(page);
    await page.context().close();
  });
});

test('a viewer reads a call, hears nothing, and has no control that changes or reveals', async () => {
  const { service } = stage;
  const id = String((await service.api('GET', '/v1/calls?state=ended&limit=1')).data[0].id);
  const page = await stage.open(`/calls/${id}`, { role: 'viewer' });
  await page.getByText('Recordings are heard by editors and above.').waitFor();
  for (const name of [/Call again/, /^Show$/, /Grade/, /Your mark/]) assert.equal(await page.getByRole('button', { name }).count(), 0, String(name));
  assert.equal(await page.locator('audio').count(), 0);
  await page.goto(stage.address('/calls'));
  await page.locator('.grid[data-rows]').waitFor();
  await page.keyboard.press('n');
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal(await page.getByRole('button', { name: /Place a call/ }).count(), 0);
  noConsoleErrors(page);
  await page.context().close();
});

test('new calls wait behind a pill, filters stand in the address, what is searched for does not', async () => {
  const { service } = stage;
  const page = await stage.open('/calls');
  await page.locator('.gr .who').first().waitFor();
  const first = await page.locator('.gr').first().innerText();
  await service.api('POST', '/v1/calls', { agentId: service.agent, toNumber: '+919812341111', variables: { name: 'x' } });
  const pill = page.getByRole('button', { name: /newer$/ });
  await pill.waitFor({ timeout: LONG });
  assert.equal((await page.locator('.gr').first().innerText()).split('\n')[0], first.split('\n')[0]);
  await pill.click();
  await page.locator('.gr').first().getByText('98••• ••111').waitFor();
  await page.getByRole('button', { name: /^State/ }).click();
  await page.getByRole('option', { name: /^Ended/ }).click();
  await page.keyboard.press('Escape');
  await page.waitForURL(/state=ended/);
  await page.getByRole('searchbox', { name: 'Find a call' }).fill('रोहित');
  await page.waitForFunction(() => document.querySelector('.grid')?.textContent?.includes('रोहित') && !document.querySelector('.grid')?.textContent?.includes('98••• ••111'));
  assert.doesNotMatch(decodeURIComponent(page.url()), /रोहित/);
  await page.goBack();
  await page.waitForURL((url) => !url.search.includes('state='));
  noConsoleErrors(page);
  await page.context().close();
});
