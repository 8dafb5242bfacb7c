import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/campaigns', nav: 'campaigns', role: 'viewer', topics: [], load: () => import('./list-page.tsx') },
  { path: '/campaigns/:id/list/import', role: 'viewer', topics: [], load: () => import('./import-page.tsx') },
  { path: '/campaigns/:id/:tab?', role: 'viewer', topics: [], load: () => import('./campaign-page.tsx') },
];
