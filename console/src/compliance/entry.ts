import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/compliance', nav: 'compliance', role: 'viewer', topics: [], load: () => import('./dials-page.tsx') },
  { path: '/compliance/dials', role: 'viewer', topics: [], load: () => import('./dials-page.tsx') },
  { path: '/compliance/consent', role: 'viewer', topics: [], load: () => import('./consent-page.tsx') },
  { path: '/compliance/requests', role: 'viewer', topics: [], load: () => import('./requests-page.tsx') },
  { path: '/compliance/changes', role: 'viewer', topics: [], load: () => import('./changes-page.tsx') },
  { path: '/compliance/exports', role: 'viewer', topics: [], load: () => import('./exports-page.tsx') },
];
