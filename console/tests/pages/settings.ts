import { ATTACKS } from '../fixtures.ts';
import type { PageRow } from '../table.ts';
import type { Stage } from '../browser.ts';

let prepared: Promise<void> | null = null;
const workspace = (stage: Stage, path: string): string => `/v1/workspaces/${stage.service.workspace}${path}`;

/** A member of each role, invitations, labels, a tool, hours, a pack, money: named with text that attacks. */
async function make(stage: Stage): Promise<void> {
  const { service } = stage;
  for (const role of ['viewer', 'editor', 'admin', 'owner'] as const) await service.cookie(role);
  const operator = (method: string, path: string, body?: unknown) => service.api(method, workspace(stage, path), body, 'operator');
  await operator('POST', '/members', { email: 'markup@example.com', name: ATTACKS.markup.slice(0, 100), role: 'viewer' });
  await operator('POST', '/members', { email: 'right@example.com', name: ATTACKS.rightToLeft, role: 'editor' });
  await operator('POST', '/members', { email: 'long@example.com', name: ATTACKS.devanagari.slice(0, 110), role: 'editor' });
  await service.as('admin', 'POST', '/v1/members/invitations', { email: 'new@example.com', role: 'editor' });
  for (const [name, color] of [['Refund', '#d33a2c'], [ATTACKS.markup.slice(0, 40), '#1c8f4e'], [ATTACKS.rightToLeft, '#2079c7']]) await operator('POST', '/chat-labels', { name, color }).catch(() => null);
  await operator('POST', '/tools', { type: 'webhook', name: 'check_order', description: ATTACKS.markup, config: { url: 'https://tools.example.com/order' } }).catch(() => null);
  await operator('POST', '/transfer-numbers', { number: '+919812399999' });
  await operator('POST', '/wallet/entries', { kind: 'topup', amountMinor: 17_426_800, reference: 'UTR 8842' });
  await operator('POST', '/wallet/entries', { kind: 'adjustment', amountMinor: -5_000, reference: ATTACKS.markup.slice(0, 100) });
  await operator('POST', '/compliance-packs', {
    name: 'Collections, mild', hours: [{ days: [0, 1, 2, 3, 4], from: '09:00', to: '19:00' }, { days: [5], from: '10:00', to: '16:00' }], holidays: ['2026-12-25'], caps: { perDay: 3, perWeek: 12 }, requireConsent: true,
  });
  const agent = await service.as('owner', 'POST', '/v1/agents', { name: ATTACKS.rightToLeft, systemPrompt: 'You answer.', channel: 'chat', direction: 'inbound', language: 'en' }).catch(() => null);
  if (agent) await operator('PUT', `/agents/${String(agent.data.id)}/business-hours`, { timezone: 'Asia/Kolkata', hours: [{ days: [0, 1, 2, 3, 4, 5], from: '09:00', to: '18:00' }] });
}
export const prepareSettings = (stage: Stage): Promise<void> => { prepared ??= make(stage); return prepared; };

const NONE = { data: [] };
export const rows: readonly PageRow[] = [
  { name: 'settings', path: () => '/settings', heading: /^Settings$/, prepare: prepareSettings, failing: { request: /\/v1\/workspace$/, says: /The workspace could not be read/ } },
  {
    name: 'members', path: () => '/settings/members', heading: /^Settings$/, prepare: prepareSettings,
    empty: { request: /\/v1\/members\/invitations$/, answer: NONE, says: /Nobody is invited at the moment/ }, failing: { request: /\/v1\/members\/invitations$/, says: /The invitations could not be read/ },
    keys: [{ press: ['n'], sees: (page) => page.getByRole('dialog', { name: 'Invite a person' }).getByLabel('E-mail').waitFor() }, { press: ['Escape'], sees: (page) => page.getByRole('dialog').waitFor({ state: 'detached' }) }],
    states: {
      role: async (page) => { await page.getByRole('button', { name: 'Actions of Arjun Mehta' }).click(); await page.getByRole('menuitem', { name: 'Change the role…' }).click(); await page.getByRole('dialog').getByRole('button', { name: /Role/ }).click(); await page.getByRole('option', { name: 'Viewer' }).click(); await page.getByText('This takes away').waitFor(); },
    },
  },
  {
    name: 'wallet', path: () => '/settings/wallet', heading: /^Settings$/, prepare: prepareSettings,
    empty: { request: /\/v1\/wallet\/transactions/, answer: { data: [], total: 0 }, says: /Nothing was booked yet/ }, failing: { request: /\/v1\/wallet\/transactions/, says: /The ledger could not be read/ },
  },
  { name: 'hours', path: () => '/settings/hours', heading: /^Settings$/, prepare: prepareSettings, empty: { request: /\/v1\/agents$/, answer: NONE, says: /No agent answers chats/ }, failing: { request: /\/business-hours$/, says: /The hours could not be read/ },
    states: { form: async (page) => { await page.getByRole('button', { name: 'Change…' }).first().click(); await page.getByRole('dialog').getByLabel('From').waitFor(); } } },
  { name: 'labels', path: () => '/settings/labels', heading: /^Settings$/, prepare: prepareSettings, empty: { request: /\/chat-labels$/, answer: NONE, says: /No label yet/ }, failing: { request: /\/chat-labels$/, says: /The labels could not be read/ },
    states: { form: async (page) => { await page.getByRole('button', { name: 'New label' }).click(); await page.getByRole('dialog').getByLabel('Text').waitFor(); } } },
  { name: 'tools', path: () => '/settings/tools', heading: /^Settings$/, prepare: prepareSettings, empty: { request: /\/transfer-numbers$/, answer: NONE, says: /No phone on the registry is released/ }, failing: { request: /\/v1\/tools$/, says: /The tools could not be read/ },
    states: { form: async (page) => { await page.getByRole('button', { name: 'New tool' }).click(); await page.getByRole('dialog').getByLabel('When to use it').waitFor(); } } },
  { name: 'packs', path: () => '/settings/packs', heading: /^Settings$/, prepare: prepareSettings, empty: { request: /\/compliance-packs$/, answer: NONE, says: /No pack of your own/ }, failing: { request: /\/compliance-packs$/, says: /The packs could not be read/ } },
  { name: 'profile', path: () => '/settings/profile', heading: /^Settings$/ },
  {
    name: 'sessions', path: () => '/settings/sessions', heading: /^Settings$/,
    empty: { request: /\/me\/sessions$/, answer: NONE, says: /No open session/ }, failing: { request: /\/me\/sessions$/, says: /Your sessions could not be read/ },
  },
];
