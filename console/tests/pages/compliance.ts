import { ATTACKS } from '../fixtures.ts';
import type { PageRow } from '../table.ts';
import type { Fixtures } from '../fixtures.ts';
import type { Stage } from '../browser.ts';

const PERSON = '+919812345001';
const LISTED = '+919812345002';
let prepared = false;

/** Dials that are allowed and refused, an opt-out, an erasure, a change by a member. */
export async function prepareLog(stage: Stage, fixtures: Fixtures): Promise<void> {
  if (prepared) return;
  prepared = true;
  const { service } = stage;
  await service.as('editor', 'POST', '/v1/dnc', { phones: [PERSON] });
  await service.api('POST', '/v1/dnd', { phones: [LISTED] }, 'operator');
  for (const toNumber of [PERSON, LISTED, LISTED]) await service.api('POST', '/v1/calls', { agentId: service.agent, toNumber, variables: { name: 'S', amount: '4', due_date: '5 December' } }).catch(() => null);
  await service.as('owner', 'POST', `/v1/contacts/${fixtures.contacts[3] ?? ''}/erase`, {});
  await service.as('owner', 'PATCH', '/v1/workspace', { name: 'Acme Finserv' });
  await service.api('PUT', `/v1/contacts/${fixtures.contacts[4] ?? ''}`, { name: ATTACKS.markup.slice(0, 99) }).catch(() => null);
}

const NONE = { data: [], nextCursor: null };
const BROKEN = { data: { verified: false, records: 184_213, chains: [
  { name: 'audit', verified: false, records: 184_213, brokenAt: 91_204, problem: 'the hash of record 91204 does not fit its fields' }, { name: 'grievances', verified: true, records: 37, brokenAt: null, problem: null },
  { name: 'consent', verified: true, records: 9_412, brokenAt: null, problem: null }, { name: 'actions', verified: true, records: 318, brokenAt: null, problem: null },
] } };

export const rows: readonly PageRow[] = [
  {
    name: 'compliance-dials', path: () => '/compliance/dials', heading: /^Compliance$/, prepare: prepareLog,
    empty: { request: /\/v1\/audit\/records\?/, answer: NONE, says: /No dial yet/ },
    failing: { request: /\/v1\/audit\/records\?/, says: /The records could not be read/ },
    keys: [
      { press: [], sees: async (page) => { await page.getByRole('grid', { name: 'Dials' }).focus(); } },
      { press: ['j', 'k', 'Enter'], sees: (page) => page.getByRole('complementary', { name: 'Record' }).getByRole('heading', { name: 'Evidence' }).waitFor() },
      { press: ['Escape'], sees: (page) => page.getByRole('complementary', { name: 'Record' }).waitFor({ state: 'detached' }) },
    ],
    states: {
      record: async (page) => {
        await page.getByText('Refused', { exact: true }).first().waitFor();
        await page.getByRole('grid', { name: 'Dials' }).getByText('Refused', { exact: true }).last().click();
        await page.getByRole('complementary', { name: 'Record' }).getByRole('heading', { name: 'Chain' }).waitFor();
      },
      broken: async (page) => {
        await page.route(/\/v1\/audit\/verify/, (route) => route.fulfill({ status: 200, contentType: 'application/json', body: JSON.stringify(BROKEN) }));
        await page.getByRole('button', { name: 'Verify now' }).click();
        await page.getByText('The chain “Dials” is broken at record 91,204').waitFor();
        await page.getByText('What this means').waitFor();
      },
    },
  },
  { name: 'compliance-verify', path: () => '/compliance', heading: /^Compliance$/, failing: { request: /\/v1\/audit\/verify/, says: /The log could not be verified/ }, prepare: prepareLog },
  { name: 'compliance-consent', path: () => '/compliance/consent', heading: /^Compliance$/, prepare: prepareLog, empty: { request: /\/v1\/audit\/records\?/, answer: NONE, says: /No consent on record/ }, failing: { request: /\/v1\/audit\/records\?/, says: /The records could not be read/ } },
  { name: 'compliance-requests', path: () => '/compliance/requests', heading: /^Compliance$/, prepare: prepareLog, empty: { request: /\/v1\/audit\/records\?/, answer: NONE, says: /Nobody has asked for anything/ }, failing: { request: /\/v1\/audit\/records\?/, says: /The records could not be read/ } },
  {
    name: 'compliance-changes', path: () => '/compliance/changes', heading: /^Compliance$/, prepare: prepareLog,
    empty: { request: /\/v1\/audit\/actions\?/, answer: NONE, says: /Nobody has changed anything yet/ }, failing: { request: /\/v1\/audit\/actions\?/, says: /The changes could not be read/ },
    states: { change: async (page) => { await page.getByRole('grid').getByText(/Changed the workspace|Erased a person/).first().click(); await page.getByRole('complementary', { name: 'Change' }).getByText('From where').waitFor(); } },
  },
  { name: 'compliance-exports', path: () => '/compliance/exports', heading: /^Compliance$/, prepare: prepareLog, failing: { request: /\/v1\/audit\/head\?chain=grievances/, says: /The head could not be read/ } },
];
