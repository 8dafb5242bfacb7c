import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/inbox/settings', role: 'viewer', topics: [], load: () => import('./settings-page.tsx') },
  { path: '/inbox/:chat?', nav: 'inbox', role: 'viewer', topics: [], load: () => import('./page.tsx') },
];
