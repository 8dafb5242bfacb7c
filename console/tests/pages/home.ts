import type { PageRow } from '../table.ts';

export const rows: readonly PageRow[] = [
  { name: 'home', path: () => '/', heading: /\d+ \w+/,
    empty: { request: /\/v1\/campaigns$/, answer: { data: [] }, says: /^No campaigns yet$/ },
    failing: { request: /\/v1\/analytics\/calls/, says: /^The figures of today could not be read\.$/ },
  },
];
