import { useMemo } from 'react';
import { useRead, type Schemas } from '../api/index.ts';
import { dayBegin, indiaDay } from '../parts/index.ts';

export const DAYS = 7;
/** The beginning of the last seven days of India, today included: the days that visits are counted over, too. */
export const weekBegin = (): string => dayBegin(indiaDay(DAYS - 1));

export interface AgentFigures { readonly calls: number; readonly answered: number; readonly p50Ms: number | null }

/** Calls of the last seven days by agent. */
export function useAgentFigures(): ReadonlyMap<string, AgentFigures> {
  const read = useRead('getCallAnalytics', { query: { from: weekBegin() } }, { fresh: 60_000 });
  return useMemo(() => {
    const data = read.data?.data;
    const reaction = new Map((data?.reaction.byAgent ?? []).map((one) => [one.agentId, one.p50Ms]));
    return new Map((data?.agents ?? []).filter((one) => one.agentId !== null).map((one) => [String(one.agentId), { calls: one.calls, answered: one.connectRate, p50Ms: reaction.get(one.agentId) ?? null }]));
  }, [read.data]);
}

/** The version that is live and what is wrong with the draft, of one agent. */
export function useFlowState(id: string) {
  const flow = useRead('getFlow', { path: { id } }, { fresh: 60_000 });
  const versions = useRead('listFlowVersions', { path: { id }, query: { limit: 1 } }, { fresh: 60_000 });
  const issues = flow.data?.data.issues;
  return {
    live: versions.data?.data.find((one) => one.live)?.number ?? versions.data?.data[0]?.number ?? null,
    errors: issues?.filter((one) => one.level === 'error').length ?? null,
    warnings: issues?.filter((one) => one.level === 'warning').length ?? null,
  };
}

export const useAgents = () => useRead('listAgents', {});
export const agentName = (agents: readonly Schemas['Agent'][] | undefined, id: string | null): string => agents?.find((one) => one.id === id)?.name ?? id ?? '';
