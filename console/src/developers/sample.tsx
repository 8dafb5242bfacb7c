import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useSend } from '../api/index.ts';
import { Button, ErrorNote, SelectInput, Sheet, plural, t, toast } from '../parts/index.ts';
import { EVENT_TYPES, type EventType } from './names.ts';

const CHOICES = EVENT_TYPES.map((type) => ({ id: type, text: type }));

/** Sends a sample to one endpoint, or to all that subscribe to its type. */
function SampleForm({ endpoint, onClose, sent }: { endpoint: string | null; onClose: () => void; sent: (deliveryId: string | null) => void }) {
  const [type, setType] = useState<EventType>(endpoint ? 'webhook.test' : 'call.completed');
  const one = useSend('testWebhook', { alters: ['listWebhookDeliveries'], done: ({ data }) => { toast(t('The sample is on its way')); sent(data.deliveryId); onClose(); } });
  const all = useSend('triggerEvent', { alters: ['listWebhookDeliveries'], done: ({ data }) => { toast(plural(data.deliveries, 'The sample goes to {n} endpoint', 'The sample goes to {n} endpoints')); sent(null); onClose(); } });
  const error = one.error ?? all.error;
  const submit = (): void => { if (endpoint) one.mutate({ path: { id: endpoint }, body: { type } }); else all.mutate({ body: { type } }); };
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <h2>{t('Send a sample')}</h2>
      <SelectInput label={t('Event')} value={type} onChange={setType} choices={endpoint ? CHOICES : CHOICES.filter((choice) => choice.id !== 'webhook.test')} />
      <p className="mid">{endpoint ? t('It goes to this endpoint whatever it subscribes to, with “livemode: false” and invented values.') : t('It goes to every endpoint that subscribes to it, with “livemode: false” and invented values.')}</p>
      {error && <ErrorNote error={error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={one.isPending || all.isPending}>{t('Send {event}', { event: type })}</Button></div>
    </Form>
  );
}
export const SampleSheet = ({ open, endpoint, onClose, sent }: { open: boolean; endpoint: string | null; onClose: () => void; sent: (deliveryId: string | null) => void }) => (
  <Sheet open={open} onClose={onClose} label={t('Send a sample')}><SampleForm endpoint={endpoint} onClose={onClose} sent={sent} /></Sheet>
);
