import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/boards', nav: 'boards', role: 'viewer', topics: [], load: () => import('./list-page.tsx') },
  { path: '/boards/:owner/columns', role: 'editor', topics: [], load: () => import('./columns-page.tsx') },
  { path: '/boards/:owner', role: 'viewer', topics: [], load: () => import('./board-page.tsx') },
];
