import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/developers', nav: 'developers', role: 'viewer', topics: [], load: () => import('./endpoints-page.tsx') },
  { path: '/developers/endpoints', role: 'viewer', topics: [], load: () => import('./endpoints-page.tsx') },
  { path: '/developers/endpoints/:id', role: 'viewer', topics: [], load: () => import('./endpoint-page.tsx') },
  { path: '/developers/events', role: 'admin', topics: [], load: () => import('./events-page.tsx') },
  { path: '/developers/keys', role: 'admin', topics: [], load: () => import('./keys-page.tsx') },
];
