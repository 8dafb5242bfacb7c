import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { ATTACKS } from '../fixtures.ts';
import { fillInbox, type Chats } from '../stories/inbox-room.ts';
import type { Stage } from '../browser.ts';
import type { PageRow } from '../table.ts';

const made = new WeakMap<Stage, Promise<Chats>>();
let chats: Chats;
async function prepare(stage: Stage): Promise<void> {
  let one = made.get(stage);
  if (!one) { one = fillInbox(stage.service); made.set(stage, one); }
  chats = await one;
}

const reply = (page: Page) => page.getByRole('textbox', { name: /^(Reply|जवाब)$/ });
const row = (page: Page, name: string | RegExp) => page.getByRole('grid', { name: 'Chats' }).getByRole('row', { name });

/** The sandbox has no model that grades: a run as the service answers it. */
const graded = () => ({
  id: 'evr_01m8f5j0hxeyk8rnm69h4gzjwv', kind: 'chat', chatId: chats.ended, callId: null, agentId: chats.room.agent, status: 'graded', cause: null, runNo: 1, trigger: 'manual', sweepId: null, criteriaVersion: 1,
  model: 'a-model', createdAt: '2026-11-27T10:00:00Z', evaluatedAt: '2026-11-27T10:00:09Z', passed: 1, failed: 1, notApplicable: 0, chargedMinor: 100, marks: [],
  results: [
    { criterionKey: 'polite', name: 'Greets politely', kind: 'pass_fail', passThreshold: null, verdict: 'pass', score: null, reasoning: 'The agent greets first.', quotes: [{ text: 'नमस्ते, मैं Aarti हूँ।', line: 0 }] },
    { criterionKey: 'clear', name: ATTACKS.markup, kind: 'score', passThreshold: 60, verdict: 'fail', score: 41, reasoning: ATTACKS.devanagari, quotes: [{ text: ATTACKS.rightToLeft, line: 1 }] },
  ],
});

export const rows: readonly PageRow[] = [
  {
    name: 'inbox', prepare, path: () => '/inbox?view=open', heading: /^Inbox$/,
    empty: { request: /\/v1\/inbox\?view=open/, answer: { data: [], nextCursor: null }, says: /^No chat is open$/ },
    failing: { request: /\/v1\/inbox\?view=open/, says: /^The chats could not be read\.$/ },
    keys: [
      { press: ['Alt+ArrowDown'], sees: (page) => page.locator('.conv[data-chat]').waitFor() },
      { press: ['?'], sees: (page) => page.getByText('Reply, or take over').waitFor() },
    ],
  },
  { name: 'inbox-waiting', prepare, path: () => '/inbox', heading: /^Inbox$/, empty: { request: /\/v1\/inbox\?view=waiting&limit=50/, answer: { data: [], nextCursor: null }, says: /^Nobody waits for a person$/ } },
  {
    name: 'inbox-ended', prepare, path: () => `/inbox/${chats.ended}?view=ended`, heading: /^Inbox$/,
    states: {
      grades: async (page) => {
        await page.route(/\/v1\/chats\/\w+\/evaluations/, (route) => route.fulfill({ contentType: 'application/json', body: JSON.stringify({ data: [graded()], nextCursor: null }) }));
        const tab = page.getByRole('radio', { name: 'Grades' }).filter({ visible: true });
        if (await tab.count() === 0) { await page.locator('.chead').getByRole('button', { name: 'More actions' }).click(); await page.getByRole('menuitem', { name: 'Person and grades' }).click(); }
        await tab.click();
        await page.getByText('1 of 2 passed').filter({ visible: true }).waitFor();
        await page.getByRole('radiogroup', { name: 'Your mark of Greets politely' }).filter({ visible: true }).getByRole('radio', { name: 'Failed' }).click();
        await page.getByLabel('Why, for your colleagues').filter({ visible: true }).fill('It says नमस्ते only once.');
      },
    },
  },
  {
    name: 'inbox-chat', prepare, path: () => `/inbox/${chats.taken}?view=open`, heading: /^Inbox$/,
    failing: { request: /\/v1\/inbox\/chatsess_\w+$/, says: /^The chat could not be read\.$/ },
    states: {
      note: async (page) => { await page.getByRole('radio', { name: 'Note' }).click(); await page.getByText(/Only your team sees this|सिर्फ़/).or(page.getByPlaceholder('Only your team sees this')).first().waitFor(); },
      answers: async (page) => { await page.getByRole('radio', { name: 'Reply' }).click(); await reply(page).fill('/'); await page.getByRole('option').first().waitFor(); },
      ending: async (page) => {
        await reply(page).fill('');
        await page.locator('.chead').getByRole('button', { name: 'More actions' }).click();
        await page.getByRole('menuitem', { name: 'End the chat…' }).click();
        await page.getByRole('dialog').getByText('End this chat?').waitFor();
      },
    },
    keys: [
      { press: ['n'], sees: (page) => page.getByRole('textbox', { name: 'Private note' }).waitFor() },
      { press: ['Alt+ArrowDown'], sees: (page) => page.waitForFunction((id) => !location.pathname.endsWith(id), chats.taken) },
      { press: ['Alt+ArrowUp'], sees: (page) => page.waitForURL(new RegExp(chats.taken)) },
      { press: ['/'], sees: (page) => page.getByRole('option').first().waitFor() },
      { press: ['ArrowDown', 'Enter'], sees: async (page) => assert.match(await reply(page).inputValue(), /9 in the morning|सुनीता देवी जी/) },
    ],
  },
  { name: 'inbox-attack', prepare, path: () => `/inbox/${chats.attack}?view=open`, heading: /^Inbox$/, states: { untouched: async (page) => assert.match(await page.title(), /^Inbox/) } },
  { name: 'inbox-failed', prepare, path: () => `/inbox/${chats.failed}`, heading: /^Inbox$/, states: { reason: async (page) => { await page.getByText('It did not arrive.').waitFor(); assert.equal(await row(page, /Farhan Sheikh/).count() <= 1, true); } } },
  {
    name: 'inbox-settings', prepare, path: () => '/inbox/settings', heading: /^Inbox settings$/,
    empty: { request: /\/v1\/saved-answers/, answer: { data: [], nextCursor: null }, says: /^No answer is saved$/ },
    failing: { request: /\/v1\/inbox\/team/, says: /^The team could not be read\.$/ },
    states: { answer: async (page) => { await page.getByRole('button', { name: 'New answer' }).first().click(); await page.getByRole('dialog').getByText('New saved answer').waitFor(); } },
  },
];
