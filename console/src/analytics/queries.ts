import { useQueries, type UseQueryResult } from '@tanstack/react-query';
import { callIn, currentScope, readKey, useRead, type Answer, type ApiError, type Input, type Schemas } from '../api/index.ts';
import { dayBegin, dayEnd, indiaDay, t, useFilters, type DayRange, type Filters } from '../parts/index.ts';

export type Report = Schemas['CallAnalytics'];
export interface Asked { readonly range: DayRange; readonly agentId: string; readonly campaignId: string; readonly filters: Filters }

/** Days, agent and campaign, as they stand in the address; the last seven days unless it says otherwise. */
export function useAsked(): Asked {
  const filters = useFilters();
  const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
  const end = isDay(filters.one('to')) ? filters.one('to') : indiaDay();
  const start = isDay(filters.one('from')) && filters.one('from') <= end ? filters.one('from') : filters.one('from') === '' && end === indiaDay() ? indiaDay(6) : end;
  return { range: { start, end }, agentId: filters.one('agentId'), campaignId: filters.one('campaignId'), filters };
}

const place = ({ agentId, campaignId }: Asked) => ({ ...(agentId ? { agentId } : {}), ...(campaignId ? { campaignId } : {}) });
export const useReport = (asked: Asked) => useRead('getCallAnalytics', { query: { from: dayBegin(asked.range.start), to: dayEnd(asked.range.end), groupBy: 'hour', ...place(asked) } }, { keep: true, every: 60_000 });
export const useAgents = () => useRead('listAgents', {}, { fresh: 60_000 });
export const useCampaigns = () => useRead('listCampaigns', {}, { fresh: 60_000 });

/** The address of the calls behind a bar. */
export function callsBehind(asked: Asked, more: Readonly<Record<string, string>> = {}): string {
  return `/calls?${new URLSearchParams({ from: asked.range.start, to: asked.range.end, ...place(asked), ...more }).toString()}`;
}

const HOUR = 3_600_000;
/** Calls of one hour of the day, for each day of the range that had calls: newest day first, at most 31. */
export function useHourCalls(asked: Asked, days: readonly string[], hour: number): readonly { readonly day: string; readonly answer: UseQueryResult<Answer<'listCalls'>, ApiError> }[] {
  const scope = currentScope();
  const chosen = [...days].reverse().slice(0, 31);
  const answers = useQueries({
    queries: chosen.map((day) => {
      const begin = Date.parse(dayBegin(day)) + hour * HOUR;
      const input: Input<'listCalls'> = { query: { from: new Date(begin).toISOString(), to: new Date(begin + HOUR).toISOString(), limit: 20, ...place(asked) } };
      return { queryKey: readKey('listCalls', input), queryFn: ({ signal }: { signal: AbortSignal }) => callIn(scope, 'listCalls', { ...input, signal }) };
    }),
  }) as UseQueryResult<Answer<'listCalls'>, ApiError>[];
  return chosen.map((day, at) => ({ day, answer: answers[at] as UseQueryResult<Answer<'listCalls'>, ApiError> }));
}

export function stageName(stage: Schemas['ReactionStage']): string {
  return stage === 'recognition' ? t('Recognition') : stage === 'model' ? t('Model') : t('Speech');
}

/** The outcomes of the service in words; those of a flow as its author named them. */
export function outcomeName(outcome: string): string {
  switch (outcome) {
    case 'opted_out': return t('Asked not to be called');
    case 'transferred': return t('Transferred');
    case 'simulated': return t('Simulated');
    default: return outcome.replaceAll('_', ' ');
  }
}
