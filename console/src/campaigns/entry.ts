import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/campaigns', nav: 'campaigns', role: 'viewer', topics: [], load: () => import('./list-page.tsx') },
  { path: '/campaigns/:id/list/import', role: 'viewer', topics: [], load: () => import('./import-page.tsx') },
  { path: '/campaigns/:id/:tab?', role: 'viewer', topics: [], load: () => import('./campaign-page.tsx') },
  { path: '/templates', nav: 'templates', role: 'viewer', topics: [], load: () => import('./templates-page.tsx') },
  { path: '/templates/:id', role: 'viewer', topics: [], load: () => import('./template-page.tsx') },
  { path: '/streams', nav: 'streams', role: 'viewer', topics: [], load: () => import('./streams-page.tsx') },
  { path: '/streams/:id', role: 'viewer', topics: [], load: () => import('./stream-page.tsx') },
];
