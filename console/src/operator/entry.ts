import { BookLock, Building2, ScrollText, Server, UserRoundKey } from 'lucide-react';
import { t } from '../parts/index.ts';
import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [
  { path: '/', role: 'viewer', topics: [], operator: true, load: () => import('./workspaces-page.tsx') },
  { path: '/workspaces', role: 'viewer', topics: [], operator: true, nav: { text: () => t('Workspaces'), icon: Building2, href: '/workspaces' }, load: () => import('./workspaces-page.tsx') },
  { path: '/workspaces/:id', role: 'viewer', topics: [], operator: true, load: () => import('./workspace-page.tsx') },
  { path: '/registry', role: 'viewer', topics: [], operator: true, nav: { text: () => t('Registry'), icon: BookLock, href: '/registry' }, load: () => import('./registry-page.tsx') },
  { path: '/nodes', role: 'viewer', topics: [], operator: true, nav: { text: () => t('Nodes'), icon: Server, href: '/nodes' }, load: () => import('./nodes-page.tsx') },
  { path: '/people', role: 'viewer', topics: [], operator: true, nav: { text: () => t('People'), icon: UserRoundKey, href: '/people' }, load: () => import('./people-page.tsx') },
  { path: '/log', role: 'viewer', topics: [], operator: true, nav: { text: () => t('Log'), icon: ScrollText, href: '/log' }, load: () => import('./log-page.tsx') },
];
