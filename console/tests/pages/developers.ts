import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ATTACKS } from '../fixtures.ts';
import type { PageRow } from '../table.ts';
import type { Stage } from '../browser.ts';

/** A receiver on this machine: it answers what `answers` says, and keeps what it was sent. */
export interface Receiver { readonly url: string; answers: (path: string) => number; readonly got: { path: string; body: string; delivery: string }[]; close: () => Promise<void> }
export async function startReceiver(answers: (path: string) => number): Promise<Receiver> {
  const got: Receiver['got'] = [];
  const receiver = { answers };
  const server: Server = createServer((asked, answer) => {
    let body = '';
    asked.on('data', (piece: Buffer) => { body += String(piece); });
    asked.on('end', () => {
      const path = asked.url ?? '/';
      got.push({ path, body, delivery: String(asked.headers['x-service-delivery'] ?? '') });
      answer.writeHead(receiver.answers(path), { 'content-type': 'text/html' }).end(ATTACKS.markup);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, got, get answers() { return receiver.answers; }, set answers(to) { receiver.answers = to; }, close: () => new Promise((resolve) => { server.close(() => resolve()); server.closeAllConnections(); }) };
}

let made: Promise<{ failing: string; well: string }> | null = null;
let ids = { failing: '', well: '' };

/** An endpoint that works, one that fails, one that is disabled; descriptions that attack. */
async function make(stage: Stage): Promise<{ failing: string; well: string }> {
  const { service } = stage;
  const receiver = await startReceiver((path) => (path.startsWith('/crm') ? 500 : 200));
  const endpoint = async (path: string, body: object): Promise<string> => String((await service.api('POST', '/v1/webhooks', { url: receiver.url + path, ...body })).data.id);
  const well = await endpoint('/warehouse', { events: ['call.completed', 'call.failed', 'outcome.captured'], description: 'Warehouse, every night' });
  const failing = await endpoint(`/crm/hooks?tenant=acme`, { description: ATTACKS.markup.slice(0, 120) });
  await endpoint('/old', { status: 'disabled', description: ATTACKS.rightToLeft });
  for (let n = 0; n < 6; n += 1) for (const id of [well, failing]) await service.as('admin', 'POST', `/v1/webhooks/${id}/test`, { type: n % 2 ? 'call.completed' : 'outcome.captured' });
  await service.advance(60);
  return { failing, well };
}
export const prepareEndpoints = async (stage: Stage): Promise<void> => { made ??= make(stage); ids = await made; };

const NONE = { data: [], nextCursor: null };
export const rows: readonly PageRow[] = [
  {
    name: 'developers', path: () => '/developers', heading: /^Developers$/, prepare: prepareEndpoints,
    empty: { request: /\/v1\/webhooks$/, answer: NONE, says: /No endpoint yet/ }, failing: { request: /\/v1\/webhooks$/, says: /The endpoints could not be read/ },
    keys: [{ press: ['n'], sees: (page) => page.getByRole('dialog', { name: 'New endpoint' }).getByLabel('Address').waitFor() }, { press: ['Escape'], sees: (page) => page.getByRole('dialog').waitFor({ state: 'detached' }) }],
    states: { form: async (page) => { await page.getByRole('button', { name: 'New endpoint' }).click(); await page.getByRole('dialog').getByText('Some', { exact: true }).click(); await page.getByText('call.started').waitFor(); } },
  },
  {
    name: 'endpoint', path: () => `/developers/endpoints/${ids.failing}`, heading: /^127\.0\.0\.1:\d+\/crm\/hooks/, prepare: prepareEndpoints,
    empty: { request: /\/deliveries\?/, answer: NONE, says: /Nothing was sent yet/ }, failing: { request: /\/deliveries\?/, says: /The deliveries could not be read/ },
    keys: [
      { press: ['r'], sees: (page) => page.getByRole('dialog', { name: 'Replay failed deliveries' }).waitFor() },
      { press: ['Escape'], sees: async (page) => { await page.getByRole('dialog').waitFor({ state: 'detached' }); await page.getByRole('grid', { name: 'Deliveries' }).focus(); } },
      { press: ['j', 'Enter'], sees: (page) => page.getByRole('complementary', { name: 'Delivery' }).getByRole('heading', { name: 'Request' }).waitFor() },
    ],
    states: {
      delivery: async (page) => { await page.getByRole('grid', { name: 'Deliveries' }).getByText('call.completed').first().click(); await page.getByRole('complementary', { name: 'Delivery' }).getByText('Answered 500').first().waitFor(); },
      replay: async (page) => { await page.getByRole('button', { name: 'Replay' }).first().click(); await page.getByRole('dialog').getByText('Nothing failed in this time').waitFor(); },
    },
  },
  { name: 'events', path: () => '/developers/events', heading: /^Developers$/, failing: { request: /\/v1\/events\?/, says: /The events could not be read/ }, keys: [{ press: ['p'], sees: (page) => page.getByText('Paused').waitFor() }] },
  {
    name: 'keys', path: () => '/developers/keys', heading: /^Developers$/,
    empty: { request: /\/workspaces\/\w+\/keys$/, answer: { data: [] }, says: /No key yet/ }, failing: { request: /\/workspaces\/\w+\/keys$/, says: /The keys could not be read/ },
    states: { form: async (page) => { await page.getByRole('button', { name: 'New key' }).click(); await page.getByRole('dialog').getByText('What it may do', { exact: true }).waitFor(); } },
  },
];
