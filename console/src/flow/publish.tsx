import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { call, invalidate } from '../api/index.ts';
import { Confirm, TextInput, t, toast } from '../parts/index.ts';
import type { Draft } from './draft.ts';
import { Compared } from './versions-panel.tsx';

/** What becomes live, in words, and a line that says why. Calls that are on keep their version. */
export function Publish({ agent, draft, live, open, onClose }: { agent: string; draft: Draft; live: number | null; open: boolean; onClose: () => void }) {
  const [note, setNote] = useState('');
  const client = useQueryClient();
  const next = (live ?? 0) + 1;
  const act = async (): Promise<void> => {
    await call('publishFlow', { path: { id: agent }, body: note.trim() === '' ? {} : { note: note.trim() } });
    void invalidate(client, ['flows', 'agents'], agent);
    setNote('');
    toast(t('v{n} is live', { n: next }));
  };
  return (
    <Confirm open={open} onClose={onClose} title={t('Publish this draft?')} action={t('Publish v{n}', { n: next })} act={act}>
      {live !== null && <><p className="mid">{t('What is different from v{n}, which is live:', { n: live })}</p><div className="diffbox" tabIndex={0} role="group" aria-label={t('Changes')}><Compared agent={agent} from={live} to="draft" draft={draft.graph} /></div></>}
      <TextInput label={t('Why')} value={note} onChange={setNote} maxLength={500} placeholder={t('A line that colleagues read in the versions')} autoFocus data-own-undo />
      <p className="meta">{live === null ? t('New conversations run it from now on.') : t('New conversations run it from now on. Calls that are on keep v{n}.', { n: live })}</p>
    </Confirm>
  );
}
