import { FlaskConical, Pause, Play, X } from 'lucide-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError, call, currentScope, scopeKey, type Schemas } from '../api/index.ts';
import { exists } from '../shell/index.ts';
import { Button, ButtonLink, Empty, ErrorBlock, Facet, Grid, Json, NoMatch, State, Tag, When, fixedRows, plural, t, toast, useFilters, useKeys, type Column } from '../parts/index.ts';
import { Frame } from './frame.tsx';
import { SampleSheet } from './sample.tsx';
import { EVENT_TYPES } from './names.ts';

type Event = Schemas['Event'];
const KEPT = 500;
const EVERY = 2_000;

interface Told { readonly events: readonly Event[]; readonly cursor: string; readonly begun: number }

/** Events since the page was opened, newest first. The log is asked again and again: its long wait is for machines. */
function useEvents(paused: boolean) {
  const [told, setTold] = useState<Told | null>(null);
  const asked = useQuery<Schemas['EventStream'], ApiError>({
    queryKey: [scopeKey(currentScope()), 'events', 'since'],
    queryFn: ({ signal }) => call('listEvents', { query: { after: told?.cursor ?? 'latest', limit: 100 }, signal }),
    refetchInterval: EVERY, enabled: !paused, staleTime: 0, gcTime: 0,
  });
  const { data, dataUpdatedAt } = asked;
  useEffect(() => {
    if (!data) return;
    setTold((before) => {
      const known = new Set(before?.events.map((one) => one.id));
      const fresh = data.data.filter((one) => !known.has(one.id)).reverse();
      return { events: [...fresh, ...(before?.events ?? [])].slice(0, KEPT), cursor: data.cursor, begun: before?.begun ?? Date.now() };
    });
  }, [data, dataUpdatedAt]);
  return { told, error: asked.error, again: () => { void asked.refetch(); } };
}

const about = (event: Event): string => {
  const data = (event.data ?? {}) as Record<string, unknown>;
  const found = ['callId', 'chatId', 'messageId', 'campaignId', 'contactId', 'documentId', 'streamId', 'templateId', 'endpointId', 'id'].map((name) => data[name]).find((id) => typeof id === 'string');
  return typeof found === 'string' ? found : '–';
};

const columns = (): readonly Column<Event>[] => [
  { key: 'at', head: 'IST', width: '116px', right: true, cell: (row) => <When at={row.createdAt} /> },
  { key: 'type', head: t('Event'), width: 'minmax(180px, 1fr)', cell: (row) => <span className="row"><span className="mono">{row.type}</span>{!row.livemode && <Tag>{t('sample or test')}</Tag>}</span> },
  { key: 'about', head: t('About'), width: 'minmax(220px, 1fr)', cell: (row) => <span className="mono dim">{about(row)}</span> },
  { key: 'id', head: t('Event id'), width: 'minmax(220px, 1fr)', cell: (row) => <span className="mono dim">{row.id}</span> },
];

function EventRail({ event, onClose }: { event: Event; onClose: () => void }) {
  const id = about(event);
  return (
    <aside className="dv-rail" aria-label={t('Event')}>
      <header className="row"><h2 className="grow cut"><span className="mono">{event.type}</span></h2><Button kind="bare" small icon={X} label={t('Close')} onPress={onClose} /></header>
      <section>
        <div className="row wrap"><Button onPress={() => { void navigator.clipboard.writeText(JSON.stringify(event)).then(() => toast(t('Copied'))); }}>{t('Copy')}</Button>{id.startsWith('call_') && exists('calls') && <ButtonLink href={`/calls/${id}`}>{t('Open the call')}</ButtonLink>}</div>
        <Json value={event} />
      </section>
    </aside>
  );
}

export function Page() {
  const filters = useFilters();
  const [paused, setPaused] = useState(false);
  const [sample, setSample] = useState(false);
  const { told, error, again } = useEvents(paused);
  const [frozen, setFrozen] = useState<readonly Event[] | null>(null);
  const type = filters.one('type');
  const fits = (event: Event): boolean => type === '' || event.type === type;
  const all = (told?.events ?? []).filter(fits);
  const shown = (frozen ?? all).filter(fits);
  const newer = all.length - shown.length;
  const open = (told?.events ?? []).find((one) => one.id === filters.one('event'));
  const close = (): void => filters.set('event', null);
  useKeys([{ key: 'p', text: paused ? t('Go on') : t('Pause'), act: () => setPaused(!paused) }, { key: 's', text: t('Send a sample'), act: () => setSample(true) }, ...(open ? [{ key: 'Escape', text: t('Close the event'), act: close }] : [])]);
  return (
    <Frame tab="events" actions={<><Button icon={paused ? Play : Pause} onPress={() => setPaused(!paused)}><span className="wide">{paused ? t('Go on') : t('Pause')}</span></Button><Button kind="primary" icon={FlaskConical} onPress={() => setSample(true)}>{t('Send a sample…')}</Button></>}>
      <div className="dv-split dv-fill" data-open={open !== undefined}>
        <div className="dv-main">
          <div className="toolbar">
            <div className="facets"><Facet name={t('Event')} single on={filters.all('type')} set={(values) => filters.set('type', values.slice(-1))} items={EVENT_TYPES.map((id) => ({ id, text: id }))} /></div>
            <State tone={paused ? 'wait' : 'ok'}>{paused ? t('Paused') : t('Events come as they happen')}</State>
            {newer > 0 && <button type="button" className="fresh" onClick={() => setFrozen(null)}>{plural(newer, '{n} newer', '{n} newer')}</button>}
          </div>
          {error && !told ? <ErrorBlock what={t('The events could not be read.')} error={error} again={again} /> : shown.length === 0 ? (
            type !== '' && (told?.events.length ?? 0) > 0 ? <NoMatch title={t('No events match.')} clear={() => filters.clear(['type'])} /> : <Empty title={t('Waiting for events')}>{t('What happens from now on is listed here while the page is open. Send a sample to see one. What was sent before stands in the log of each endpoint.')}</Empty>
          ) : (
            <Grid
              label={t('Events')} rows={fixedRows(shown)} columns={columns()} id={(row) => row.id} current={open?.id} open={(row) => filters.set('event', row.id)} onHover={(inside) => setFrozen(inside ? told?.events ?? null : null)} least={780}
              thin={(row) => <div className="dv-thin"><div className="row"><span className="mono grow cut">{row.type}</span><When at={row.createdAt} /></div><div className="row"><span className="mono dim cut">{about(row)}</span></div></div>}
            />
          )}
        </div>
        {open && <EventRail key={open.id} event={open} onClose={close} />}
      </div>
      <SampleSheet open={sample} endpoint={null} onClose={() => setSample(false)} sent={() => { if (!paused) again(); }} />
    </Frame>
  );
}
