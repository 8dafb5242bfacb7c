// Figures, times and addresses, without a browser.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { events, type StreamEvent } from '../src/api/events.ts';
import { scopeOf } from '../src/api/scope.ts';
import { topicsOf } from '../src/api/topics.ts';
import { bytes, count, paise, percent, rupees, rupeesWhole } from '../src/parts/money.ts';
import { clock, clockMillis, day, dayBegin, dayEnd, dayOf, span, utc, when } from '../src/parts/time.ts';
import { plural, t } from '../src/parts/words.ts';

test('money and counts are Indian figures', () => {
  assert.equal(rupees(18_425_000), '₹1,84,250.00');
  assert.equal(rupeesWhole(18_425_099), '₹1,84,251');
  assert.equal(rupees(-150), '-₹1.50');
  assert.equal(count(312_406), '3,12,406');
  assert.equal(percent(0.431), '43.1%');
  assert.equal(percent(0.2948, 0), '29%');
  assert.equal(bytes(1_234_567), '1.2 MB');
});

describe('times are India’s, whatever the zone of the browser', () => {
  for (const zone of ['America/Los_Angeles', 'Asia/Kolkata', 'Pacific/Auckland', 'UTC']) test(zone, () => {
    process.env.TZ = zone;
    const at = '2026-01-15T19:00:00.250Z';
    assert.equal(dayOf(at), '2026-01-16', 'it is the next day in India');
    assert.equal(clock(at), '00:30');
    assert.equal(clockMillis(at), '00:30:00.250');
    assert.equal(utc(at), '2026-01-15 19:00:00.250 UTC');
    assert.equal(dayBegin('2026-01-16'), '2026-01-15T18:30:00.000Z');
    assert.equal(dayEnd('2026-01-16'), '2026-01-16T18:30:00.000Z');
    assert.match(day('2019-11-25T05:00:00Z'), /^25 Nov,? 2019$/);
    assert.match(when('2019-11-25T12:32:00Z'), /^25 Nov,? 2019, 18:02$/);
  });
  test('durations', () => {
    assert.equal(span(64), '1:04');
    assert.equal(span(0.4), '0:00');
    assert.equal(span(3_729), '1:02:09');
  });
});

test('sentences take values and numbers', () => {
  assert.equal(t('of {n} lines', { n: '3,12,406' }), 'of 3,12,406 lines');
  assert.equal(t('{time} IST', { time: '{n}' }), '{n} IST', 'what is filled in is not filled again');
  assert.equal(plural(1, '{n} chat', '{n} chats'), '1 chat');
  assert.equal(plural(312_406, '{n} chat', '{n} chats'), '3,12,406 chats');
  assert.equal(plural(0, '{n} chat', '{n} chats'), '0 chats');
});

test('an amount is rupees for sure, or it is refused', () => {
  for (const [text, amount] of [['450', 45_000], ['1,84,250.00', 18_425_000], ['184,250', 18_425_000], ['₹ 2,500.5', 250_050], ['−10', -1_000], ['0.1', 10]] as const) assert.equal(paise(text), amount, text);
  for (const unsure of ['', ' ', '1,5', '1,00', '12,34', '1e3', '0x10', '1.005', '1.2.3', '.5', 'Infinity', '५००', '10 lakh', '--1']) assert.equal(paise(unsure), null, unsure);
});

test('the workspace and the mode stand in the address', () => {
  assert.deepEqual(scopeOf('/console/ws_01abc/calls'), { workspace: 'ws_01abc', test: false });
  assert.deepEqual(scopeOf('/console/ws_01abc/test/calls'), { workspace: 'ws_01abc', test: true });
  assert.deepEqual(scopeOf('/console/ws_01abc/tests'), { workspace: 'ws_01abc', test: false });
  for (const none of ['/console/', '/console/sign-in', '/console/operator/', '/console/ws_01abc..', '/x/console/ws_01abc/', '/console/o/ws_01abc']) assert.equal(scopeOf(none), null, none);
});

test('topics make answers old', () => {
  assert.deepEqual(topicsOf('getFlow'), ['flows', 'agents']);
  assert.deepEqual(topicsOf('listLiveCalls'), ['live', 'calls']);
  assert.deepEqual(topicsOf('listCampaignCards'), ['boards', 'cards']);
  assert.deepEqual(topicsOf('getMe'), []);
});

test('events come whole, however their bytes are cut', async () => {
  const text = 'id: 7\nevent: ready\ndata: {"resumed":false}\n\n: still here\n\nevent: invalidate\r\ndata: {"topic":"calls","id":null,\r\ndata: "version":5}\r\n\r\nevent: delta\ndata: {"topic":"call:1","text":"नमस्ते"}\n\ndata: {"cut';
  const bytesOf = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, 64, 10_000]) {
    const body = new ReadableStream<Uint8Array>({ start(controller) { for (let at = 0; at < bytesOf.length; at += size) controller.enqueue(bytesOf.slice(at, at + size)); controller.close(); } });
    const read: StreamEvent[] = [];
    for await (const event of events(body, new AbortController())) read.push(event);
    assert.deepEqual(read, [
      { id: '7', event: 'ready', data: { resumed: false } },
      { id: null, event: 'invalidate', data: { topic: 'calls', id: null, version: 5 } },
      { id: null, event: 'delta', data: { topic: 'call:1', text: 'नमस्ते' } },
    ], `${size} bytes at a time`);
  }
});
