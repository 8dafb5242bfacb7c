import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/evaluation', role: 'viewer', topics: [], load: () => import('./page.tsx') },
  { path: '/evaluation/:id', role: 'viewer', topics: [], load: () => import('./agent-page.tsx') },
];
