// Sends what failed again, from a moment on. The button names the number.
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Form } from 'react-aria-components';
import { ApiError, call, currentScope, scopeKey, useSend, type Schemas } from '../api/index.ts';
import { Button, ErrorNote, SelectInput, Sheet, count, plural, t, toast, when } from '../parts/index.ts';

const HOURS = { '1': 1, '6': 6, '24': 24, '168': 168, '720': 720 } as const;
type Since = keyof typeof HOURS;
const MOST = 5;

/** How many failed since then: whole up to 500, else at least so many. */
function useFailed(id: string, since: string) {
  return useQuery<{ n: number; more: boolean }, ApiError>({
    queryKey: [scopeKey(currentScope()), 'failed', id, since],
    queryFn: async ({ signal }) => {
      let cursor: string | undefined;
      let n = 0;
      for (let page = 0; page < MOST; page += 1) {
        const answer = await call('listWebhookDeliveries', { path: { id }, query: { status: 'failed', limit: 100, ...(cursor ? { cursor } : {}) }, signal });
        const inside = answer.data.filter((one) => one.createdAt >= since).length;
        n += inside;
        if (inside < answer.data.length || answer.nextCursor === null) return { n, more: false };
        cursor = answer.nextCursor;
      }
      return { n, more: true };
    },
    staleTime: 0,
  });
}

function outcome({ replayed, redacted }: Schemas['ReplayedDeliveries']): string {
  const sent = plural(replayed, '{n} delivery is sent again', '{n} deliveries are sent again');
  return redacted === 0 ? sent : `${sent}. ${plural(redacted, '{n} cannot be: its body was erased with the person', '{n} cannot be: their bodies were erased with the person')}`;
}

function ReplayForm({ id, onClose, done }: { id: string; onClose: () => void; done: () => void }) {
  const [choice, setChoice] = useState<Since>('24');
  const [from, setFrom] = useState(() => new Date(Date.now() - HOURS['24'] * 3_600_000).toISOString());
  const [rest, setRest] = useState<string | null>(null);
  const since = rest ?? from;
  const failed = useFailed(id, since);
  const replay = useSend('replayFailedDeliveries', {
    alters: ['listWebhookDeliveries'],
    done: ({ data }) => {
      done();
      toast(outcome(data));
      if (data.nextSince === null) onClose(); else setRest(data.nextSince);
    },
  });
  const waiting = replay.error?.meta.waiting;
  const choose = (to: Since): void => { setChoice(to); setRest(null); setFrom(new Date(Date.now() - HOURS[to] * 3_600_000).toISOString()); };
  const n = failed.data?.n ?? 0;
  const says = failed.data === undefined ? t('Send what failed again') : failed.data.more ? t('Send {n} and more deliveries again', { n: count(n) }) : plural(n, 'Send {n} delivery again', 'Send {n} deliveries again');
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); if (failed.data && n === 0) return; replay.mutate({ path: { id }, body: { since } }); }}>
      <h2>{t('Replay failed deliveries')}</h2>
      <SelectInput label={t('That failed in')} value={choice} onChange={choose} choices={[{ id: '1', text: t('the last hour') }, { id: '6', text: t('the last 6 hours') }, { id: '24', text: t('the last 24 hours') }, { id: '168', text: t('the last 7 days') }, { id: '720', text: t('the last 30 days, all that is kept') }]} />
      <p className="mid">{rest === null ? t('Since {time} IST. They go out with the same ids, the oldest first; the receiver recognises those that it has.', { time: when(since) }) : t('The first 10,000 are on their way. The rest follows when each of them was tried once: press again.')}</p>
      {failed.data && n === 0 && <p className="note"><span>{t('Nothing failed in this time. What is still tried again has not failed yet.')}</span></p>}
      {typeof waiting === 'number' && <p className="note" role="status">{plural(waiting, '{n} of the last replay still waits for its attempt. Try again in a minute.', '{n} of the last replay still wait for their attempt. Try again in a minute.')}</p>}
      {replay.error && typeof waiting !== 'number' && <ErrorNote error={replay.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={replay.isPending}>{says}</Button></div>
    </Form>
  );
}

export const ReplaySheet = ({ open, id, onClose, done }: { open: boolean; id: string; onClose: () => void; done: () => void }) => (
  <Sheet open={open} onClose={onClose} label={t('Replay failed deliveries')}><ReplayForm id={id} onClose={onClose} done={done} /></Sheet>
);
