import type { PageRow } from '../table.ts';

export const rows: readonly PageRow[] = [
  { name: 'home', path: () => '/', heading: /\d+ \w+/ },
];
