import { useState } from 'react';
import { ApiError, call } from '../api/index.ts';
import { t, toast } from '../parts/index.ts';
import type { Draft } from './draft.ts';

/** Makes a version the draft again. The draft of before comes back by Undo. */
export function useRestore(agent: string, draft: Draft) {
  const [busy, setBusy] = useState<number | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const restore = async (number: number): Promise<void> => {
    setBusy(number);
    setError(null);
    try {
      if ((await draft.flush()) === null) return;
      draft.hold(true);
      const { data: now } = await call('getFlow', { path: { id: agent } });
      await call('restoreFlowVersion', { path: { id: agent, number: String(number) }, body: { baseVersion: now.draftVersion } });
      draft.adopt((await call('getFlow', { path: { id: agent } })).data);
      toast(t('v{n} is the draft again', { n: number }), { undo: draft.undoOne });
    } catch (cause) {
      draft.hold(false);
      setError(cause instanceof ApiError ? cause : new ApiError({ status: 0, code: 'failed', message: String(cause) }));
    } finally {
      setBusy(null);
    }
  };
  return { restore: (number: number) => void restore(number), busy, error };
}
