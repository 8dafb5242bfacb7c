import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { call, currentScope, readKey, scopeKey, useRead, type ApiError, type Schemas } from '../api/index.ts';
import { useCursorRows } from '../parts/index.ts';
import { useNewer } from '../parts/list.tsx';
import type { LogRecord } from './names.ts';

export interface Verified { readonly result: Schemas['LogVerification']; readonly at: number; readonly took: number }

/** Verifies all chains; once for all tabs, and again when it is asked for. */
export function useVerified() {
  return useQuery<Verified, ApiError>({
    queryKey: [scopeKey(currentScope()), 'verified'],
    queryFn: async ({ signal }) => {
      const begun = performance.now();
      const { data } = await call('verifyLog', { signal });
      return { result: data, at: Date.now(), took: (performance.now() - begun) / 1_000 };
    },
    staleTime: Infinity,
  });
}

export const records = (verified: Verified | undefined, chain: string): number | undefined => verified?.result.chains.find((one) => one.name === chain)?.records;

export interface RecordFilter { readonly from?: string | undefined; readonly to?: string | undefined; readonly verdict?: 'allowed' | 'blocked' | undefined; readonly gate?: string | undefined; readonly callId?: string | undefined; readonly number?: string | undefined }

/** The records of a chain, newest first; new ones wait behind a pill while the pointer is over the list. */
export function useRecords(chain: Schemas['RecordChain'], filter: RecordFilter) {
  const query = { chain, ...filter } as Record<string, string>;
  const rows = useCursorRows<LogRecord>('listLogRecords', { query }, 100);
  const newest = useRead('listLogRecords', { query: { ...query, limit: 20 } as never }, { every: 10_000, keep: true });
  const { again } = rows;
  const take = useCallback(() => again(), [readKey('listLogRecords', { query: query as never }).join(), again]);
  return { rows, newer: useNewer(newest.data?.data.map((one) => one.id), rows.all.slice(0, 40).map((one) => one.id), take) };
}

/** Names of agents by their id. */
export function useAgentNames(): (id: string | null) => string | null {
  const agents = useRead('listAgents', {}, { fresh: 300_000 });
  return (id) => (id === null ? null : agents.data?.data.find((one) => one.id === id)?.name ?? id);
}
