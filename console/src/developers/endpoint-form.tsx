// Makes or changes an endpoint. The secret is shown once, in the answer that made it.
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useRead, useSend, type ApiError } from '../api/index.ts';
import { Button, CheckInput, ErrorNote, Name, Segment, Sheet, TextInput, t, toast } from '../parts/index.ts';
import { EVENT_TYPES, mustBeNamed, type Endpoint, type EventType } from './names.ts';

/** A value that is shown once: the person copies it before it is closed. */
export function Once({ title, value, children, onClose }: { title: string; value: string; children: React.ReactNode; onClose: () => void }) {
  return (
    <div className="form">
      <h2>{title}</h2>
      <p className="mid">{children}</p>
      <pre className="raw dv-once" tabIndex={0} translate="no" data-once>{value}</pre>
      <div className="ends"><Button kind="primary" onPress={() => { void navigator.clipboard.writeText(value).then(() => toast(t('Copied'))); }}>{t('Copy')}</Button><Button onPress={onClose}>{t('I have kept it')}</Button></div>
    </div>
  );
}

const without = <T,>(list: readonly T[], one: T): T[] => list.filter((other) => other !== one);

function Events({ chosen, onChange }: { chosen: readonly EventType[] | null; onChange: (chosen: readonly EventType[] | null) => void }) {
  return (
    <fieldset className="dv-set">
      <legend className="lab">{t('Events')}</legend>
      <Segment label={t('Events')} value={chosen === null ? 'all' : 'some'} onChange={(to) => onChange(to === 'all' ? null : [])} items={[['all', t('Every event')], ['some', t('Some')]]} />
      {chosen === null ? <p className="hint">{t('Also those of features to come; not message.* and chat.evaluated, which must be named.')}</p> : (
        <div className="dv-checks">{EVENT_TYPES.filter((type) => type !== 'webhook.test').map((type) => <CheckInput key={type} value={chosen.includes(type)} onChange={(on) => onChange(on ? [...chosen, type] : without(chosen, type))}><span className="mono">{type}</span>{mustBeNamed(type) && <span className="dim"> *</span>}</CheckInput>)}</div>
      )}
    </fieldset>
  );
}

function Agents({ chosen, onChange }: { chosen: readonly string[]; onChange: (chosen: readonly string[]) => void }) {
  const agents = useRead('listAgents', {});
  const all = agents.data?.data ?? [];
  if (all.length < 2 && chosen.length === 0) return null;
  return (
    <fieldset className="dv-set">
      <legend className="lab">{t('Only about these agents')}</legend>
      <p className="hint">{t('None marked: about all of them. Events that concern no agent are always sent.')}</p>
      <div className="dv-checks">{all.map((agent) => <CheckInput key={agent.id} value={chosen.includes(agent.id)} onChange={(on) => onChange(on ? [...chosen, agent.id] : without(chosen, agent.id))}><Name>{agent.name}</Name></CheckInput>)}</div>
    </fieldset>
  );
}

interface FormProps { endpoint?: Endpoint | undefined; onClose: () => void; made: (secret: string) => void }
function EndpointForm({ endpoint, onClose, made }: FormProps) {
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const [events, setEvents] = useState<readonly EventType[] | null>(endpoint && endpoint.events.length > 0 ? (endpoint.events as EventType[]) : null);
  const [agentIds, setAgents] = useState<readonly string[]>(endpoint?.agentIds ?? []);
  const [missing, setMissing] = useState<Readonly<Record<string, string>>>({});
  const create = useSend('createWebhook', { alters: ['listWebhooks'], done: ({ data }) => made(data.secret) });
  const change = useSend('updateWebhook', { alters: ['listWebhooks', 'getWebhook'], done: () => { toast(t('Changed')); onClose(); } });
  const error: ApiError | null = create.error ?? change.error;
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const lacks = { ...(url.trim() ? {} : { url: t('The address is missing.') }), ...(events?.length === 0 ? { events: t('Choose an event, or every event.') } : {}) };
    setMissing(lacks);
    if (Object.keys(lacks).length > 0) return;
    const body = { url: url.trim(), description: description.trim() || null, events: [...(events ?? [])], agentIds: [...agentIds] };
    if (endpoint) change.mutate({ path: { id: endpoint.id }, body }); else create.mutate({ body });
  };
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{endpoint ? t('Change the endpoint') : t('New endpoint')}</h2>
      <TextInput label={t('Address')} hint={t('A public https:// address. Events are sent there with POST.')} dir="ltr" value={url} onChange={setUrl} fault={missing.url ?? (error?.field === 'url' ? error.message : null)} autoFocus autoComplete="off" />
      <TextInput label={t('Description')} value={description} onChange={setDescription} maxLength={500} />
      <Events chosen={events} onChange={setEvents} />
      {missing.events && <p className="fault" role="alert">{missing.events}</p>}
      <Agents chosen={agentIds} onChange={setAgents} />
      {error && error.field !== 'url' && <ErrorNote error={error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={create.isPending || change.isPending}>{endpoint ? t('Save') : t('Make the endpoint')}</Button></div>
    </Form>
  );
}

export function EndpointSheet({ open, endpoint, onClose }: { open: boolean; endpoint?: Endpoint | undefined; onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  const close = (): void => { setSecret(null); onClose(); };
  return (
    <Sheet open={open} onClose={close} fixed={secret !== null} label={endpoint ? t('Change the endpoint') : t('New endpoint')}>
      {secret === null ? <EndpointForm endpoint={endpoint} onClose={close} made={setSecret} /> : <Once title={t('The secret of the endpoint')} value={secret} onClose={close}>{t('It signs every delivery. It is shown now and never again; if it is lost, rotate it.')}</Once>}
    </Sheet>
  );
}
