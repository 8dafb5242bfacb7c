import assert from 'node:assert/strict';
import type { PageRow } from '../table.ts';

export const rows: readonly PageRow[] = [
  {
    name: 'contacts', path: () => '/contacts', heading: /^Contacts$/,
    empty: { request: /\/v1\/contacts\?/, answer: { data: [], nextCursor: null }, says: /^Nobody is here yet$/ },
    failing: { request: /\/v1\/contacts\?/, says: /^The contacts could not be read\.$/ },
    states: {
      found: async (page) => { await page.getByPlaceholder('Name, reference or whole number').fill('REF-5001'); await page.getByRole('grid', { name: 'Found' }).getByText('Sunita Devi').waitFor(); assert.doesNotMatch(page.url(), /ref-5001/i); },
      none: async (page) => { await page.getByPlaceholder('Name, reference or whole number').fill('nobody at all'); await page.getByText('Nobody matches.').waitFor(); await page.getByRole('button', { name: 'Clear filters' }).click(); await page.getByRole('grid', { name: 'Contacts' }).waitFor(); },
      adding: async (page) => { await page.getByRole('button', { name: 'Add a person' }).click(); await page.getByRole('button', { name: 'Add the person' }).click(); await page.getByText('A person needs a number.').waitFor(); },
    },
    keys: [
      { press: ['/', 'R', 'E', 'F', '-', '5', '0', '0', '1'], sees: (page) => page.getByRole('grid', { name: 'Found' }).getByText('Sunita Devi').waitFor() },
      { press: ['Tab', 'Enter'], sees: (page) => page.waitForURL(/\/contacts\/con_/) },
    ],
  },
  {
    name: 'person', path: (fixtures) => `/contacts/${fixtures.contacts[0]}`, heading: /^Person$/,
    failing: { request: /\/v1\/contacts\/con_\w+$/, says: /^The person could not be read\.$/ },
    empty: { request: /\/v1\/calls\?contactId/, answer: { data: [], nextCursor: null }, says: /^Nobody has called this person\.$/ },
    states: {
      erase: async (page) => {
        await page.getByRole('button', { name: 'More actions' }).click();
        await page.getByRole('menuitem', { name: 'Erase this person…' }).click();
        await page.getByLabel('Type the last four digits of the number').fill('0000');
        await page.getByRole('dialog').getByRole('button', { name: 'Erase this person' }).click();
        await page.getByText('Type “5001” to go on.').waitFor();
      },
    },
  },
  { name: 'person-attack', path: (fixtures) => `/contacts/${fixtures.contacts[4]}`, heading: /^Person$/, states: { untouched: async (page) => assert.match(await page.title(), /^Person/) } },
  {
    name: 'do-not-call', path: () => '/contacts/do-not-call', heading: /^Do not call$/,
    prepare: (stage) => stage.service.api('POST', '/v1/dnc', { phones: ['+919812349991', '+919812349992'], reason: 'Asked at the branch <b>' }).catch(() => null),
    empty: { request: /\/v1\/dnc\?/, answer: { data: [], total: 0 }, says: /^Nobody is on the list$/ },
    failing: { request: /\/v1\/dnc\?/, says: /^The list could not be read\.$/ },
    states: {
      checked: async (page) => {
        await page.getByLabel('Check one number').fill('98123 49991');
        await page.getByRole('button', { name: 'Check' }).click();
        await page.getByText('On the list', { exact: true }).waitFor();
        assert.doesNotMatch(page.url(), /49991/);
      },
      adding: async (page) => { await page.getByRole('button', { name: 'Add numbers' }).click(); await page.getByRole('button', { name: 'Block numbers' }).click(); await page.getByText('Write at least one number.').waitFor(); },
    },
    keys: [{ press: ['n'], sees: (page) => page.getByRole('dialog').getByLabel('Numbers').waitFor() }],
  },
];
