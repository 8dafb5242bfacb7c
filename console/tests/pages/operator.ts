import { ATTACKS } from '../fixtures.ts';
import type { PageRow } from '../table.ts';
import type { Stage } from '../browser.ts';

let prepared: Promise<void> | null = null;
async function make(stage: Stage): Promise<void> {
  const { service } = stage;
  await service.api('POST', '/v1/workspaces', { name: ATTACKS.markup.slice(0, 110), balanceMinor: 18_425_000 }, 'operator');
  await service.api('POST', '/v1/workspaces', { name: ATTACKS.devanagari.slice(0, 110), kybVerified: true }, 'operator');
  const suspended = await service.api('POST', '/v1/workspaces', { name: ATTACKS.rightToLeft }, 'operator');
  await service.api('PATCH', `/v1/workspaces/${String(suspended.data.id)}`, { suspended: true }, 'operator');
}
const prepare = (stage: Stage): Promise<void> => { prepared ??= make(stage); return prepared; };
const NONE = { data: [], nextCursor: null };

export const rows: readonly PageRow[] = [
  {
    name: 'op-workspaces', path: () => '~/console/operator/workspaces', heading: /^Workspaces$/, prepare,
    empty: { request: /\/operator\/v1\/workspaces\?/, answer: NONE, says: /No workspace yet/ }, failing: { request: /\/operator\/v1\/workspaces\?/, says: /The workspaces could not be read/ },
    keys: [{ press: ['n'], sees: (page) => page.getByRole('dialog', { name: 'New workspace' }).getByLabel('Name').waitFor() }, { press: ['Escape'], sees: (page) => page.getByRole('dialog').waitFor({ state: 'detached' }) }],
  },
  {
    name: 'op-workspace', path: (_, stage) => `~/console/operator/workspaces/${stage.service.workspace}`, heading: /\w/, prepare,
    empty: { request: /\/wallet\/entries/, answer: { data: [], total: 0 }, says: /Nothing was booked yet/ }, failing: { request: /\/wallet\/entries/, says: /The ledger could not be read/ },
    states: { limits: async (page) => { await page.getByRole('button', { name: 'More actions' }).click(); await page.getByRole('menuitem', { name: 'Limits…' }).click(); await page.getByRole('dialog').getByLabel('Calls at the same time').waitFor(); } },
  },
  { name: 'op-registry', path: () => '~/console/operator/registry', heading: /^Registry$/, prepare },
  {
    name: 'op-nodes', path: () => '~/console/operator/nodes', heading: /^Nodes$/, failing: { request: /\/operator\/v1\/node$/, says: /The node could not be read/ },
    keys: [{ press: ['d'], sees: (page) => page.getByRole('dialog').getByText('It takes no new calls from now on').waitFor() }, { press: ['Escape'], sees: (page) => page.getByRole('dialog').waitFor({ state: 'detached' }) }],
  },
  { name: 'op-people', path: () => '~/console/operator/people', heading: /^People$/ },
  { name: 'op-log', path: () => '~/console/operator/log', heading: /^Log$/, empty: { request: /\/operator\/v1\/log\?/, answer: NONE, says: /Nothing was written yet/ }, failing: { request: /\/operator\/v1\/log\?/, says: /The log could not be read/ } },
];
