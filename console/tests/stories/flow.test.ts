// A flow from its first step to its versions: by mouse, in the list without one, by two people, and with 300 steps.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { axe, noConsoleErrors, startStage, type Stage } from '../browser.ts';
import { ATTACKS } from '../fixtures.ts';
import type { Shape } from '../service.ts';

let stage: Stage;
before(async () => { stage = await startStage(); });
after(() => stage?.close());

const REFUSED = /Failed to load resource: the server responded with a status of 409/;
const saved = (page: Page): Promise<unknown> => page.waitForSelector('.flow[data-saved="true"]');
const flowOf = async (agent: string): Promise<Shape> => (await stage.service.as('owner', 'GET', `/v1/agents/${agent}/flow`)).data;
const agentIn = (page: Page): string => /agents\/(agt_[a-z0-9]+)/.exec(page.url())?.[1] ?? '';
const tab = (page: Page, name: RegExp): Promise<void> => page.getByRole('tab', { name }).click();

/** An agent with a flow of two steps, saved as the draft. */
async function agent(name: string, graph: unknown = SMALL): Promise<string> {
  const id = String((await stage.service.as('owner', 'POST', '/v1/agents', { name })).data.id);
  const { draftVersion } = await flowOf(id);
  await stage.service.as('owner', 'PUT', `/v1/agents/${id}/flow`, { graph, baseVersion: draftVersion });
  return id;
}
const SMALL = {
  startNodeId: 'ask', variables: [],
  nodes: [
    { id: 'ask', type: 'collect', name: 'Delivery', text: 'May we deliver tomorrow?', field: { key: 'delivery', label: 'Delivery', type: 'boolean' }, attempts: 2, next: 'yes', onFail: 'no' },
    { id: 'yes', type: 'end', name: 'Agreed', text: 'Thank you.', outcome: 'confirmed' }, { id: 'no', type: 'end', name: 'Later', text: 'We call again.', outcome: 'later' },
  ],
};

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, name: string, role = 'button'): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    const there = await page.evaluate(([wanted, kind]) => {
      const one = document.activeElement;
      const found = one?.getAttribute('role') ?? (one?.tagName === 'BUTTON' ? 'button' : one?.tagName === 'INPUT' || one?.tagName === 'TEXTAREA' ? 'textbox' : '');
      const label = one?.getAttribute('aria-label') ?? (one?.id ? document.querySelector(`label[for="${CSS.escape(one.id)}"]`)?.textContent : null) ?? (one?.getAttribute('aria-labelledby') ? document.getElementById(one.getAttribute('aria-labelledby')?.split(' ')[0] ?? '')?.textContent : null) ?? one?.textContent ?? '';
      return found === kind && label.trim().startsWith(wanted ?? '');
    }, [name, role] as const);
    if (there) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`no Tab leads to ${role} ${name}`);
}

test('an agent is made from an outcome, gets a step, is tried in writing, published with its difference, and an older version is restored', async () => {
  const page = await stage.open('/agents');
  await page.getByRole('button', { name: 'New agent' }).click();
  await page.getByRole('dialog').getByText('Survey').click();
  await page.getByRole('button', { name: 'Make the agent' }).click();
  await page.getByText('Give the agent a name.').waitFor();
  await page.getByRole('dialog').getByLabel('Name').fill('Survey of the autumn');
  await page.getByRole('button', { name: 'Make the agent' }).click();
  await page.getByRole('heading', { name: 'Survey of the autumn', level: 1 }).waitFor();
  const id = agentIn(page);
  assert.deepEqual((await flowOf(id)).issues.filter((issue: Shape) => issue.level === 'error'), []);

  await page.locator('.react-flow__node[data-id="done"]').waitFor();
  await page.locator('.react-flow__node[data-id="purpose"]').click();
  await page.getByRole('button', { name: 'Add a step', exact: true }).click();
  await page.getByRole('menuitem', { name: /^Say/ }).click();
  await page.locator('.insp[data-step="say_1"]').waitFor();
  await page.getByRole('button', { name: 'Publish…' }).click();
  await page.getByRole('tab', { name: /Issues/, selected: true }).waitFor();
  await page.getByRole('button', { name: /^Error/ }).first().click();
  await page.getByLabel('Text', { exact: true }).fill('Thank you for the score.');
  await page.getByRole('textbox', { name: 'Name' }).fill('Thanks first');
  await saved(page);

  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByLabel('name', { exact: true }).fill('Sunita');
  await page.getByLabel('company', { exact: true }).fill('Acme');
  await page.getByRole('button', { name: 'Begin', exact: true }).click();
  await page.locator('.tester[data-at="right_person"]').waitFor();
  await page.getByText('Am I speaking with Sunita?').waitFor();
  await say(page, 'yes');
  await page.locator('.tester[data-at="purpose"]').waitFor();
  assert.equal(await page.locator('.react-flow__node[data-id="purpose"] .node').getAttribute('data-mark'), 'at');
  await say(page, '9');
  await page.locator('.captured').getByText('score').waitFor();
  await page.getByText('It is over. Outcome: answered').waitFor();
  await page.getByText('Thank you for the score.').first().waitFor();
  await page.getByRole('button', { name: 'Say something else here' }).last().click();
  await page.locator('.tester[data-at="purpose"][data-ended="false"]').waitFor();
  await page.getByLabel('Say as the customer').fill('3');
  await page.keyboard.press('Enter');
  await page.locator('.tester[data-at="why"]').waitFor();

  await page.getByRole('button', { name: 'Publish…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/Thanks first is new \(Say\)/).waitFor();
  await dialog.getByText('Calls that are on keep v1.').waitFor();
  await dialog.getByLabel('Why').fill('the autumn survey');
  await axe(page);
  await dialog.getByRole('button', { name: 'Publish v2' }).click();
  await page.getByText('v2 is live').first().waitFor();
  assert.equal((await flowOf(id)).published.nodes.length, (await flowOf(id)).draft.nodes.length);

  await tab(page, /Versions/);
  const first = page.locator('.vers [data-version="1"]');
  await page.locator('.vers [data-version="2"]').getByText('the autumn survey').waitFor();
  await first.getByRole('button', { name: 'Compare' }).click();
  await first.locator('.diff').getByText(/Thanks first is new/).waitFor();
  await first.getByRole('button', { name: 'Restore as draft' }).click();
  await page.getByText('v1 is the draft again').waitFor();
  await page.locator('.canvas-in[data-steps="2"]').waitFor();
  assert.equal((await flowOf(id)).draft.nodes.length, 2);
  await page.getByRole('button', { name: 'Undo', exact: true }).last().click();
  await page.locator('.canvas-in[data-steps="2"]').waitFor({ state: 'detached' });
  await saved(page);
  assert.ok((await flowOf(id)).draft.nodes.some((node: Shape) => node.name === 'Thanks first'), 'Undo brings the draft back');
  noConsoleErrors(page);
  await page.context().close();
});
async function say(page: Page, words: string): Promise<void> {
  await page.getByLabel('Say as the customer').fill(words);
  await page.getByRole('button', { name: 'Send' }).click();
}

test('every outcome makes a flow that runs', async () => {
  const page = await stage.open('/agents');
  for (const [outcome, first] of [['Remind', 'right_person'], ['Verify', 'right_person'], ['Answer questions', 'talk'], ['Survey', 'right_person']] as const) {
    await page.goto(stage.address('/agents'));
    await page.getByRole('button', { name: 'New agent' }).click();
    await page.getByRole('dialog').getByText(outcome, { exact: true }).click();
    await page.getByRole('dialog').getByLabel('Name').fill(`For: ${outcome}`);
    await page.getByRole('button', { name: 'Make the agent' }).click();
    await page.getByRole('heading', { name: `For: ${outcome}`, level: 1 }).waitFor();
    assert.deepEqual((await flowOf(agentIn(page))).issues.filter((issue: Shape) => issue.level === 'error'), [], outcome);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('button', { name: 'Begin', exact: true }).click();
    await page.locator(`.tester[data-at="${first}"]`).waitFor();
  }
  noConsoleErrors(page);
  await page.context().close();
});

test('two people on one draft: each sees the other, and a conflict loses nothing', async () => {
  const id = await agent('Two people');
  const one = await stage.open(`/agents/${id}/flow?step=ask`);
  const two = await stage.open(`/agents/${id}/flow?step=yes`, { role: 'editor' });
  await one.getByText(/Kavya Rao has it open too/).waitFor();
  await two.getByText(/Asha Kulkarni has it open too/).waitFor();

  // What one saves is shown to the other, who has changed nothing.
  await one.getByLabel('Question', { exact: true }).fill('May we come tomorrow?');
  await saved(one);
  await two.locator('.react-flow__node[data-id="ask"]').getByText('May we come tomorrow?').waitFor();

  // Both change at the same time: the second save is refused, and asks.
  await two.route(/\/flow$/, async (route) => { if (route.request().method() === 'PUT') await held; await route.continue(); });
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => { release = resolve; });
  await two.getByLabel('Said at the end').fill('Many thanks.');
  await two.locator('.react-flow__node[data-id="ask"]').click();
  await two.getByLabel('Question', { exact: true }).fill('Is tomorrow all right, asks Kavya?');
  await one.getByLabel('Question', { exact: true }).fill('Is tomorrow all right, asks Asha?');
  await saved(one);
  release();
  await two.locator('[data-conflict]').getByText(/Asha Kulkarni saved while you typed/).waitFor();
  assert.equal((await flowOf(id)).draft.nodes[0].text, 'Is tomorrow all right, asks Asha?', 'nothing was overwritten');
  await axe(two);
  await two.getByRole('button', { name: 'Compare…' }).click();
  const both = two.locator('[data-part="step:ask"]');
  await both.getByText('both changed it').waitFor();
  await both.getByText('Is tomorrow all right, asks Kavya?').waitFor();
  await both.getByText('Is tomorrow all right, asks Asha?').waitFor();
  await two.locator('[data-part="step:yes"]').getByText('you changed it').waitFor();
  await axe(two);
  await both.getByRole('radio', { name: 'Theirs' }).click();
  await two.getByRole('button', { name: 'Save what I chose' }).click();
  await saved(two);
  const { draft } = await flowOf(id);
  assert.equal(draft.nodes[0].text, 'Is tomorrow all right, asks Asha?');
  assert.equal(draft.nodes[1].text, 'Many thanks.');

  // What was not chosen is one Undo away.
  await two.locator('.react-flow__pane').click({ position: { x: 300, y: 700 } });
  await two.keyboard.press('Control+z');
  await two.locator('.react-flow__node[data-id="ask"]').getByText('Is tomorrow all right, asks Kavya?').waitFor();
  await saved(two);
  noConsoleErrors(one);
  noConsoleErrors(two, REFUSED);
  await one.context().close();
  await two.context().close();
});

test('take theirs: the draft is theirs, mine comes back by Undo', async () => {
  const id = await agent('Take theirs');
  const page = await stage.open(`/agents/${id}/flow?step=ask`);
  await page.route(/\/flow$/, async (route) => {
    if (route.request().method() === 'PUT' && !over) { over = true; const { draftVersion, draft } = await flowOf(id); await stage.service.as('admin', 'PUT', `/v1/agents/${id}/flow`, { graph: { ...draft, nodes: draft.nodes.map((node: Shape) => (node.id === 'ask' ? { ...node, text: 'Theirs?' } : node)) }, baseVersion: draftVersion }); }
    await route.continue();
  });
  let over = false;
  await page.getByLabel('Question', { exact: true }).fill('Mine?');
  await page.getByText(/Arjun Mehta saved while you typed/).waitFor();
  await page.getByRole('button', { name: 'Take theirs' }).click();
  await page.locator('[data-conflict]').waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Question', { exact: true }).inputValue(), 'Theirs?');
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  assert.equal(await page.getByLabel('Question', { exact: true }).inputValue(), 'Mine?');
  await saved(page);
  assert.equal((await flowOf(id)).draft.nodes[0].text, 'Mine?');
  noConsoleErrors(page, REFUSED);
  await page.context().close();
});

test('the same in the list, without a mouse: a step is added, connected, tried, published; a version is restored', async () => {
  const id = await agent('By keyboard');
  const page = await stage.open(`/agents/${id}/flow?view=list`);
  await tabTo(page, 'Steps of the flow', 'grid');
  await page.keyboard.press('ArrowDown');
  await page.locator('.insp[data-step="yes"]').waitFor();
  await page.keyboard.press('ArrowUp');
  await page.locator('.insp[data-step="ask"]').waitFor();
  await page.keyboard.press('a');
  await page.getByRole('menuitem', { name: /^Say/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.insp[data-step="say_1"]').waitFor();
  await page.waitForFunction(() => document.activeElement?.closest('.insp[data-step="say_1"]') !== null && document.activeElement?.tagName === 'INPUT');
  await page.keyboard.type('Tell the hours');
  await page.keyboard.press('Tab');
  await page.keyboard.type('We come between ten and four.');
  await tabTo(page, 'next goes to');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'next goes to' }).waitFor();
  await page.keyboard.type('Agreed');
  await page.getByRole('option', { name: /Agreed/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await saved(page);
  const { draft } = await flowOf(id);
  assert.deepEqual(draft.nodes.find((node: Shape) => node.id === 'say_1'), { id: 'say_1', type: 'say', text: 'We come between ten and four.', next: 'yes', name: 'Tell the hours' });
  assert.equal(draft.nodes[0].next, 'say_1');

  await page.keyboard.press('t');
  await page.getByRole('tab', { name: 'Test', selected: true }).waitFor();
  await tabTo(page, 'Begin');
  await page.keyboard.press('Enter');
  await page.locator('.tester[data-at="ask"]').waitFor();
  await page.waitForFunction(() => document.activeElement?.closest('.tester') !== null && document.activeElement?.tagName === 'INPUT');
  await page.keyboard.type('yes');
  await page.keyboard.press('Enter');
  await page.getByText('It is over. Outcome: confirmed').waitFor();

  await page.locator('h1').evaluate((one) => { (one as HTMLElement).tabIndex = -1; (one as HTMLElement).focus(); });
  await tabTo(page, 'Publish…');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText(/Tell the hours is new/).waitFor();
  await page.keyboard.type('says the hours');
  await page.keyboard.press('Enter');
  await page.getByText('v2 is live').first().waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  await tabTo(page, 'Test', 'tab');
  await page.keyboard.press('ArrowRight');
  await page.locator('.vers [data-version="1"]').waitFor();
  await tabTo(page, 'Compare');
  for (let presses = 0; presses < 20 && !(await page.evaluate(() => document.activeElement?.textContent === 'Restore as draft' && document.activeElement.closest('[data-version="1"]') !== null)); presses += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('v1 is the draft again').waitFor();
  await page.locator('.steplist[data-steps="2"]').waitFor();
  await axe(page);
  noConsoleErrors(page);
  await page.context().close();
});

test('the canvas by keys: arrows follow the edges, Delete has an Undo, and 100 steps come back across saves', async () => {
  const id = await agent('Keys');
  const page = await stage.open(`/agents/${id}/flow`);
  await page.locator('.react-flow__node[data-id="ask"]').focus();
  await page.keyboard.press('ArrowRight');
  await page.locator('.insp[data-step="ask"]').waitFor();
  await page.keyboard.press('ArrowRight');
  await page.locator('.insp[data-step="yes"]').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.locator('.insp[data-step="no"]').waitFor();
  await page.keyboard.press('ArrowLeft');
  await page.locator('.insp[data-step="ask"]').waitFor();
  await page.keyboard.press('ArrowRight');
  await page.locator('.insp[data-step="yes"]').waitFor();
  await page.keyboard.press('Delete');
  await page.locator('.canvas-in[data-steps="2"]').waitFor();
  await saved(page);
  await page.keyboard.press('Control+z');
  await page.locator('.canvas-in[data-steps="3"]').waitFor();
  await saved(page);
  assert.equal((await flowOf(id)).draft.nodes[0].next, 'yes');
  await page.locator('.react-flow__node[data-id="yes"]').click();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.closest('.insp') !== null && document.activeElement?.tagName === 'INPUT');
  noConsoleErrors(page);
  await page.context().close();
});

test('a lost connection keeps what was typed, and saves it when it is back', async () => {
  const id = await agent('Lost');
  const page = await stage.open(`/agents/${id}/flow?step=ask`);
  stage.front.cut(true);
  await page.getByLabel('Question', { exact: true }).fill('Written while nobody listened?');
  await page.locator('.saved[data-state="failed"]').waitFor();
  stage.front.cut(false);
  await page.locator('.saved[data-state="saved"]').waitFor({ timeout: 40_000 });
  assert.equal((await flowOf(id)).draft.nodes[0].text, 'Written while nobody listened?');
  await page.context().close();
});

test('a viewer sees the flow and can change nothing', async () => {
  const id = await agent('Looked at');
  const page = await stage.open(`/agents/${id}/flow?step=ask`, { role: 'viewer' });
  await page.getByText(/changing it takes an editor/).waitFor();
  await page.locator('.insp').getByText('May we deliver tomorrow?').first().waitFor();
  for (const name of ['Publish…', 'Test', 'Add a step', 'Delete the step']) assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name);
  assert.equal(await page.locator('.insp input, .insp textarea').count(), 0);
  await axe(page);
  noConsoleErrors(page);
  await page.context().close();
});

test('test mode shows the flow, the agents, knowledge and numbers, and changes nothing of them', async () => {
  const id = await agent('In test mode');
  for (const [path, heading] of [[`/agents/${id}/flow?step=ask`, 'In test mode'], [`/agents/${id}/settings`, 'In test mode'], ['/agents', 'Agents'], ['/knowledge', 'Knowledge'], ['/numbers', 'Numbers']] as const) {
    const page = await stage.open(path, { mode: 'test' });
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await page.getByText('Test mode only reads this page.').waitFor();
    for (const name of ['Publish…', 'Test', 'Add a step', 'New agent', 'New knowledge base', 'Change…', 'Put in service…', 'Save']) assert.equal(await page.locator('main').getByRole('button', { name, exact: true }).count(), 0, `${path}: ${name}`);
    noConsoleErrors(page);
    await page.context().close();
  }
});

test('a document is added, found with its score, and removed', async () => {
  const base = String((await stage.service.as('owner', 'POST', '/v1/knowledge-bases', { name: 'Fees' })).data.id);
  const page = await stage.open(`/knowledge/${base}`);
  await page.getByRole('button', { name: 'Add a document' }).click();
  await page.getByRole('menuitem', { name: 'A file' }).click();
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose a file…' }).click();
  await (await chooser).setFiles({ name: 'fees.md', mimeType: 'text/markdown', buffer: Buffer.from('# Late fee\n\nA late payment costs 500 rupees.') });
  await page.getByRole('dialog').getByText('fees.md').waitFor();
  await page.getByRole('button', { name: 'Upload and add' }).click();
  await page.locator('.docs').getByText('fees.md').waitFor();
  await page.getByLabel('A question, as a customer would say it').fill('what is the late fee');
  await page.keyboard.press('Enter');
  await page.locator('.hits').getByText('A late payment costs 500 rupees.').waitFor();
  assert.match(await page.locator('.hits .score').first().innerText(), /^[01]\.\d\d$/);
  await page.getByRole('button', { name: 'More about fees.md' }).click();
  await page.getByRole('menuitem', { name: 'Remove the document…' }).click();
  await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name: 'Remove the document' }).click();
  await page.getByText('No document yet').waitFor();
  await page.getByText('Nothing was found').waitFor();
  noConsoleErrors(page);
  await page.context().close();
});

test('text that attacks is text: in names, questions, exits, and what is said in the tester', async () => {
  const id = await agent('Attacks');
  const page = await stage.open(`/agents/${id}/flow?step=ask`);
  for (const text of [ATTACKS.markup, ATTACKS.rightToLeft, ATTACKS.devanagari, ATTACKS.long.slice(0, 4_000).trim()]) {
    await page.getByRole('textbox', { name: 'Name' }).fill(text.slice(0, 200));
    await page.getByLabel('Question', { exact: true }).fill(text);
    await saved(page);
    const { draft } = await flowOf(id);
    assert.equal(draft.nodes[0].text, text);
    await page.reload();
    await page.locator('.react-flow__node[data-id="ask"]').waitFor();
    assert.equal(await page.getByLabel('Question', { exact: true }).inputValue(), text);
  }
  await page.getByLabel('Question', { exact: true }).fill(ATTACKS.markup);
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByRole('button', { name: 'Begin', exact: true }).click();
  await page.locator('.tester[data-at="ask"]').waitFor();
  await say(page, ATTACKS.markup);
  await page.locator('.bubbles li[data-who="customer"]').getByText(ATTACKS.markup).waitFor();
  assert.equal(await page.locator('.flow img, .flow script').count(), 0);
  assert.match(await page.title(), /^Attacks/);
  noConsoleErrors(page);
  await page.context().close();
});

/** 300 steps in fifteen rows of twenty, as a flow of many questions has them. */
function many(steps: number): Shape {
  const nodes: Shape[] = [];
  for (let at = 0; at < steps - 1; at += 1) nodes.push({ id: `q${at}`, type: 'collect', name: `Question ${at + 1}`, text: `What is the answer to question ${at + 1}, as far as you know?`, field: { key: `a${at}`, label: `Answer ${at + 1}`, type: 'text' }, attempts: 2, next: at === steps - 2 ? 'end' : `q${at + 1}`, onFail: at % 20 === 0 ? 'end' : `q${Math.min(at + 2, steps - 2)}`, position: { x: (at % 20) * 268, y: Math.floor(at / 20) * 190 } });
  nodes.push({ id: 'end', type: 'end', name: 'End', text: 'Goodbye.', outcome: 'done', position: { x: 20 * 268, y: 0 } });
  nodes[steps - 2] = { ...nodes[steps - 2], onFail: 'end' };
  return { startNodeId: 'q0', variables: [], nodes };
}
test('300 steps move: how long frames take while the canvas is dragged and a step is moved', async (context) => {
  const id = await agent('Three hundred', many(300));
  const page = await stage.open(`/agents/${id}/flow`);
  await page.locator('.canvas-in[data-steps="300"]').waitFor();
  await page.locator('.react-flow__node').first().waitFor();
  for (let times = 0; times < 3; times += 1) await page.getByRole('button', { name: 'Zoom in' }).click();
  const drawn = await page.locator('.react-flow__node').count();
  assert.ok(drawn < 300, `only what is visible is drawn, not ${drawn}`);
  await page.evaluate(() => { const frames: number[] = []; let last = performance.now(); const tick = (now: number): void => { frames.push(now - last); last = now; requestAnimationFrame(tick); }; requestAnimationFrame(tick); Object.assign(globalThis, { frames }); });
  const pane = await page.locator('.react-flow__pane').boundingBox();
  assert.ok(pane);
  const drag = async (x: number, y: number, by: number): Promise<void> => {
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let at = 0; at < 60; at += 1) await page.mouse.move(x + Math.sin(at / 9) * by, y + Math.cos(at / 9) * by);
    await page.mouse.up();
  };
  const measured = async (what: string, act: () => Promise<unknown>): Promise<void> => {
    await page.evaluate(() => { (globalThis as unknown as { frames: number[] }).frames.length = 0; });
    await act();
    const frames = (await page.evaluate(() => (globalThis as unknown as { frames: number[] }).frames)).sort((a, b) => a - b);
    const at = (share: number): string => (frames[Math.floor(frames.length * share)] ?? 0).toFixed(1);
    context.diagnostic(`${what}: ${frames.length} frames, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, ${drawn} of 300 steps drawn`);
  };
  await measured('at rest', () => page.waitForFunction(() => (globalThis as unknown as { frames: number[] }).frames.length > 150));
  await measured('the canvas is dragged', () => drag(pane.x + pane.width / 2, pane.y + pane.height - 30, 180));
  const box = await page.locator('.react-flow__node').nth(Math.floor(drawn / 2)).boundingBox();
  assert.ok(box);
  await measured('a step is moved', () => drag(box.x + box.width / 2, box.y + 14, 180));
  await saved(page);
  noConsoleErrors(page);
  await page.context().close();
});
