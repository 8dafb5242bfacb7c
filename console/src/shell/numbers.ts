// The numbers beside the entries of the navigation. Amber only where a person is waited for.
import { useCallback, useState } from 'react';
import { currentScope, useDeltas, useRead, type Delta } from '../api/index.ts';
import { t } from '../parts/index.ts';
import type { NavKey } from './registry.ts';

interface Number { readonly n: number; readonly waits: boolean; readonly text: string; readonly more?: boolean }

export function useNumbers(): Partial<Record<NavKey, Number>> {
  const live = !currentScope()?.test;
  const [told, setTold] = useState<{ liveCalls?: number; waitingChats?: number }>({});
  useDeltas([], useCallback((delta: Delta) => {
    if (delta.topic === 'counts') setTold({ ...(typeof delta.liveCalls === 'number' ? { liveCalls: delta.liveCalls } : {}), ...(typeof delta.waitingChats === 'number' ? { waitingChats: delta.waitingChats } : {}) });
  }, []));
  const attention = useRead('listAttention', {}, { enabled: live, every: 30_000 });
  const inbox = useRead('countInbox', {}, { enabled: live, every: 60_000 });
  if (!live) return {};
  const waiting = told.waitingChats ?? inbox.data?.data.waiting ?? 0;
  const items = attention.data?.data ?? [];
  const sum = (kind: string, each: boolean): number => items.filter((item) => item.kind === kind).reduce((total, item) => total + (each ? 1 : item.count), 0);
  return {
    live: { n: told.liveCalls ?? 0, waits: false, text: t('live calls'), more: told.liveCalls === 1_000 },
    inbox: { n: waiting, waits: true, text: t('wait for a person'), more: waiting >= 1_000 },
    boards: { n: sum('cards_to_review', false), waits: true, text: t('cards to review') },
    developers: { n: sum('webhook_failing', true), waits: true, text: t('failing endpoints') },
  };
}
