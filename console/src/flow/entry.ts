import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/agents', nav: 'agents', role: 'viewer', topics: [], load: () => import('./agents-page.tsx') },
  { path: '/agents/:id', role: 'viewer', topics: [], narrow: true, load: () => import('./builder.tsx') },
  { path: '/agents/:id/flow', role: 'viewer', topics: [], narrow: true, load: () => import('./builder.tsx') },
  { path: '/agents/:id/:tab', role: 'viewer', topics: [], load: () => import('./agent-page.tsx') },
  { path: '/knowledge', nav: 'knowledge', role: 'viewer', topics: [], load: () => import('./knowledge-page.tsx') },
  { path: '/knowledge/:id', role: 'viewer', topics: [], load: () => import('./knowledge-base-page.tsx') },
  { path: '/numbers', nav: 'numbers', role: 'viewer', topics: [], load: () => import('./numbers-page.tsx') },
];
