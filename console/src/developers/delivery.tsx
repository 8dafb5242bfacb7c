// One delivery beside the log: what was sent, every attempt, and what the receiver answered.
import { Copy, RotateCw, X } from 'lucide-react';
import { exists } from '../shell/index.ts';
import { useRead, useSend } from '../api/index.ts';
import { Button, ButtonLink, ErrorNote, Fact, Facts, Json, Shown, State, When, clockMillis, day, millis, plural, t, toast } from '../parts/index.ts';
import { useMayChange } from './queries.ts';
import { deliveryState, type Delivery, type Endpoint } from './names.ts';

function Attempts({ delivery }: { delivery: Delivery }) {
  if (delivery.attempts.length === 0) return <p className="mid">{t('Not tried yet.')}</p>;
  return (
    <ol className="dv-attempts">
      {delivery.attempts.map((attempt, at) => {
        const ok = attempt.status !== null && attempt.status >= 200 && attempt.status < 300 && attempt.error === null;
        return (
          <li key={at} data-ok={ok}>
            <div className="row"><State tone={ok ? 'pass' : 'bad'}>{attempt.status === null ? t('No answer') : t('Answered {status}', { status: attempt.status })}</State><span className="grow" /><span className="num dim"><When at={attempt.at}>{`${day(attempt.at)}, ${clockMillis(attempt.at)}`}</When></span><span className="num">{millis(attempt.durationMs)}</span></div>
            {attempt.error && !(attempt.status !== null && attempt.error.endsWith(` ${attempt.status}`)) && <p className="mid dv-error" dir="auto" translate="no">{attempt.error}</p>}
          </li>
        );
      })}
    </ol>
  );
}

/** Of what the payload is about: the page of its call. */
function callOf(delivery: Delivery): string | null {
  const data = delivery.payload?.data;
  const id = typeof data === 'object' && data !== null ? (data as { callId?: unknown }).callId : undefined;
  return typeof id === 'string' && id.startsWith('call_') ? id : null;
}

function Content({ delivery, endpoint, replayed }: { delivery: Delivery; endpoint: Endpoint; replayed: () => void }) {
  const may = useMayChange();
  const replay = useSend('replayWebhookDelivery', { alters: ['listWebhookDeliveries', 'getWebhookDelivery'], done: () => { toast(t('It is sent again')); replayed(); } });
  const { tone, text } = deliveryState(delivery);
  const call = callOf(delivery);
  return (
    <>
      <section>
        <div className="row wrap"><State tone={tone}>{text}</State><span className="grow" />
          {may && delivery.payload && endpoint.status === 'active' && <Button icon={RotateCw} isPending={replay.isPending} onPress={() => replay.mutate({ path: { id: endpoint.id, deliveryId: delivery.id } })}>{delivery.status === 'pending' ? t('Send now') : t('Send again')}</Button>}
          {call && exists('calls') && <ButtonLink href={`/calls/${call}`}>{t('Open the call')}</ButtonLink>}
        </div>
        {replay.error && <ErrorNote error={replay.error} />}
        <Facts>
          <Fact name={t('Event')}><span className="mono">{delivery.event}</span></Fact>
          <Fact name={t('Made')}><When at={delivery.createdAt} /></Fact>
          {delivery.deliveredAt && <Fact name={t('Delivered')}><When at={delivery.deliveredAt} /></Fact>}
          {delivery.nextAttemptAt && <Fact name={t('Next attempt')}><When at={delivery.nextAttemptAt} /></Fact>}
          <Fact name={t('Delivery')}><span className="mono">{delivery.id}</span></Fact>
          <Fact name={t('Event id')}><span className="mono">{delivery.eventId}</span></Fact>
        </Facts>
      </section>
      <section><h3>{plural(delivery.attempts.length, '{n} attempt', '{n} attempts')}</h3><Attempts delivery={delivery} /></section>
      <section>
        <div className="row"><h3 className="grow">{t('Request')}</h3>{delivery.payload && <Button kind="bare" small icon={Copy} label={t('Copy the body')} onPress={() => { void navigator.clipboard.writeText(JSON.stringify(delivery.payload)).then(() => toast(t('Copied'))); }} />}</div>
        <p className="mono dv-error" translate="no" dir="ltr">POST {endpoint.url}</p>
        {delivery.payload ? <Json value={delivery.payload} /> : <p className="mid">{t('The body was emptied when the person was erased. It cannot be sent again.')}</p>}
      </section>
    </>
  );
}

export function DeliveryRail({ endpoint, id, onClose, replayed }: { endpoint: Endpoint; id: string; onClose: () => void; replayed: () => void }) {
  const delivery = useRead('getWebhookDelivery', { path: { id: endpoint.id, deliveryId: id } }, { every: 3_000 });
  return (
    <aside className="dv-rail" aria-label={t('Delivery')}>
      <header className="row"><h2 className="grow cut">{delivery.data ? <span className="mono">{delivery.data.data.event}</span> : t('Delivery')}</h2><Button kind="bare" small icon={X} label={t('Close')} onPress={onClose} /></header>
      <Shown of={delivery} what={t('The delivery could not be read.')}>{({ data }) => <Content delivery={data} endpoint={endpoint} replayed={replayed} />}</Shown>
    </aside>
  );
}
