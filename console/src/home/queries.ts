import { useQueries } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { call, currentScope, readKey, useDeltas, useRead, type Delta, type Schemas } from '../api/index.ts';
import { dayBegin, dayOf } from '../parts/index.ts';

export type Analytics = Schemas['CallAnalytics'];
export type Campaign = Schemas['Campaign'];
export type Summary = Schemas['CampaignSummary'];

/** Today's calls, by hour, with the usual weekday beside them. */
export const useToday = (now: number, enabled: boolean) => useRead('getCallAnalytics', { query: { from: dayBegin(dayOf(now)), groupBy: 'hour' } }, { every: 30_000, keep: true, enabled });
export const useAttention = () => useRead('listAttention', {}, { every: 30_000 });
export const useWallet = () => useRead('getWallet', {}, { every: 60_000 });
export const useWorkspace = () => useRead('getOwnWorkspace', {}, { fresh: 300_000 });

/** Calls that ring or talk now; told every five seconds at most. */
export function useLiveCount(): number | undefined {
  const [told, setTold] = useState<number>();
  useDeltas(LIVE, useCallback((delta: Delta) => { if (delta.topic === 'counts' && typeof delta.liveCalls === 'number') setTold(delta.liveCalls); }, []));
  const listed = useRead('listLiveCalls', { query: { limit: 100 } }, { enabled: told === undefined });
  return told ?? listed.data?.data.length;
}
const LIVE = ['live'];

const ORDER: Record<Campaign['status'], number> = { active: 0, paused: 1, draft: 2, completed: 3, archived: 4 };

/** Running first, then paused, drafts, ended; within each the newest first. */
export function useCampaigns() {
  return useRead('listCampaigns', {}, {
    every: 60_000,
    select: (answer) => ({ ...answer, data: [...answer.data].sort((a, b) => ORDER[a.status] - ORDER[b.status] || b.createdAt.localeCompare(a.createdAt)) }),
  });
}

/** How far each campaign is, in their order. */
export function useSummaries(campaigns: readonly Campaign[]): ReadonlyMap<string, Summary> {
  const mode = currentScope()?.test;
  const answers = useQueries({
    queries: campaigns.map((campaign) => ({
      queryKey: readKey('getCampaignSummary', { path: { id: campaign.id } }),
      queryFn: async ({ signal }: { signal: AbortSignal }) => call('getCampaignSummary', { path: { id: campaign.id }, signal }),
      refetchInterval: campaign.status === 'active' ? 5_000 : 60_000,
      enabled: mode !== undefined,
    })),
  });
  return new Map(campaigns.flatMap((campaign, at) => { const summary = answers[at]?.data?.data; return summary ? [[campaign.id, summary] as const] : []; }));
}
