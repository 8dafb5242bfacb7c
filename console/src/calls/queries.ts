// The list of calls. It is read up to one moment, so that rows keep their place; what came later waits behind 'N newer'.
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useReducer } from 'react';
import { ApiError, callIn, currentScope, scopeKey, useRead, type Operations, type Schemas, type Scope } from '../api/index.ts';
import type { Rows } from '../parts/index.ts';

export type Call = Schemas['Call'];
export type CallFilter = Omit<NonNullable<Operations['listCalls']['query']>, 'limit' | 'cursor' | 'from' | 'to'> & { readonly from: string; readonly to: string };
type Counts = Schemas['CallCounts'];
export const FACETS = ['state', 'outcome', 'endCause', 'agentId', 'campaignId', 'direction'] as const;
export type FacetKey = (typeof FACETS)[number];

const PAGE = 200;
const NEWER_EVERY = 5_000;
const KEPT = { staleTime: Infinity, retry: 1, refetchOnWindowFocus: false } as const;
const earlier = (one: string, other: string): string => (one < other ? one : other);

/** These keys are no operations: the stream does not make them old, or every new call would read all pages again. */
function useAsked<T>(name: string, input: object, ask: (scope: Scope | null, signal: AbortSignal) => Promise<T>, options: { enabled?: boolean; every?: number } = {}) {
  const scope = currentScope();
  return useQuery<T, ApiError>({
    queryKey: [scopeKey(scope), name, input], queryFn: ({ signal }) => ask(scope, signal), ...KEPT,
    enabled: options.enabled ?? true, refetchInterval: options.every ?? false,
  });
}
const useCounts = (name: string, query: CallFilter, options: { enabled?: boolean; every?: number } = {}) =>
  useAsked<Counts>(name, query, async (scope, signal) => (await callIn(scope, 'countCalls', { query, signal })).data, options);

export interface CallList { readonly rows: Rows<Call>; readonly counts: Counts | undefined; readonly newer: number; readonly refresh: () => void; readonly read: CallFilter }

/** The calls of a filter; `refresh` takes in those that came since. */
export function useCallList(filter: CallFilter): CallList {
  const client = useQueryClient();
  const [round, refresh] = useReducer((n: number) => n + 1, 0);
  const newest = useAsked('calls:newest', { filter, round }, async (scope, signal) => {
    const page = await callIn(scope, 'listCalls', { query: { ...filter, limit: 1 }, signal });
    const first = page.data[0];
    return { to: first ? new Date(Date.parse(first.startedAt) + 1).toISOString() : page.nextCursor ? new Date().toISOString() : null };
  });
  const until = newest.data ? earlier(filter.to, newest.data.to ?? filter.from) : filter.to;
  const read = useMemo<CallFilter>(() => ({ ...filter, to: until }), [filter, until]);
  const counts = useCounts('calls:counts', read, { enabled: newest.data !== undefined && newest.data.to !== null });
  const newer = useCounts('calls:newer', { ...filter, from: until }, { enabled: newest.data !== undefined && filter.to > new Date().toISOString(), every: NEWER_EVERY });
  const none = newest.data?.to === null;
  const waiting = newer.data?.total ?? 0;
  useEffect(() => { if (none && waiting > 0) refresh(); }, [none, waiting]);
  const rows = useDayRows(client, read, none ? NOTHING : counts.data);
  const error = newest.error ?? (none ? null : counts.error);
  return {
    counts: none ? NOTHING : counts.data, newer: none ? 0 : waiting, refresh, read,
    rows: { ...rows, error: error ?? rows.error, loading: !error && (newest.isPending || (!none && counts.isPending)), again: () => { if (newest.error) void newest.refetch(); if (counts.error) void counts.refetch(); rows.again(); } },
  };
}
const NOTHING: Counts = { total: 0, state: [], direction: [], outcome: [], endCause: [], agent: [], campaign: [], days: [] };

/** The values of a filter that is on, counted without it, so that another one can be chosen. */
export function useFacetCounts(read: CallFilter, counts: Counts | undefined): Record<FacetKey, readonly Schemas['CallFacet'][]> {
  const without = (key: FacetKey): CallFilter => { const { [key]: _, ...rest } = read; return rest as CallFilter; };
  const list = FACETS.map((key) => ({ key, on: read[key] !== undefined }));
  const others = {
    state: useCounts('calls:counts', without('state'), { enabled: list[0]?.on ?? false }), outcome: useCounts('calls:counts', without('outcome'), { enabled: list[1]?.on ?? false }),
    endCause: useCounts('calls:counts', without('endCause'), { enabled: list[2]?.on ?? false }), agentId: useCounts('calls:counts', without('agentId'), { enabled: list[3]?.on ?? false }),
    campaignId: useCounts('calls:counts', without('campaignId'), { enabled: list[4]?.on ?? false }), direction: useCounts('calls:counts', without('direction'), { enabled: list[5]?.on ?? false }),
  };
  const of = (key: FacetKey, name: Exclude<keyof Counts, 'total' | 'days'>): readonly Schemas['CallFacet'][] => (read[key] === undefined ? counts : others[key].data)?.[name] ?? [];
  return { state: of('state', 'state'), outcome: of('outcome', 'outcome'), endCause: of('endCause', 'endCause'), agentId: of('agentId', 'agent'), campaignId: of('campaignId', 'campaign'), direction: of('direction', 'direction') };
}

interface Day { readonly from: string; readonly to: string; readonly start: number; readonly count: number; rows: Call[]; cursor: string | null; done: boolean }

/** Pages by the days of India: the counts tell where a day begins, so the scrollbar is true and a jump reads only its day. */
class DayPages {
  readonly days: readonly Day[];
  readonly total: number;
  error: ApiError | null = null;
  private window: readonly [number, number] = [0, 0];
  private busy = false;

  private readonly client: QueryClient;
  private readonly scope: Scope | null;
  private readonly filter: CallFilter;
  private readonly changed: () => void;

  constructor(client: QueryClient, scope: Scope | null, filter: CallFilter, counts: Counts, changed: () => void) {
    [this.client, this.scope, this.filter, this.changed] = [client, scope, filter, changed];
    let start = 0;
    this.days = [...counts.days].sort((one, other) => (one.day < other.day ? 1 : -1)).map(({ day, count }) => {
      const begin = Date.parse(`${day}T00:00:00+05:30`);
      const [from, to] = [new Date(begin).toISOString(), new Date(begin + 86_400_000).toISOString()];
      const made: Day = { from: from > filter.from ? from : filter.from, to: earlier(to, filter.to), start, count, rows: [], cursor: null, done: false };
      start += count;
      return made;
    });
    this.total = counts.total;
  }

  readonly at = (index: number): Call | undefined => {
    const day = this.dayOf(index);
    return day?.rows[index - day.start];
  };
  readonly want = (first: number, last: number): void => { this.window = [first, last]; void this.fill(); };
  readonly again = (): void => { this.error = null; void this.fill(); };
  /** The ids that are there, in the order of the list. */
  ids(): string[] { return this.days.flatMap((day) => day.rows.map((row) => row.id)); }

  private dayOf(index: number): Day | undefined {
    return this.days.find((day) => index < day.start + day.count);
  }
  private missing(): Day | undefined {
    const [first, last] = this.window;
    for (let index = first; index <= Math.min(last, this.total - 1); index += 1) {
      const day = this.dayOf(index);
      if (day && !day.done && day.rows[index - day.start] === undefined) return day;
    }
    return undefined;
  }
  private async fill(): Promise<void> {
    if (this.busy || this.error) return;
    this.busy = true;
    try {
      for (let day = this.missing(); day; day = this.missing()) { await this.page(day); this.changed(); }
    } catch (cause) {
      this.error = cause instanceof ApiError ? cause : new ApiError({ status: 0, code: 'failed', message: String(cause) });
      this.changed();
    } finally {
      this.busy = false;
    }
  }
  private async page(day: Day): Promise<void> {
    const query = { ...this.filter, from: day.from, to: day.to, limit: PAGE, ...(day.cursor ? { cursor: day.cursor } : {}) };
    const page = await this.client.fetchQuery<Schemas['CallPage'], ApiError>({ queryKey: [scopeKey(this.scope), 'calls:page', query], queryFn: ({ signal }) => callIn(this.scope, 'listCalls', { query, signal }), ...KEPT });
    day.rows = [...day.rows, ...page.data];
    day.cursor = page.nextCursor;
    day.done = page.nextCursor === null;
  }
}

function useDayRows(client: QueryClient, filter: CallFilter, counts: Counts | undefined): Rows<Call> {
  const [, changed] = useReducer((n: number) => n + 1, 0);
  const scope = scopeKey(currentScope());
  const pages = useMemo(() => (counts ? new DayPages(client, currentScope(), filter, counts, changed) : null), [client, filter, counts, scope]);
  useEffect(() => { if (pages) shownLast = pages; }, [pages]);
  return { count: pages?.total ?? 0, exact: pages !== null, at: pages?.at ?? nothing, want: pages?.want ?? nothing, again: pages?.again ?? nothing, error: pages?.error ?? null, loading: pages === null };
}
const nothing = (): undefined => undefined;

let shownLast: DayPages | null = null;
/** The neighbour of a call in the list that was shown last: 1 is the next row, -1 the one before. */
export function neighbour(id: string, step: 1 | -1): string | null {
  const ids = shownLast?.ids() ?? [];
  const at = ids.indexOf(id);
  return at < 0 ? null : ids[at + step] ?? null;
}
/** Without a list: the call before or after in time. */
export async function neighbourInTime(call: Call, step: 1 | -1): Promise<string | null> {
  const scope = currentScope();
  if (step === 1) return (await callIn(scope, 'listCalls', { query: { to: call.startedAt, limit: 1 } })).data[0]?.id ?? null;
  for (const minutes of [10, 360, 10_080]) {
    const after = Date.parse(call.startedAt) + 1;
    const page = await callIn(scope, 'listCalls', { query: { from: new Date(after).toISOString(), to: new Date(after + minutes * 60_000).toISOString(), limit: PAGE } });
    if (page.data.length > 0) return page.data.at(-1)?.id ?? null;
  }
  return null;
}

/** A row as it is now: one that is live, or was a moment ago, is read again when it changes. */
export function useNow(row: Call): Call {
  const fresh = row.state === 'ringing' || row.state === 'in_progress' || (row.answered && Date.now() - Date.parse(row.endedAt ?? row.startedAt) < 300_000);
  const read = useRead('getCall', { path: { id: row.id } }, { enabled: fresh });
  return read.data?.data ?? row;
}
