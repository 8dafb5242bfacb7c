import { useCallback, useMemo } from 'react';
import { currentScope, readKey, useHasRole, useRead, type Schemas } from '../api/index.ts';
import { ofWorkspace, useOperator } from '../api/use-operator.ts';
import { useCursorRows } from '../parts/index.ts';
import { useNewer } from '../parts/list.tsx';
import type { Delivery } from './names.ts';

export interface ApiKey {
  readonly id: string; readonly name: string; readonly mode: 'live' | 'test'; readonly scopes: readonly string[]; readonly prefix: string;
  readonly expiresAt: string | null; readonly revokedAt: string | null; readonly createdAt: string; readonly previousValidUntil: string | null; readonly lastUsedAt: string | null;
  readonly key?: string; readonly cancelled?: { readonly nudges: number; readonly scheduledCalls: number };
}
export const KEYS = (): string => ofWorkspace('/keys');
export const useApiKeys = () => useOperator<{ data: ApiKey[] }>(KEYS(), { every: 60_000 });

/** Endpoints are changed in live mode only, by admins. */
export const useMayChange = (): boolean => useHasRole('admin') && !currentScope()?.test;
export const useMayReplay = (): boolean => useHasRole('editor') && !currentScope()?.test;

export const useEndpoints = () => useRead('listWebhooks', {});
/** How many deliveries in a row failed, by endpoint, as far as a person is needed. */
export function useFailing(): ReadonlyMap<string, number> {
  const attention = useRead('listAttention', {}, { every: 30_000, enabled: !currentScope()?.test });
  return useMemo(() => new Map((attention.data?.data ?? []).filter((one) => one.kind === 'webhook_failing' && one.subject.id !== null).map((one) => [one.subject.id ?? '', one.count])), [attention.data]);
}

export type Hour = 'ok' | 'bad' | 'mixed' | 'none' | 'unknown';
export interface Health { readonly hours: readonly Hour[]; readonly delivered: number; readonly failed: number; readonly whole: boolean; readonly last: Delivery | undefined }
const HOUR = 3_600_000;

/** The last 24 hours, an hour a mark, by when each delivery was made. What lies before the newest 100 is not known. */
export function healthOf(page: Schemas['DeliveryPage'], now: number): Health {
  const oldest = page.data.at(-1);
  const known = page.nextCursor === null || !oldest ? 0 : Date.parse(oldest.createdAt);
  let [delivered, failed] = [0, 0];
  const hours = Array.from({ length: 24 }, (_, at): Hour => {
    const end = now - (23 - at) * HOUR;
    const inside = page.data.filter((one) => { const made = Date.parse(one.createdAt); return made > end - HOUR && (made <= end || at === 23); });
    const ok = inside.filter((one) => one.status === 'succeeded').length;
    const bad = inside.filter((one) => one.status === 'failed' || (one.status === 'pending' && one.attempts.length > 0)).length;
    delivered += ok;
    failed += bad;
    if (ok + bad === 0) return end < known ? 'unknown' : 'none';
    return bad === 0 ? 'ok' : ok === 0 ? 'bad' : 'mixed';
  });
  return { hours, delivered, failed, whole: known < now - 24 * HOUR, last: page.data[0] };
}
export function useHealth(id: string): Health | undefined {
  const page = useRead('listWebhookDeliveries', { path: { id }, query: { limit: 100 } }, { every: 30_000, keep: true });
  return useMemo(() => (page.data ? healthOf(page.data, Date.now()) : undefined), [page.data]);
}

export interface DeliveryFilter { readonly status?: 'pending' | 'succeeded' | 'failed' | undefined; readonly event?: string | undefined }

/** The log of an endpoint, newest first. States change in place; new rows wait while the pointer is over the list. */
export function useDeliveries(id: string, filter: DeliveryFilter) {
  const input = { path: { id }, query: { ...filter } };
  const rows = useCursorRows<Delivery>('listWebhookDeliveries', input, 50);
  const newest = useRead('listWebhookDeliveries', { path: { id }, query: { ...filter, limit: 20 } as never }, { every: 3_000, keep: true });
  const { again } = rows;
  const take = useCallback(() => again(), [readKey('listWebhookDeliveries', input as never).join(), again]);
  const fresh = new Map((newest.data?.data ?? []).map((one) => [one.id, one]));
  const shown = { ...rows, at: (index: number) => { const row = rows.at(index); return row === undefined ? undefined : fresh.get(row.id) ?? row; } };
  return { rows: shown, again, newer: useNewer(newest.data?.data.map((one) => one.id), rows.all.slice(0, 40).map((one) => one.id), take) };
}
