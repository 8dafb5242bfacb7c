import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/analytics', nav: 'analytics', role: 'viewer', topics: [], load: () => import('./page.tsx') },
];
