// Cards that were moved on the screen before the service said so; an error puts them back.
import { useCallback, useRef, useState } from 'react';
import { ApiError } from '../api/index.ts';
import { t, toast } from '../parts/index.ts';
import { move, undo, useRefresh, type Card, type Column } from './queries.ts';

export interface Moves {
  /** Cards that are not where the service still has them. */
  readonly ahead: ReadonlyMap<string, { readonly card: Card; readonly to: string }>;
  readonly error: ApiError | null;
  move: (card: Card, to: Column) => Promise<void>;
  /** Takes back the last move while that is possible. */
  undoLast: () => void;
}

/** Automations of a move wait so long; so long it can be undone. */
const UNDO = 5_000;

export function useMoves(owner: string): Moves {
  const refresh = useRefresh();
  const [ahead, setAhead] = useState<Moves['ahead']>(new Map());
  const [error, setError] = useState<ApiError | null>(null);
  const last = useRef<(() => void) | null>(null);
  const settle = useCallback((id: string) => setAhead((before) => { const next = new Map(before); next.delete(id); return next; }), []);
  const failed = (cause: unknown): void => setError(cause instanceof ApiError ? cause : new ApiError({ status: 0, code: 'failed', message: String(cause) }));

  const back = useCallback(async (card: Card, moveId: string): Promise<void> => {
    last.current = null;
    setAhead((before) => new Map(before).set(card.id, { card, to: card.columnId }));
    try {
      await undo(owner, card.id, moveId);
      await refresh();
      toast(t('Moved back'));
    } catch (cause) { failed(cause); } finally { settle(card.id); }
  }, [owner, refresh, settle]);

  const act = useCallback(async (card: Card, to: Column): Promise<void> => {
    setError(null);
    setAhead((before) => new Map(before).set(card.id, { card: { ...card, columnId: to.id, status: 'placed', suggestedColumnId: null, attentionReason: null }, to: to.id }));
    try {
      const done = await move(owner, card.id, to.id);
      const moveId = done.lastMoveId;
      const takeBack = done.undoUntil && moveId ? (): void => { void back(card, moveId); } : null;
      last.current = takeBack;
      const name = card.contactName ?? card.contactPhone ?? '';
      toast(card.columnId === to.id ? t('{name} stays in {column}', { name, column: to.name }) : t('{name} is now in {column}', { name, column: to.name }), { forMs: UNDO, ...(takeBack ? { undo: takeBack } : {}), gone: () => { if (last.current === takeBack) last.current = null; } });
      await refresh();
    } catch (cause) { failed(cause); } finally { settle(card.id); }
  }, [owner, refresh, settle, back]);

  return { ahead, error, move: act, undoLast: () => last.current?.() };
}
