// Home with a full day behind it: the usual weekday, what needs somebody, and campaigns.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { axe, drawn, noConsoleErrors, noSidewaysScroll, shot, startStage, type Stage } from './browser.ts';
import { ATTACKS } from './fixtures.ts';

let stage: Stage;
const WEEK = 7 * 86_400;

before(async () => {
  stage = await startStage();
  const { service } = stage;
  const call = (end: string): Promise<unknown> => service.api('POST', '/v1/calls', { agentId: service.agent, toNumber: `+9198123${end}` });
  await toIndia(10);
  // What is usual on this weekday, a week before.
  for (const end of ['40001', '40002', '40003', '40000', '41111', '40004', '40005', '40006']) await call(end);
  await service.advance(60);
  await service.advance(WEEK - 3_600);
  for (const end of ['50001', '50002', '50003', '50000', '57777']) await call(end);
  await service.advance(3_600);
  for (const end of ['60001', '60002', '61111', '60003']) await call(end);
  await service.advance(60);
  const endpoint = await service.api('POST', '/v1/webhooks', { url: 'http://127.0.0.1:18998/events', events: ['call.completed'] });
  for (let nth = 0; nth < 3; nth += 1) await service.api('POST', `/v1/webhooks/${endpoint.data.id}/test`, {}).catch(() => null);
  await call('60009');
  await service.advance(120);
  await service.api('POST', '/v1/campaigns', { name: ATTACKS.markup.slice(0, 60), agentId: service.agent }).catch(() => null);
  await service.api('POST', '/v1/campaigns', { name: ATTACKS.devanagari.slice(0, 80), agentId: service.agent }).catch(() => null);
  await service.api('POST', `/v1/campaigns/${service.campaign}/status`, { status: 'active' }).catch(() => null);
  await service.as('owner', 'PATCH', '/v1/workspace', { lowBalanceMinor: 50_000_00 });
});
after(() => stage?.close());

/** Moves the clock to the next full hour of India. */
async function toIndia(hour: number): Promise<void> {
  const now = Date.parse(await stage.service.now());
  const india = now + 5.5 * 3_600_000;
  const day = 86_400_000;
  let wanted = Math.floor(india / day) * day + hour * 3_600_000;
  if (wanted <= india) wanted += day;
  await stage.service.advance(Math.round((wanted - india) / 1_000));
}

for (const [theme, width] of [['light', 1440], ['dark', 1440], ['light', 360], ['dark', 360]] as const) {
  test(`a full day, ${theme}, ${width} px`, async () => {
    const page = await stage.open('/', { theme, width, now: await stage.service.now() });
    await page.getByText('is low').waitFor();
    await page.getByRole('img', { name: /10: \d+ calls/ }).waitFor();
    assert.equal(await page.getByText(/usually \d+\.\d% on a/).count(), 1);
    await axe(page);
    await noSidewaysScroll(page);
    await shot(page, `home-full-${width}-${theme}`);
    noConsoleErrors(page);
    await page.context().close();
  });
}

test('figures of an answer, in figures of India', async () => {
  const page = await stage.open('/', { now: await stage.service.now() });
  await page.route(/\/v1\/wallet$/, (route) => route.fulfill({ json: { data: { balanceMinor: 18_425_000, currency: 'INR', costPerMinuteMinor: 600 } } }));
  await page.route(/\/v1\/attention$/, (route) => route.fulfill({ json: { data: [{ kind: 'chats_waiting', since: new Date(Date.now() - 360_000).toISOString(), count: 3, subject: { type: 'chat', id: 'chatsess_1', name: null }, cause: null, action: 'answer' }, { kind: 'stream_stopped', since: null, count: 1, subject: { type: 'stream', id: 'dst_1', name: ATTACKS.rightToLeft }, cause: 'something_new', action: 'activate' }] } }));
  await page.reload();
  await drawn(page);
  await page.getByText('₹1,84,250').first().waitFor();
  await page.getByText('3 chats wait for a person').waitFor();
  await page.getByText('something new').waitFor();
  await axe(page);
  noConsoleErrors(page);
});
