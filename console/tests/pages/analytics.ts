import assert from 'node:assert/strict';
import type { PageRow } from '../table.ts';

const none = { totals: { calls: 0, answered: 0, connectRate: 0, peopleReached: 0, contactsTargeted: 0, talkSecondsTotal: 0, avgTalkSeconds: 0, talkSecondsP50: 0, talkSecondsP90: 0, peakConcurrency: 0, blockedCalls: 0, declinedCalls: 0 }, byOutcome: {}, byEndCause: {}, perDay: [], agents: [], byLanguage: [], sentiment: [], reaction: { answers: 0, p50Ms: null, p95Ms: null, byAgent: [], byProvider: [] }, costs: { chargedMinor: 0, byOutcome: [] }, hours: [], weekdayHours: [], usualWeekday: { day: '2026-11-27', weeks: 0, hours: [] } };

export const rows: readonly PageRow[] = [
  {
    name: 'analytics', path: () => '/analytics', heading: /^Analytics$/,
    empty: { request: /\/v1\/analytics\/calls/, answer: { data: none }, says: /^No call in these days$/ },
    failing: { request: /\/v1\/analytics\/calls/, says: /^The figures could not be read\.$/ },
    states: {
      hour: async (page) => {
        await page.locator('.columns a').first().click();
        await page.getByRole('dialog').getByText(/^Calls of /).waitFor();
        assert.match(page.url(), /hour=\d+/);
      },
    },
    keys: [{ press: ['g', 'i'], sees: (page) => page.waitForURL(/\/inbox/) }],
  },
  { name: 'analytics-nothing', path: () => '/analytics?from=2026-01-01&to=2026-01-02', heading: /^Analytics$/ },
];
