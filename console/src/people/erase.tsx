// Erasing a person: for good, and only after the last four digits of the number were typed.
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { useMutation } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call, invalidate, useSend, type ApiError } from '../api/index.ts';
import { Bars, Button, Confirm, ErrorNote, Name, Sheet, rich, t, toast } from '../parts/index.ts';
import type { Person } from './queries.ts';

export function EraseDialog({ person, onClose }: { person: Person; onClose: () => void }) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const number = useMutation<string, ApiError>({ mutationFn: async () => (await call('revealContact', { path: { id: person.id } })).data.number });
  const { mutate } = number;
  const has = person.phone !== null;
  useEffect(() => { if (has) mutate(); }, [has, mutate]);
  const erase = useSend('eraseContact');
  if (has && number.data === undefined) {
    return (
      <Sheet open onClose={onClose} label={t('Erase this person')}>
        <div className="form"><h2>{t('Erase this person')}</h2>{number.error ? <ErrorNote error={number.error} /> : <Bars rows={2} />}<div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button></div></div>
      </Sheet>
    );
  }
  const typed = number.data === undefined ? { label: t('Type the id of the contact'), text: person.id } : { label: t('Type the last four digits of the number'), text: number.data.slice(-4) };
  const act = async (): Promise<void> => {
    const { data } = await erase.mutateAsync({ path: { id: person.id } });
    toast(t('The person is erased: {calls} calls, {messages} messages', { calls: data.erased.calls, messages: data.erased.messages }), { forMs: 12_000 });
    await invalidate(client, ['contacts', 'calls', 'chats', 'conversations', 'messages', 'do_not_call'], null);
    navigate('/contacts');
  };
  return (
    <Confirm open onClose={onClose} title={t('Erase this person for good?')} action={t('Erase this person')} danger typed={typed} act={act}>
      <p>{rich('{name}: number, calls, transcripts, recordings, messages and chats are deleted, in both modes. This cannot be undone.', { name: <Name>{person.name ?? person.externalRef ?? person.id}</Name> })}</p>
      <p className="mid">{t('Times and amounts stay in the log and in the ledger. The number stays blocked if it was on the do-not-call list.')}</p>
      {number.data !== undefined && <p className="meta">{t('The number was looked up for this, which is written to the log.')}</p>}
    </Confirm>
  );
}
