import { FlaskConical, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useHasRole, useRead, useSend } from '../api/index.ts';
import { ReadOnlyNote, useCommands } from '../shell/index.ts';
import { Button, Confirm, Empty, Facet, Grid, Head, More, NoMatch, Sheet, Shown, State, Tag, When, count, day, plural, t, toast, useFilters, useKeys, useRaw, type Column } from '../parts/index.ts';
import { Listed } from '../parts/list.tsx';
import { DeliveryRail } from './delivery.tsx';
import { EndpointSheet, Once } from './endpoint-form.tsx';
import { EndpointState, HealthMarks, placeOf } from './health.tsx';
import { useDeliveries, useFailing, useHealth, useMayChange, useMayReplay } from './queries.ts';
import { ReplaySheet } from './replay.tsx';
import { SampleSheet } from './sample.tsx';
import { EVENT_TYPES, answerOf, deliveryState, type Delivery, type Endpoint } from './names.ts';
import './page.css';

type Open = 'edit' | 'rotate' | 'disable' | 'delete' | 'sample' | 'replay' | null;
const NAMES = ['status', 'event'] as const;

function columns(): readonly Column<Delivery>[] {
  return [
    { key: 'at', head: 'IST', width: '116px', right: true, cell: (row) => <When at={row.createdAt} /> },
    { key: 'event', head: t('Event'), width: 'minmax(170px, 1fr)', cell: (row) => <span className="mono">{row.event}</span> },
    { key: 'state', head: t('State'), width: '140px', cell: (row) => { const { tone, text } = deliveryState(row); return <State tone={tone}>{text}</State>; } },
    { key: 'tries', head: t('Attempts'), width: '72px', right: true, cell: (row) => count(row.attempts.length) },
    { key: 'answer', head: t('Last answer'), width: 'minmax(160px, 1.4fr)', cell: (row) => <bdi className="mid" dir="auto" translate="no">{answerOf(row.attempts.at(-1))}</bdi> },
    { key: 'next', head: t('Next attempt'), width: '116px', right: true, cell: (row) => (row.nextAttemptAt ? <When at={row.nextAttemptAt} /> : <span className="dim">–</span>) },
  ];
}

function Log({ endpoint, onReplay }: { endpoint: Endpoint; onReplay: (again: () => void) => void }) {
  const filters = useFilters();
  const status = filters.one('status');
  const list = useDeliveries(endpoint.id, { status: (status || undefined) as Delivery['status'] | undefined, event: filters.one('event') || undefined });
  onReplay(list.again);
  const open = filters.one('delivery');
  const close = (): void => filters.set('delivery', null);
  useKeys(open ? [{ key: 'Escape', text: t('Close the delivery'), act: close }] : []);
  return (
    <div className="dv-split" data-open={open !== ''}>
      <div className="dv-main">
        <div className="toolbar">
          <div className="facets">
            <Facet name={t('State')} single on={filters.all('status')} set={(values) => filters.set('status', values.slice(-1))} items={[{ id: 'failed', text: t('Failed') }, { id: 'pending', text: t('Waits') }, { id: 'succeeded', text: t('Delivered') }]} />
            <Facet name={t('Event')} single on={filters.all('event')} set={(values) => filters.set('event', values.slice(-1))} items={EVENT_TYPES.map((type) => ({ id: type, text: type }))} />
          </div>
          {list.newer.pill}
        </div>
        <Listed rows={list.rows} what={t('The deliveries could not be read.')} none={filters.any(NAMES) ? <NoMatch title={t('No deliveries match.')} clear={() => filters.clear(NAMES)} /> : <Empty title={t('Nothing was sent yet')}>{t('Every event that this endpoint subscribes to is listed here with its attempts, for 30 days.')}</Empty>}>
          <Grid
            label={t('Deliveries')} rows={list.rows} columns={columns()} id={(row) => row.id} current={open} open={(row) => filters.set('delivery', row.id)} onHover={list.newer.onHover} least={820}
            thin={(row) => { const { tone, text } = deliveryState(row); return <div className="dv-thin"><div className="row"><span className="mono grow cut">{row.event}</span><When at={row.createdAt} /></div><div className="row"><State tone={tone}>{text}</State><span className="dim cut grow" dir="auto">{answerOf(row.attempts.at(-1))}</span></div></div>; }}
          />
        </Listed>
      </div>
      {open && <DeliveryRail key={open} endpoint={endpoint} id={open} onClose={close} replayed={list.again} />}
    </div>
  );
}

function About({ endpoint }: { endpoint: Endpoint }) {
  const health = useHealth(endpoint.id);
  const agents = useRead('listAgents', {}, { fresh: 300_000 });
  const name = (id: string): string => agents.data?.data.find((one) => one.id === id)?.name ?? id;
  return (
    <dl className="dv-about">
      <div><dt>{t('Last 24 hours')}</dt><dd><HealthMarks health={health} /></dd>{health && <dd className="meta">{health.delivered + health.failed === 0 ? t('Nothing was sent') : t('{delivered} delivered, {failed} failed', { delivered: count(health.delivered), failed: count(health.failed) })}{!health.whole && <> · {t('of the newest 100')}</>}</dd>}</div>
      <div className="grow"><dt>{t('Events')}</dt><dd className="dv-tags">{endpoint.events.length === 0 ? <Tag>{t('Every event')}</Tag> : endpoint.events.map((type) => <Tag key={type}><span className="mono">{type}</span></Tag>)}</dd></div>
      {endpoint.agentIds.length > 0 && <div><dt>{t('Agents')}</dt><dd className="dv-tags">{endpoint.agentIds.map((id) => <Tag key={id}><bdi dir="auto" translate="no">{name(id)}</bdi></Tag>)}</dd></div>}
      <div><dt>{t('Made')}</dt><dd>{day(endpoint.createdAt)}</dd></div>
    </dl>
  );
}

function Rotate({ endpoint, open, onClose }: { endpoint: Endpoint; open: boolean; onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = useSend('rotateWebhookSecret', { done: ({ data }) => setSecret(data.secret) });
  return (
    <>
      <Confirm open={open} onClose={onClose} title={t('Replace the secret of this endpoint')} action={t('Replace the secret')} danger act={() => rotate.mutateAsync({ path: { id: endpoint.id } })}>
        <p className="mid">{t('The new secret signs every attempt from now on, also of older events. A receiver that still has the old one refuses them until it is given the new one.')}</p>
      </Confirm>
      <Sheet open={secret !== null} fixed onClose={() => setSecret(null)} label={t('The new secret')}>{secret !== null && <Once title={t('The new secret')} value={secret} onClose={() => setSecret(null)}>{t('It signs every attempt from now on. It is shown now and never again.')}</Once>}</Sheet>
    </>
  );
}

function Sheets({ endpoint, open, set, again }: { endpoint: Endpoint; open: Open; set: (open: Open) => void; again: () => void }) {
  const [, navigate] = useLocation();
  const filters = useFilters();
  const change = useSend('updateWebhook', { alters: ['listWebhooks', 'getWebhook'] });
  const remove = useSend('deleteWebhook', { alters: ['listWebhooks'] });
  const close = (): void => set(null);
  const place = placeOf(endpoint.url);
  return (
    <>
      <EndpointSheet open={open === 'edit'} endpoint={endpoint} onClose={close} />
      <Rotate endpoint={endpoint} open={open === 'rotate'} onClose={close} />
      <SampleSheet open={open === 'sample'} endpoint={endpoint.id} onClose={close} sent={(id) => { again(); if (id) filters.set('delivery', id); }} />
      <ReplaySheet open={open === 'replay'} id={endpoint.id} onClose={close} done={again} />
      <Confirm open={open === 'disable'} onClose={close} title={t('Disable this endpoint')} action={t('Disable')} danger act={() => change.mutateAsync({ path: { id: endpoint.id }, body: { status: 'disabled' } })}>
        <p className="mid">{t('What waits to be sent to {place} is given up. Events that happen while it is disabled are not sent later.', { place })}</p>
      </Confirm>
      <Confirm open={open === 'delete'} onClose={close} title={t('Delete this endpoint with its log')} action={t('Delete the endpoint')} danger typed={{ label: t('Type the host to go on: {host}', { host: place.split('/')[0] ?? '' }), text: place.split('/')[0] ?? '' }} act={() => remove.mutateAsync({ path: { id: endpoint.id } }).then(() => { toast(t('The endpoint is deleted')); navigate('/developers/endpoints'); })}>
        <p className="mid">{t('Nothing is sent to {place} any more, and its deliveries of the last 30 days are gone.', { place })}</p>
      </Confirm>
    </>
  );
}

function Content({ endpoint }: { endpoint: Endpoint }) {
  const [open, set] = useState<Open>(null);
  const [again] = useState<{ now: () => void }>({ now: () => undefined });
  const may = useMayChange();
  const admin = useHasRole('admin');
  const replays = useMayReplay() && endpoint.status === 'active';
  const failing = useFailing().get(endpoint.id);
  const raw = useRaw('getWebhook', { path: { id: endpoint.id } }, endpoint);
  const enable = useSend('updateWebhook', { alters: ['listWebhooks', 'getWebhook'], done: () => toast(t('It is sent events again')) });
  const samples = may && endpoint.status === 'active';
  useKeys([...(replays ? [{ key: 'r', text: t('Replay failed deliveries'), act: () => set('replay') }] : []), ...(samples ? [{ key: 's', text: t('Send a sample'), act: () => set('sample') }] : [])]);
  useCommands([...(replays ? [{ id: 'replay', text: t('Replay failed deliveries…'), act: () => set('replay') }] : []), ...(may ? [{ id: 'rotate', text: t('Rotate the secret…'), act: () => set('rotate') }] : [])]);
  const entries = [
    ...raw.entries,
    ...(may ? ['-' as const, { text: t('Change…'), act: () => set('edit') }, { text: t('Rotate the secret…'), act: () => set('rotate') },
      endpoint.status === 'active' ? { text: t('Disable…'), act: () => set('disable') } : { text: t('Enable'), act: () => enable.mutate({ path: { id: endpoint.id }, body: { status: 'active' } }) },
      '-' as const, { text: t('Delete…'), danger: true, act: () => set('delete') }] : []),
  ];
  return (
    <>
      <Head back={{ href: '/developers/endpoints', text: t('Endpoints') }} title={placeOf(endpoint.url)} mark={<span className="wide"><EndpointState endpoint={endpoint} failing={failing} /></span>} sub={<bdi className="dim wide cut" dir="auto" translate="no">{endpoint.description}</bdi>}>
        {samples && <Button icon={FlaskConical} onPress={() => set('sample')}><span className="wide">{t('Send a sample')}</span></Button>}
        {replays && <Button kind="primary" icon={RotateCw} onPress={() => set('replay')}><span className="wide">{t('Replay failed…')}</span><span className="thin">{t('Replay…')}</span></Button>}
        <More entries={entries} />
      </Head>
      <div className="body dv-body">
        {!admin && <div className="dv-note"><ReadOnlyNote role="admin" /></div>}
        {failing !== undefined && <div className="dv-note"><div className="note" data-tone="bad"><p>{plural(failing, 'The last {n} delivery failed. Mend the receiver, then replay what failed: nothing is lost for 30 days.', 'The last {n} deliveries failed. Mend the receiver, then replay what failed: nothing is lost for 30 days.')}</p></div></div>}
        <About endpoint={endpoint} />
        <Log endpoint={endpoint} onReplay={(now) => { again.now = now; }} />
      </div>
      <Sheets endpoint={endpoint} open={open} set={set} again={() => again.now()} />
      {raw.sheet}
    </>
  );
}

export function Page({ params }: { params: Readonly<Record<string, string>> }) {
  const endpoint = useRead('getWebhook', { path: { id: params.id ?? '' } });
  if (endpoint.data) return <Content endpoint={endpoint.data.data} />;
  return <><Head back={{ href: '/developers/endpoints', text: t('Endpoints') }} title={t('Endpoint')} /><div className="body"><Shown of={endpoint} what={t('The endpoint could not be read.')}>{() => null}</Shown></div></>;
}
