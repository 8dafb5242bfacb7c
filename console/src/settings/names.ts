import { t } from '../parts/index.ts';
import type { Role, Schemas } from '../api/index.ts';

export type Features = Schemas['WorkspaceFeatures'];
export type Limits = Schemas['WorkspaceLimits'];
export const ROLES: readonly Role[] = ['viewer', 'editor', 'admin', 'owner'];

/** What each role may beyond the one before it. */
export function roleMay(role: Role): readonly string[] {
  switch (role) {
    case 'viewer': return [t('read everything, with masked numbers, without sound and exports')];
    case 'editor': return [t('answer chats, move cards'), t('edit agents, flows, campaigns and contacts'), t('place calls'), t('look at a whole number, which is logged')];
    case 'admin': return [t('publish and launch'), t('keys, endpoints and members'), t('export the log'), t('delete campaigns and streams')];
    case 'owner': return [t('erase a person'), t('delete agents'), t('make and change owners')];
  }
}
const gap = (low: Role, high: Role): string[] => ROLES.slice(ROLES.indexOf(low) + 1, ROLES.indexOf(high) + 1).flatMap((role) => roleMay(role));
/** What a change of role takes away, and what it gives. */
export const takenBy = (from: Role, to: Role): string[] => gap(to, from);
export const givenBy = (from: Role, to: Role): string[] => gap(from, to);

/** Monday is 0. */
export function dayShort(weekday: number): string {
  switch (weekday) {
    case 0: return t('Mon');
    case 1: return t('Tue');
    case 2: return t('Wed');
    case 3: return t('Thu');
    case 4: return t('Fri');
    case 5: return t('Sat');
    default: return t('Sun');
  }
}
/** `Mon–Fri, Sun` */
export function daysSaid(days: readonly number[]): string {
  const sorted = [...new Set(days)].sort((one, other) => one - other);
  if (sorted.length === 7) return t('Every day');
  const runs: number[][] = [];
  for (const one of sorted) { const run = runs.at(-1); if (run && run.at(-1) === one - 1) run.push(one); else runs.push([one]); }
  return runs.map((run) => (run.length > 2 ? `${dayShort(run[0] ?? 0)}–${dayShort(run.at(-1) ?? 0)}` : run.map(dayShort).join(', '))).join(', ');
}
