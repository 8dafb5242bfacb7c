import type { PageRow } from '../table.ts';

export const rows: readonly PageRow[] = [
  { name: 'home', path: () => '/', heading: /\d+ \w+/,
    empty: { request: /\/v1\/campaigns$/, answer: { data: [] }, says: /^No campaigns yet$/ },
    states: {
      json: async (page) => { await page.getByRole('button', { name: 'More actions' }).click(); await page.getByRole('menuitem', { name: 'Open as JSON' }).click(); await page.getByText('"totals"').waitFor(); },
    },
    failing: { request: /\/v1\/analytics\/calls/, says: /^The figures of today could not be read\.$/ },
  },
];
