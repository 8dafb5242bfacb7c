import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/contacts', nav: 'contacts', role: 'viewer', topics: [], load: () => import('./page.tsx') },
  { path: '/contacts/do-not-call', role: 'viewer', topics: [], load: () => import('./do-not-call-page.tsx') },
  { path: '/contacts/:id', role: 'viewer', topics: [], load: () => import('./person-page.tsx') },
];
