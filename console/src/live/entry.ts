import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/live', nav: 'live', role: 'viewer', topics: ['live'], load: () => import('./page.tsx') },
];
