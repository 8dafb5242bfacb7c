import type { PageRow } from '../table.ts';

const live = (n: number, more: object = {}) => ({
  id: `call_0000000000000000000000000${n}`, contactId: `con_0000000000000000000000000${n}`, campaignId: null, agentId: 'agt_00000000000000000000000001', agentName: '<b>Aarti</b> · EMI reminder', direction: 'outbound', state: 'in_progress',
  toNumber: `98••• ••00${n}`, fromNumber: '+918045670001', startedAt: new Date(Date.now() - 70_000).toISOString(), since: new Date(Date.now() - 64_000 - n * 1_000).toISOString(),
  lastWords: { who: 'customer', text: 'मैंने पैसे दे दिए हैं <img src=x onerror="document.title=1">', at: new Date().toISOString() },
  turns: [
    { turn: 0, who: 'agent', text: 'आपकी नवंबर की किस्त बाक़ी है। क्या आप आज दे पाएँगे?', complete: true, at: new Date().toISOString() },
    { turn: 1, who: 'customer', text: `मैंने पैसे दे दिए हैं <img src=x onerror="document.title=1"> ${'अतिदीर्घशब्द'.repeat(40)}`, complete: true, at: new Date().toISOString() },
    { turn: 2, who: 'agent', text: 'जी, मैं', complete: false, at: new Date().toISOString() },
  ],
  step: { id: 'talk', name: 'Talk about the instalment' }, flags: [], captured: { right_person: true, paid_on: '12 Nov' }, costSoFarMinor: 1_200, seq: 9, ...more,
});
const CALLS = { data: [live(1), live(2, { flags: ['asks_for_person'] }), live(3, { state: 'ringing', lastWords: null, turns: [], step: null, captured: {}, costSoFarMinor: 0 }), live(4, { flags: ['slow_reaction', 'silent'] })], nextCursor: null };

export const rows: readonly PageRow[] = [
  {
    name: 'live', path: () => '/live', heading: /^Live$/,
    empty: { request: /\/v1\/calls\/live/, answer: { data: [], nextCursor: null }, says: /^Nobody is on the phone\.$/ },
    failing: { request: /\/v1\/calls\/live/, says: /The live calls could not be read\./ },
    states: {
      calls: async (page) => {
        await page.route(/\/v1\/calls\/live/, (route) => route.fulfill({ status: 200, contentType: 'application/json', body: JSON.stringify(CALLS) }));
        await page.reload();
        await page.locator('[data-live="4"]').waitFor();
      },
      opened: async (page) => {
        await page.locator('.gr').first().click();
        await page.locator('.bubbles li[data-complete="false"]').waitFor();
        await page.locator('[data-flag="asks_for_person"]').waitFor();
      },
    },
  },
];
