import type { Service, Shape } from '../service.ts';
import { ATTACKS } from '../fixtures.ts';
import type { PageRow } from '../table.ts';

/** Moves the clock into the calling hours of India. Members stay signed in: a session is used on the way. */
export async function intoHours(service: Service): Promise<void> {
  // The clock stands still, so the minute of a limit never ends.
  await service.api('PATCH', `/v1/workspaces/${service.workspace}`, { limits: { memberRequestsPerMinute: 100_000, requestsPerMinute: 100_000 } }, 'operator');
  for (;;) {
    const now = new Date(await service.now());
    const hour = (now.getUTCHours() + 5.5 + now.getUTCMinutes() / 60) % 24;
    if (hour >= 10 && hour < 17) return;
    const hours = Math.min(6, (10.05 - hour + 24) % 24);
    await service.advance(Math.ceil(hours * 3600));
    for (const role of ['viewer', 'editor', 'admin', 'owner'] as const) await service.as(role, 'GET', '/v1/me').catch(() => null);
  }
}

const NAMES = ['Aisha Khan', 'Divya Menon', 'Vikram Rao', 'सुनीता देवी', 'Kiran Bedekar', 'Gurpreet Kaur', ATTACKS.markup.slice(0, 120), ATTACKS.rightToLeft, ATTACKS.devanagari.slice(0, 180)];
// What the sandbox does with a number is in its last four digits.
const ENDS = ['0000', '1111', '3333', '4444', '5555', '6666', '7777', '2222'];

export const people = (n: number, begin = 9_100_000_000): readonly Shape[] => Array.from({ length: n }, (_, at) => ({
  phone: `+91${at % 4 === 3 ? String(begin + at).slice(0, 6) + (ENDS[(at >> 2) % ENDS.length] ?? '0000') : String(begin + at * 7)}`,
  name: NAMES[at % NAMES.length], variables: { amount: String(1_000 + at * 50), due_date: '28 November' },
}));

export interface Campaigns { dialled: string; paused: string; draft: string; empty: string }
const made = new WeakMap<Service, Promise<Campaigns>>();

/** A campaign that has dialled, a paused one, a draft with a list, and one without; made once for all rows. */
export function campaigns(service: Service): Promise<Campaigns> {
  let one = made.get(service);
  if (!one) { one = make(service); made.set(service, one); }
  return one;
}

async function make(service: Service): Promise<Campaigns> {
  await intoHours(service);
  const campaign = async (name: string, rows: readonly Shape[], settings: Shape = {}): Promise<string> => {
    const id = String((await service.api('POST', '/v1/campaigns', { name, agentId: service.agent, settings: { dailyFrom: '09:00', dailyTo: '20:00', retryCount: 2, cooldownMinutes: 120, ...settings } })).data.id);
    if (rows.length > 0) await service.api('POST', `/v1/campaigns/${id}/contacts`, { contacts: rows });
    return id;
  };
  const dialled = await campaign('EMI reminder, November', [...people(120), { phone: '98123', name: 'Too short' }, { phone: '+971501234567', name: 'Omar Siddiqui' }, { phone: '+919100000000', name: 'Twice' }], { maxConcurrentCalls: 6 });
  await service.api('POST', `/v1/campaigns/${dialled}/status`, { status: 'active' });
  await service.advance(90);
  const paused = await campaign(ATTACKS.rightToLeft.slice(0, 110), people(30, 9_200_000_000));
  await service.api('POST', `/v1/campaigns/${paused}/status`, { status: 'active' });
  await service.advance(4);
  await service.api('POST', `/v1/campaigns/${paused}/status`, { status: 'paused' });
  const draft = await campaign(ATTACKS.markup.slice(0, 110), people(250, 9_300_000_000));
  const empty = await campaign('Renewals', []);
  return { dialled, paused, draft, empty };
}

let now: Campaigns = { dialled: '', paused: '', draft: '', empty: '' };
const prepare: NonNullable<PageRow['prepare']> = async (stage) => { now = await campaigns(stage.service); };

let staged = '';
const stagedList: NonNullable<PageRow['prepare']> = async (stage, fixtures) => {
  await prepare(stage, fixtures);
  if (staged) return;
  const path = `/v1/campaigns/${now.empty}/staged-lists`;
  staged = String((await stage.service.as('editor', 'POST', path)).data.stagedListId);
  const rows = [...people(60, 9_600_000_000), { phone: '98123', name: ATTACKS.markup.slice(0, 190), variables: { amount: ATTACKS.long } }, { phone: '+971501234567', name: ATTACKS.rightToLeft, variables: { amount: ATTACKS.markup } }, { phone: '9600000007', name: ATTACKS.devanagari.slice(0, 190), variables: { due_date: '05/11/2026' } }];
  await stage.service.as('editor', 'POST', `${path}/${staged}/rows`, { piece: 1, contacts: rows });
};

let template = '';
const templates: NonNullable<PageRow['prepare']> = async ({ service }) => {
  await intoHours(service);
  if (template) return;
  const { api, workspace } = service;
  await api('PATCH', `/v1/workspaces/${workspace}`, { features: { chatappChannel: true } }, 'operator');
  await api('PUT', `/v1/workspaces/${workspace}/chatapp/connection`, { provider: 'sandbox' }, 'operator');
  const make = async (name: string, text: string, samples: readonly string[]): Promise<string> => String((await api('POST', '/v1/chatapp/templates', { name, language: 'en', category: 'UTILITY', components: [{ type: 'BODY', text, ...(samples.length > 0 ? { example: { body_text: [samples] } } : {}) }, { type: 'FOOTER', text: 'Reply STOP to end' }, { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Pay now' }] }] })).data.id);
  template = await make('payment_reminder', 'Hello {{1}}, your EMI of {{2}} is due tomorrow.', ['Sunita', '₹4,250']);
  await make('attack', `${ATTACKS.markup} ${ATTACKS.rightToLeft} ${ATTACKS.devanagari} end`, []);
};
const streams: NonNullable<PageRow['prepare']> = async ({ service }) => {
  await service.api('POST', `/v1/data-streams/${service.stream}/records`, [{ mobile: '9812399001', full_name: 'Meena Pillai', city: 'Pune' }, { mobile: '12', full_name: ATTACKS.markup }, { mobile: '+971501234567', full_name: ATTACKS.rightToLeft, note: ATTACKS.long }]).catch(() => null);
};

export const rows: readonly PageRow[] = [
  {
    name: 'campaigns', path: () => '/campaigns', heading: /^Campaigns$/, prepare,
    empty: { request: /\/v1\/campaigns$/, answer: { data: [] }, says: /No campaign yet/ },
    failing: { request: /\/v1\/campaigns$/, says: /The campaigns could not be read/ },
    keys: [
      { press: ['n'], sees: (page) => page.getByRole('dialog', { name: 'New campaign' }).waitFor() },
      { press: ['Enter'], sees: (page) => page.getByText('Give it a name.').waitFor() },
      { press: ['Escape'], sees: (page) => page.getByRole('dialog').waitFor({ state: 'detached' }) },
    ],
    states: { new: async (page) => { await page.keyboard.press('n'); await page.getByRole('dialog', { name: 'New campaign' }).waitFor(); } },
  },
  {
    name: 'campaign', path: () => `/campaigns/${now.dialled}`, heading: /EMI reminder, November/, prepare,
    empty: { request: /\/contacts\?/, answer: { data: [], counts: { all: 0, reached: 0, in_progress: 0, unreached: 0, held: 0, queued: 0, invalid: 0, dnc: 0 }, total: 0, nextOffset: null }, says: /No list yet/ },
    failing: { request: /\/summary$/, says: /The figures of the campaign could not be read/ },
    keys: [{ press: ['p'], sees: (page) => page.getByRole('button', { name: 'Resume…' }).waitFor() }, { press: ['l'], sees: (page) => page.getByRole('button', { name: /Call \d+ people, about ₹/ }).waitFor() }, { press: [], sees: async (page) => { await page.getByRole('button', { name: /Call \d+ people, about ₹/ }).focus(); await page.keyboard.press('Enter'); await page.getByText('Dialling', { exact: true }).waitFor(); } }],
  },
  {
    name: 'campaign-draft', path: () => `/campaigns/${now.draft}/overview`, heading: /^<img src=x/, prepare,
    states: { launch: async (page) => { await page.getByRole('button', { name: 'Launch…' }).click(); await page.getByRole('button', { name: /Call [\d,]+ people, about ₹/ }).waitFor(); } },
  },
  { name: 'campaign-paused', path: () => `/campaigns/${now.paused}`, heading: /مرحبا/, prepare },
  { name: 'campaign-list', path: () => `/campaigns/${now.dialled}/list?state=unreached`, heading: /EMI reminder/, prepare, failing: { request: /\/contacts\?/, says: /The list could not be read/ } },
  {
    name: 'campaign-runs', path: () => `/campaigns/${now.dialled}/runs`, heading: /EMI reminder/, prepare,
    empty: { request: /\/runs\?/, answer: { data: [] }, says: /No run yet/ }, failing: { request: /\/runs\?/, says: /The runs could not be read/ },
  },
  {
    name: 'campaign-streams', path: () => `/campaigns/${now.dialled}/streams`, heading: /EMI reminder/, prepare, failing: { request: /\/v1\/campaigns\/[^/]+\/streams$/, says: /The streams could not be read/ },
    states: { attach: async (page) => { await page.getByRole('button', { name: 'Attach a stream…' }).click(); await page.getByRole('dialog').waitFor(); } },
  },
  { name: 'campaign-settings', path: () => `/campaigns/${now.empty}/settings`, heading: /Renewals/, prepare },
  { name: 'campaign-import', path: () => `/campaigns/${now.draft}/list/import`, heading: /^New list$/, prepare },
  {
    name: 'campaign-import-judged', path: () => `/campaigns/${now.empty}/list/import?list=${staged}`, heading: /^New list$/, prepare: stagedList,
    failing: { request: /\/preflight$/, says: /The list could not be judged/ },
    states: { editing: async (page) => { await page.getByRole('button', { name: /^Change number of row/ }).first().click(); await page.getByRole('textbox', { name: /^Change number of row/ }).waitFor(); } },
    keys: [{ press: ['p'], sees: (page) => page.getByRole('button', { name: /^Put \d+ people in force$/ }).waitFor() }, { press: ['Escape'], sees: (page) => page.getByRole('dialog').waitFor({ state: 'detached' }) }],
  },
  {
    name: 'templates', path: () => '/templates', heading: /^Templates$/, prepare: templates,
    empty: { request: /\/chatapp\/templates\?/, answer: { data: [], nextCursor: null }, says: /No template yet/ }, failing: { request: /\/chatapp\/templates\?/, says: /The templates could not be read/ },
    states: { new: async (page) => { await page.getByRole('button', { name: 'New template' }).click(); await page.getByRole('dialog').waitFor(); } },
  },
  { name: 'template', path: () => `/templates/${template}`, heading: /^payment_reminder$/, prepare: templates, failing: { request: /\/chatapp\/templates\/tpl/, says: /The template could not be read/ } },
  {
    name: 'streams', path: () => '/streams', heading: /^Streams$/, prepare: streams, failing: { request: /\/v1\/data-streams$/, says: /The streams could not be read/ },
    empty: { request: /\/v1\/data-streams$/, answer: { data: [] }, says: /No stream yet/ }, keys: [{ press: ['n'], sees: (page) => page.getByRole('dialog', { name: 'New stream' }).waitFor() }],
  },
  {
    name: 'stream', path: (_, stage) => `/streams/${stage.service.stream}`, heading: /Website leads/, prepare: streams, failing: { request: /\/records\?/, says: /The records could not be read/ },
    empty: { request: /\/records\?/, answer: { data: [], nextBefore: null }, says: /No record yet/ },
  },
];
