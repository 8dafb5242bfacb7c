import type { Page } from 'playwright-core';
import { ATTACKS } from '../fixtures.ts';
import type { Stage } from '../browser.ts';
import type { PageRow } from '../table.ts';

interface Made { readonly agent: string; readonly chat: string; readonly base: string }
let made: Promise<Made> | null = null;

/** An agent whose names and prompts attack, with a fault; a chat agent with a test link; a knowledge base with documents. */
async function make(stage: Stage): Promise<Made> {
  const as = (method: string, path: string, body?: unknown) => stage.service.as('owner', method, path, body);
  const base = String((await as('POST', '/v1/knowledge-bases', { name: ATTACKS.markup })).data.id);
  await as('POST', `/v1/knowledge-bases/${base}/documents`, { title: ATTACKS.rightToLeft, text: `# Fees\n\nA late payment costs ₹500 and 2% a month. ${ATTACKS.markup}` });
  await as('POST', `/v1/knowledge-bases/${base}/documents`, { title: 'Hours', text: 'Branches are open from 10 to 4 on weekdays.' });
  const agent = String((await as('POST', '/v1/agents', { name: ATTACKS.markup, language: 'en', languages: ['en', 'hi'] })).data.id);
  const { draftVersion } = (await as('GET', `/v1/agents/${agent}/flow`)).data;
  await as('PUT', `/v1/agents/${agent}/flow`, { baseVersion: draftVersion, graph: attacking() });
  const chat = String((await as('POST', '/v1/agents', { name: `${ATTACKS.devanagari.slice(0, 100)}`, channel: 'chat', direction: 'inbound', knowledgeBaseId: base })).data.id);
  await as('POST', `/v1/agents/${chat}/test-links`, { name: ATTACKS.markup.slice(0, 60) });
  return { agent, chat, base };
}
const prepare = (stage: Stage): Promise<Made> => (made ??= make(stage).then((one) => { ids = one; return one; }));
let ids: Made = { agent: '', chat: '', base: '' };

function attacking() {
  return {
    startNodeId: 'ask', variables: [{ name: 'name', required: true, description: ATTACKS.markup }, { name: 'company', default: ATTACKS.rightToLeft }],
    nodes: [
      { id: 'ask', type: 'collect', name: ATTACKS.markup, text: `नमस्ते {{name}}, ${ATTACKS.devanagari}`, texts: { hi: ATTACKS.devanagari }, field: { key: 'right_person', label: ATTACKS.markup, type: 'boolean' }, attempts: 3, next: 'who', onFail: 'sorry' },
      { id: 'who', type: 'branch', name: 'Is it them?', cases: [{ variable: 'right_person', op: 'eq', value: true, next: 'talk' }], otherwise: 'sorry' },
      { id: 'talk', type: 'converse', name: ATTACKS.rightToLeft, prompt: ATTACKS.long, exits: [{ when: ATTACKS.markup, next: 'date' }, { when: 'says it is paid', next: 'look' }, { when: ATTACKS.rightToLeft, next: 'person' }], maxTurns: 12 },
      { id: 'date', type: 'collect', name: 'Promise date', text: 'किस तारीख़ तक?', field: { key: 'promise_date', label: 'Promise date', type: 'date', confirm: true }, next: 'link' },
      { id: 'look', type: 'tool', name: 'Look the payment up', arguments: { id: '{{name}}' }, next: 'bye', onError: 'sorry' },
      { id: 'person', type: 'transfer', name: 'To a person', transferNumbers: ['+919812345678'], mode: 'warm', onFail: 'sorry' },
      { id: 'link', type: 'message', name: 'Payment link', template: 'payment_link_hi', next: 'bye' },
      { id: 'bye', type: 'end', name: ATTACKS.devanagari, text: 'धन्यवाद', outcome: 'promised' }, { id: 'sorry', type: 'end', name: 'Sorry', text: ATTACKS.long.slice(0, 4_000), outcome: 'wrong_person' },
    ],
  };
}
const tab = (name: RegExp) => async (page: Page): Promise<void> => {
  const tabs = page.getByRole('tab', { name });
  if (!(await tabs.isVisible())) await page.getByRole('button', { name: 'Test', exact: true }).click();
  await tabs.click();
  await page.locator(`[role="tab"][aria-selected="true"]`).filter({ hasText: name }).waitFor();
};
const wide = (page: Page): boolean => (page.viewportSize()?.width ?? 0) > 760;

export const rows: readonly PageRow[] = [
  {
    name: 'agents', path: () => '/agents', heading: /^Agents$/, prepare,
    empty: { request: /\/v1\/agents(\?|$)/, answer: { data: [] }, says: /No agent yet/ },
    failing: { request: /\/v1\/agents(\?|$)/, says: /The agents could not be read/ },
    states: { new: async (page) => { await page.getByRole('button', { name: /New agent/ }).click(); await page.getByRole('dialog').getByText('What is it for?').waitFor(); } },
    keys: [
      { press: ['n'], sees: (page) => page.getByRole('dialog').getByText('What is it for?').waitFor() },
      { press: ['Escape'], sees: (page) => page.getByRole('dialog').waitFor({ state: 'detached' }) },
      { press: ['/', 'z', 'z'], sees: (page) => page.getByText('No agents match.').waitFor() },
    ],
  },
  {
    name: 'flow', path: () => `/agents/${ids.agent}/flow`, heading: /^<img src=x/, prepare,
    failing: { request: /\/v1\/agents\/[^/]+\/flow(\?|$)/, says: /The flow could not be read/ },
    states: {
      step: async (page) => {
        if (wide(page)) await page.locator('.react-flow__node[data-id="ask"]').click();
        else await page.getByRole('gridcell').first().click();
        await page.locator('.insp[data-step="ask"]').waitFor();
        await page.getByLabel('Question', { exact: true }).waitFor();
      },
      issues: async (page) => { await tab(/Issues/)(page); await page.getByText('no tool is chosen').first().waitFor(); },
      versions: async (page) => {
        await tab(/Versions/)(page);
        await page.getByRole('button', { name: /Compare with v1/ }).click();
        await page.locator('.diff[data-changes]').waitFor();
      },
      test: async (page) => {
        await tab(/^Test/)(page);
        await page.getByRole('button', { name: 'Begin', exact: true }).click();
        await page.locator('.tester[data-at="ask"]').waitFor();
      },
      list: async (page) => {
        if (!wide(page)) await page.getByRole('button', { name: 'Back to the steps' }).click();
        await page.getByRole('radio', { name: 'List' }).click();
        await page.getByRole('grid', { name: 'Steps of the flow' }).waitFor();
      },
    },
    keys: [
      { press: ['ArrowRight'], sees: async () => undefined },
      { press: ['f'], sees: (page) => page.getByRole('dialog', { name: 'Find a step' }).waitFor() },
      { press: ['P', 'r', 'o', 'm', 'i', 's', 'e', 'ArrowDown', 'Enter'], sees: (page) => page.locator('.insp[data-step="date"]').waitFor() },
      { press: ['Escape'], sees: async () => undefined },
      { press: ['t'], sees: (page) => page.getByRole('tab', { name: 'Test', selected: true }).waitFor() },
    ],
  },
  {
    name: 'agent-settings', path: () => `/agents/${ids.chat}/settings`, heading: /^अति/, prepare,
    failing: { request: /\/v1\/agents\/[^/]+(\?|$)/, says: /The agent could not be read/ },
    states: {
      link: async (page) => { await page.getByRole('button', { name: 'New test link' }).click(); await page.getByRole('dialog').getByLabel('Name').waitFor(); },
      changed: async (page) => { await page.keyboard.press('Escape'); await page.getByRole('dialog').waitFor({ state: 'detached' }); await page.getByText(/Takes card numbers/).click(); await page.getByText('There are changes that are not saved.').waitFor(); },
    },
  },
  { name: 'agent-hours', path: () => `/agents/${ids.agent}/hours`, heading: /^<img src=x/, prepare, failing: { request: /\/v1\/agents\/[^/]+(\?|$)/, says: /The agent could not be read/ } },
  { name: 'agent-numbers', path: () => `/agents/${ids.agent}/numbers`, heading: /^<img src=x/, prepare, empty: { request: /\/v1\/numbers(\?|$)/, answer: { data: [] }, says: /No number yet/ }, failing: { request: /\/v1\/numbers(\?|$)/, says: /The numbers could not be read/ } },
  {
    name: 'knowledge', path: () => '/knowledge', heading: /^Knowledge$/, prepare,
    empty: { request: /\/v1\/knowledge-bases(\?|$)/, answer: { data: [] }, says: /No knowledge base yet/ },
    failing: { request: /\/v1\/knowledge-bases(\?|$)/, says: /The knowledge bases could not be read/ },
    keys: [{ press: ['n'], sees: (page) => page.getByRole('dialog').getByLabel('Name').waitFor() }, { press: ['Enter'], sees: (page) => page.getByText('Give it a name.').waitFor() }],
  },
  {
    name: 'knowledge-base', path: () => `/knowledge/${ids.base}?ask=late+fee`, heading: /^<img src=x/, prepare,
    empty: { request: /\/search\?/, answer: { data: [] }, says: /Nothing was found/ },
    failing: { request: /\/v1\/knowledge-bases\/[^/]+(\?|$)/, says: /The knowledge base could not be read/ },
    states: { add: async (page) => { await page.getByRole('button', { name: 'Add a document' }).click(); await page.getByRole('menuitem', { name: 'Write a text' }).click(); await page.getByRole('dialog').getByLabel('Title').waitFor(); } },
  },
  {
    name: 'numbers', path: () => '/numbers', heading: /^Numbers$/, prepare,
    empty: { request: /\/v1\/numbers(\?|$)/, answer: { data: [] }, says: /No number yet/ },
    failing: { request: /\/v1\/numbers(\?|$)/, says: /The numbers could not be read/ },
    states: { answerer: async (page) => { await page.getByRole('button', { name: 'Change…' }).first().click(); await page.getByRole('dialog').getByText(/Who answers/).first().waitFor(); } },
  },
];
