import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/settings', nav: 'settings', role: 'viewer', topics: [], load: () => import('./workspace-page.tsx') },
  { path: '/settings/members', role: 'viewer', topics: [], load: () => import('./members-page.tsx') },
  { path: '/settings/wallet', role: 'viewer', topics: [], load: () => import('./wallet-page.tsx') },
  { path: '/settings/hours', role: 'viewer', topics: [], load: () => import('./hours-page.tsx') },
  { path: '/settings/labels', role: 'viewer', topics: [], load: () => import('./labels-page.tsx') },
  { path: '/settings/tools', role: 'viewer', topics: [], load: () => import('./tools-page.tsx') },
  { path: '/settings/packs', role: 'viewer', topics: [], load: () => import('./packs-page.tsx') },
  { path: '/settings/profile', role: 'viewer', topics: [], load: () => import('./profile-page.tsx') },
  { path: '/settings/sessions', role: 'viewer', topics: [], load: () => import('./sessions-page.tsx') },
];
