import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { ATTACKS } from '../fixtures.ts';
import type { PageRow } from '../table.ts';

const COUNTS = { total: 0, state: [], direction: [], outcome: [], endCause: [], agent: [], campaign: [], days: [] };
const rowsThere = (page: Page) => page.locator('.grid[data-rows]:not([data-rows="0"])').waitFor();

let attacked = '';
export const rows: readonly PageRow[] = [
  {
    name: 'calls', path: () => '/calls', heading: /^Calls$/,
    empty: { request: /\/v1\/calls(\/counts)?\?/, answer: { data: [], nextCursor: null, ...COUNTS }, says: /^No call in these days$/ },
    failing: { request: /\/v1\/calls\/counts\?/, says: /The calls could not be read\./ },
    states: {
      place: async (page) => {
        await page.getByRole('button', { name: /^Place a call/ }).first().click();
        await page.getByRole('textbox', { name: 'Number' }).fill('98123 42222');
        await page.locator('[data-forecast="blocked"]').waitFor();
      },
    },
    keys: [
      { press: ['n'], sees: (page) => page.getByRole('dialog', { name: 'Place a call' }).waitFor() },
      { press: ['Escape'], sees: (page) => page.getByRole('dialog', { name: 'Place a call' }).waitFor({ state: 'detached' }) },
      { press: [], sees: async (page) => { await rowsThere(page); await page.locator('.grid').focus(); } },
      { press: ['j', 'j', 'k', 'x'], sees: (page) => page.getByText('1 call selected').waitFor() },
      { press: ['End', 'Home', 'Enter'], sees: (page) => page.locator('[data-call]').waitFor() },
    ],
  },
  {
    name: 'call', path: (fixtures) => `/calls/${fixtures.calls[0]}`, heading: /Sunita Devi/,
    failing: { request: /\/v1\/calls\/call_\w+$/, says: /The call could not be read\./ },
    states: {
      latency: async (page) => { await page.getByRole('tab', { name: /Latency/ }).click(); await page.getByText('No answer was measured').waitFor(); },
      webhooks: async (page) => { await page.getByRole('tab', { name: /Webhooks/ }).click(); await page.getByRole('tabpanel').getByText(/call\.completed|No webhook was sent/).first().waitFor(); },
      metadata: async (page) => { await page.getByRole('tab', { name: /Metadata/ }).click(); await page.getByText('The call was placed without metadata.').waitFor(); },
    },
    keys: [
      { press: [], sees: (page) => page.getByText('Why it was dialled').waitFor() },
      { press: ['j'], sees: (page) => page.waitForFunction(() => document.querySelector('h1')?.textContent !== 'Sunita Devi' || document.querySelector('.toast') !== null) },
      { press: ['k'], sees: (page) => page.locator('[data-call]').waitFor() },
    ],
  },
  {
    name: 'call-attacked', path: () => `/calls/${attacked}?tab=metadata`, heading: /<img src=x onerror/,
    prepare: async ({ service }) => {
      const placed = await service.api('POST', '/v1/calls', { agentId: service.agent, toNumber: '+919812345003', variables: { name: 'Sunita' }, metadata: { note: ATTACKS.markup, long: ATTACKS.long.slice(0, 500), rtl: ATTACKS.rightToLeft, hindi: ATTACKS.devanagari } });
      attacked = String(placed.interactionId);
      await service.advance(30);
    },
    states: {
      whole: async (page) => {
        await page.getByText('<img src=x onerror="document.title=1"><script>', { exact: false }).first().waitFor();
        assert.match(await page.title(), /^Call · /);
        assert.equal(await page.locator('.call img, .call script').count(), 0);
      },
    },
  },
  {
    name: 'call-blocked', path: () => `/calls/${blocked}`, heading: /Unknown person/,
    prepare: async ({ service }) => {
      await service.api('POST', '/v1/calls', { agentId: service.agent, toNumber: '+919812342222', variables: { name: 'Sunita' } }).catch(() => undefined);
      blocked = String((await service.api('GET', '/v1/calls?state=blocked&limit=1')).data[0].id);
    },
    states: { gates: async (page) => { await page.getByText('Why it was not dialled').waitFor(); await page.locator('.gates li[data-v="refuse"]').waitFor(); } },
  },
  {
    name: 'call-erased', path: () => `/calls/${erased}`, heading: /Erased person/,
    prepare: async ({ service }) => {
      const placed = await service.api('POST', '/v1/calls', { agentId: service.agent, toNumber: '+919812345077', variables: { name: 'Sunita' }, metadata: { loan: 'L-1' } });
      erased = String(placed.interactionId);
      await service.advance(30);
      const { data } = await service.api('GET', `/v1/calls/${erased}`);
      await service.as('owner', 'POST', `/v1/contacts/${String(data.contactId)}/erase`, {});
    },
    states: {
      kept: async (page) => {
        await page.getByText('[erased]').first().waitFor();
        await page.locator('.gates li').first().waitFor();
        assert.equal(await page.getByText('L-1').count(), 0);
        assert.equal(await page.getByRole('button', { name: 'Show' }).count(), 0);
      },
    },
  },
];
let blocked = '';
let erased = '';
