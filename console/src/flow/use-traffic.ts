import { useMemo } from 'react';
import { useRead } from '../api/index.ts';
import { count, percent, plural } from '../parts/index.ts';
import { edgeKey } from './words.tsx';
import { DAYS } from './queries.ts';
import type { Graph } from './graph.ts';

/** How often conversations of the last seven days took each edge of the live version. */
export function useTraffic(agent: string, live: number | null, graph: Graph) {
  const read = useRead('getFlowVisits', { path: { id: agent }, query: { days: DAYS, ...(live === null ? {} : { version: live }) } }, { enabled: live !== null, every: 60_000 });
  const data = read.data?.data;
  return useMemo(() => {
    const shares = new Map<string, number>();
    const into = new Map<string, number>();
    const all = data?.conversations ?? 0;
    for (const { from, edge, to, visits } of all > 0 ? (data?.edges ?? []) : []) {
      const key = edgeKey(from, edge);
      shares.set(key, (shares.get(key) ?? 0) + visits / all);
      if (to !== null) into.set(to, (into.get(to) ?? 0) + visits);
    }
    const short = (share: number): string => percent(share, 0);
    return {
      shares,
      share: (from: string | null, path: string): string | null => { const share = shares.get(edgeKey(from, path)); return share === undefined ? null : short(share); },
      visits: (id: string): { share: string; words: string } | null => {
        const visits = into.get(id);
        return visits === undefined || all === 0 ? null : { share: short(visits / all), words: plural(visits, 'In the last 7 days: {n} visit of {all} conversations.', 'In the last 7 days: {n} visits of {all} conversations.', { all: count(all) }) };
      },
    };
  }, [data, graph === undefined]);
}
