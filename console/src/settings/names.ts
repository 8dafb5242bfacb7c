import { t } from '../parts/index.ts';
import type { Role, Schemas } from '../api/index.ts';

export type Features = Schemas['WorkspaceFeatures'];
export type Limits = Schemas['WorkspaceLimits'];
export const ROLES: readonly Role[] = ['viewer', 'editor', 'admin', 'owner'];

/** What each role may beyond the one before it. */
export function roleMay(role: Role): readonly string[] {
  switch (role) {
    case 'viewer': return [t('read everything, with masked numbers, without sound and exports')];
    case 'editor': return [t('answer chats, move cards'), t('edit agents, flows, campaigns and contacts'), t('place calls, listen, take over'), t('look at a whole number, which is logged')];
    case 'admin': return [t('publish and launch'), t('keys, endpoints and members'), t('export the log and calls'), t('delete campaigns and streams')];
    case 'owner': return [t('erase a person'), t('delete agents'), t('make and change owners')];
  }
}
const gap = (low: Role, high: Role): string[] => ROLES.slice(ROLES.indexOf(low) + 1, ROLES.indexOf(high) + 1).flatMap((role) => roleMay(role));
/** What a change of role takes away, and what it gives. */
export const takenBy = (from: Role, to: Role): string[] => gap(to, from);
export const givenBy = (from: Role, to: Role): string[] => gap(from, to);

export function featureName(feature: string): string {
  switch (feature) {
    case 'analytics': return t('Analytics');
    case 'boards': return t('Boards');
    case 'knowledge': return t('Knowledge');
    case 'crmIntegrations': return t('Connected systems');
    case 'chat': return t('Chats');
    case 'chatappChannel': return t('Messaging channel');
    case 'chatappAgents': return t('Agents on the messaging channel');
    case 'chatappCampaigns': return t('Campaigns on the messaging channel');
    case 'fullTranscript': return t('Whole transcripts');
    case 'recording': return t('Recordings');
    case 'evaluation': return t('Grading of conversations');
    default: return feature;
  }
}
export function limitName(limit: string): string {
  switch (limit) {
    case 'requestsPerMinute': return t('Requests with keys a minute');
    case 'memberRequestsPerMinute': return t('Requests of a member a minute');
    case 'callsPerMinute': return t('Calls placed over the API a minute');
    case 'campaignWritesPerMinute': return t('Changes of campaigns a minute');
    case 'nudgesPerMinute': return t('New nudges a minute');
    case 'chatMessagesPerMinute': return t('Messages of customers a minute');
    case 'chatSessionsPerMinute': return t('New chats a minute');
    case 'channelMessagesPerMinute': return t('Messages on the channel a minute');
    case 'handOversPerMinute': return t('Takeovers and handbacks a minute');
    case 'flowTriesPerMinute': return t('Tries of flows a minute');
    case 'pendingNudges': return t('Nudges that wait');
    case 'concurrentCalls': return t('Calls at the same time');
    default: return limit;
  }
}
export function entityName(entity: Schemas['EntityClass']): string {
  switch (entity) {
    case 'undeclared': return t('Not declared');
    case 'unregulated': return t('Not regulated');
    case 'bank': return t('Bank');
    case 'payments_bank': return t('Payments bank');
    case 'small_finance_bank': return t('Small finance bank');
    case 'cooperative_bank': return t('Cooperative bank');
    case 'regional_rural_bank': return t('Regional rural bank');
    case 'large_nbfc': return t('Large NBFC');
    case 'nbfc': return t('NBFC');
    case 'asset_manager': return t('Asset manager');
    case 'pension_manager': return t('Pension manager');
    case 'insurer': return t('Insurer');
    case 'stock_broker': return t('Stock broker');
  }
}
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
