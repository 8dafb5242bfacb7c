import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/calls', nav: 'calls', role: 'viewer', topics: [], load: () => import('./page.tsx') },
  { path: '/calls/:id', role: 'viewer', topics: [], load: () => import('./call-page.tsx') },
  { path: '/evaluation/chats/:id', role: 'viewer', topics: [], load: () => import('./chat-grades-page.tsx') },
];
