import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/', nav: 'home', role: 'viewer', topics: [], load: () => import('./page.tsx') },
];
