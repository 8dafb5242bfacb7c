import { Phone, X } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { Button as KitButton } from 'react-aria-components';
import { useLocation } from 'wouter';
import { currentScope, rootOf, useMay, useRead } from '../api/index.ts';
import { Bars, Button, Dates, Empty, ErrorBlock, Facet, Finder, Grid, Head, More, Name, NoMatch, State, Tag, causeWord, count, dayBegin, dayEnd, indiaDay, plural, rupees, span, t, toast, useFilters, useKeys, useRaw, utc, when, type Column, type DayRange } from '../parts/index.ts';
import { useCommands } from '../shell/index.ts';
import './page.css';
import { PlaceCall } from './place.tsx';
import { FACETS, useCallList, useFacetCounts, useNow, type Call, type CallFilter, type FacetKey } from './queries.ts';
import { directionText, gateName, isErased, outcomeWord, personName, personNumber, stateWord } from './names.ts';
import { useTyped } from './typed.ts';

const CALL_ID = /^call_[0-9a-z]{26}$/;
const NAMED = [...FACETS, 'contactId'] as const;

/** The filters of the address as the operation takes them. What is searched for stands in no address: it is a name or a number. */
function useCallFilter(find: string): { filter: CallFilter; range: DayRange } {
  const filters = useFilters();
  const start = filters.one('from') || indiaDay(6);
  const end = filters.one('to') || indiaDay();
  const values = NAMED.map((name) => filters.one(name)).join('\n');
  return useMemo(() => {
    const chosen = Object.fromEntries(values.split('\n').map((value, at) => [NAMED[at], value] as const).filter(([, value]) => value !== ''));
    return { range: { start, end }, filter: { ...chosen, ...(find ? { q: find } : {}), from: dayBegin(start), to: dayEnd(end) } as CallFilter };
  }, [values, start, end, find]);
}

export function Page() {
  const [, go] = useLocation();
  const filters = useFilters();
  const [typed, find, setTyped] = useTyped();
  const { filter, range } = useCallFilter(find);
  const list = useCallList(filter);
  const [placing, setPlacing] = useState(false);
  const [selected, select] = useState<ReadonlySet<string>>(new Set());
  const may = useMay('placeCall');
  const place = (): void => setPlacing(true);
  const raw = useRaw('listCalls', { query: filter }, list.counts);
  useKeys(may ? [{ key: 'n', text: t('Place a call'), act: place }] : []);
  useCommands(may ? [{ id: 'place-call', text: t('Place a call…'), act: place }] : []);
  useEffect(() => { if (CALL_ID.test(typed.trim())) { setTyped(''); go(`/calls/${typed.trim()}`); } }, [typed, go, setTyped]);

  const total = list.counts?.total;
  const filtered = find !== '' || filters.any([...NAMED]);
  const clear = (): void => { setTyped(''); filters.clear([...NAMED]); };
  const query = new URLSearchParams(location.search).toString();
  const open = (call: Call): void => go(`/calls/${call.id}${query ? `?${query}` : ''}`);
  return (
    <>
      <Head title={t('Calls')} sub={total !== undefined && <span className="dim num" data-total={total}>{count(total)}</span>}>
        {may && <Button kind="primary" icon={Phone} keys="N" onPress={place}>{t('Place a call')}</Button>}
        <More entries={[...raw.entries, '-', { text: t('Evaluation'), href: '/evaluation' }]} />
      </Head>
      <div className="toolbar">
        <Finder label={t('Find a call')} value={typed} onChange={setTyped} placeholder={t('Name, number or call id')} />
        <Filters filter={list.read} counts={list.counts} range={range} clear={filtered ? clear : undefined} />
        <span className="grow" />
        {list.newer > 0 && <KitButton className="fresh" onPress={list.refresh}>{plural(list.newer, '{n} newer', '{n} newer')}</KitButton>}
      </div>
      {selected.size > 0 && <Selection ids={selected} clear={() => select(new Set())} />}
      {list.rows.error ? <ErrorBlock what={t('The calls could not be read.')} error={list.rows.error} again={list.rows.again} />
        : list.rows.loading ? <Bars rows={14} />
          : list.rows.count === 0 ? (filtered ? <NoMatch title={t('No calls match.')} clear={clear} /> : <NoCalls place={may ? place : undefined} />)
            : <Grid least={1090} label={t('Calls')} rows={list.rows} columns={columns()} id={(call) => call.id} open={open} thin={(call) => <Thin call={call} />} selected={selected} onSelect={select} />}
      {placing && <PlaceCall onClose={() => setPlacing(false)} />}
      {raw.sheet}
    </>
  );
}

const NoCalls = ({ place }: { place: (() => void) | undefined }) => (
  <Empty title={t('No call in these days')} action={place && <Button kind="primary" icon={Phone} onPress={place}>{t('Place a call')}</Button>}>{t('Calls of campaigns, reminders and your own systems come here as they ring.')}</Empty>
);

function Filters({ filter, counts, range, clear }: { filter: CallFilter; counts: Parameters<typeof useFacetCounts>[1]; range: DayRange; clear: (() => void) | undefined }) {
  const filters = useFilters();
  const facets = useFacetCounts(filter, counts);
  const names: Record<FacetKey, string> = { state: t('State'), outcome: t('Outcome'), endCause: t('How it ended'), agentId: t('Agent'), campaignId: t('Campaign'), direction: t('Direction') };
  const text = (key: FacetKey, value: string, name: string | null): string => {
    if (key === 'state') return value === 'ended' ? t('Ended') : stateWord({ state: value as Call['state'], status: 'ringing', endCause: null }).text;
    if (key === 'outcome') return outcomeWord(value).text;
    if (key === 'endCause') return causeWord(value);
    if (key === 'direction') return directionText(value as Call['direction']);
    return name ?? value;
  };
  return (
    <div className="facets">
      <Dates value={range} onChange={({ start, end }) => { filters.set('from', start); filters.set('to', end); }} />
      {FACETS.map((key) => (
        <Facet
          key={key} name={names[key]} single on={filters.all(key)} set={(values) => filters.set(key, values.slice(-1))}
          items={chosen(facets[key], filters.one(key)).map((one) => ({ id: one.value, text: text(key, one.value, one.name), count: one.count }))}
        />
      ))}
      {filters.one('contactId') && <Tag tone="accent">{t('One person')}</Tag>}
      {clear && <Button small kind="bare" icon={X} onPress={clear}>{t('Clear')}</Button>}
    </div>
  );
}
/** What is chosen is among the values, also when no call has it. */
const chosen = <T extends { value: string; name: string | null; count: number }>(values: readonly T[], value: string): readonly { value: string; name: string | null; count: number }[] =>
  (value === '' || values.some((one) => one.value === value) ? values : [...values, { value, name: null, count: 0 }]);

function Selection({ ids, clear }: { ids: ReadonlySet<string>; clear: () => void }) {
  const copy = (): void => { void navigator.clipboard.writeText([...ids].join('\n')).then(() => toast(t('Copied'))); };
  return (
    <div className="toolbar selection" role="status">
      <span className="medium">{plural(ids.size, '{n} call selected', '{n} calls selected')}</span>
      <Button small onPress={copy}>{t('Copy their ids')}</Button><Button small kind="bare" icon={X} onPress={clear}>{t('Clear selection')}</Button>
    </div>
  );
}

const dash = <span className="dim">–</span>;
function Now({ row, children }: { row: Call; children: (call: Call) => React.ReactNode }) { return <>{children(useNow(row))}</>; }

export function CallState({ call }: { call: Call }) {
  const { text, tone } = stateWord(call);
  return <State tone={tone}>{text}</State>;
}
/** The outcome, else why there is none. */
export function CallResult({ call }: { call: Call }) {
  if (call.outcome) { const { text, tone } = outcomeWord(call.outcome); return <Tag tone={tone}><Name>{text}</Name></Tag>; }
  if (call.state === 'blocked') return <BlockedBy id={call.id} />;
  const told = new Set([null, 'no_answer', 'busy', 'voicemail', 'agent_ended', 'caller_hangup']);
  return told.has(call.endCause) ? dash : <span className="mid">{causeWord(call.endCause ?? '')}</span>;
}
function BlockedBy({ id }: { id: string }) {
  const timeline = useRead('getCallTimeline', { path: { id } }, { fresh: Infinity });
  const reason = timeline.data?.data.findLast((entry) => entry.status === 'blocked')?.reason;
  return reason ? <span className="mid">{gateName(reason)}</span> : dash;
}
/** The row opens on a press; the link is there for a new tab. */
function RowLink({ id, className, children }: { id: string; className: string; children: React.ReactNode }) {
  const scope = currentScope();
  const press = (event: React.MouseEvent): void => { if (event.metaKey || event.ctrlKey || event.shiftKey) event.stopPropagation(); else event.preventDefault(); };
  return <a href={`${scope ? rootOf(scope) : ''}/calls/${id}`} className={className} tabIndex={-1} onClick={press}>{children}</a>;
}
const Person = ({ call }: { call: Call }) => (
  <span className="who"><RowLink id={call.id} className={call.contactName ? 'under' : 'under dim'}><Name>{personName(call)}</Name></RowLink>{!isErased(call) && <span className="dim num">{personNumber(call)}</span>}</span>
);
const Started = ({ at }: { at: string }) => <time dateTime={at} title={utc(at)} className="num">{when(at)}</time>;

function columns(): readonly Column<Call>[] {
  return [
    { key: 'who', head: t('Person'), width: 'minmax(220px, 1.6fr)', cell: (call) => <Person call={call} /> },
    { key: 'state', head: t('State'), width: '120px', cell: (row) => <Now row={row}>{(call) => <CallState call={call} />}</Now> },
    { key: 'outcome', head: t('Outcome'), width: 'minmax(150px, 1fr)', cell: (row) => <Now row={row}>{(call) => <CallResult call={call} />}</Now> },
    { key: 'agent', head: t('Agent'), width: 'minmax(140px, 1fr)', cell: (call) => <span className="mid"><Name>{call.agentName ?? '–'}</Name></span> },
    { key: 'campaign', head: t('Campaign'), width: 'minmax(160px, 1.1fr)', cell: (call) => <Campaign call={call} /> },
    { key: 'at', head: t('Started, IST'), width: '112px', right: true, cell: (call) => <Started at={call.startedAt} /> },
    { key: 'talk', head: t('Talk'), width: '52px', right: true, cell: (row) => <Now row={row}>{(call) => (call.durationSeconds === null ? dash : span(call.durationSeconds))}</Now> },
    { key: 'charged', head: t('Charged'), width: '80px', right: true, cell: (row) => <Now row={row}>{(call) => (call.chargedMinor ? rupees(call.chargedMinor) : dash)}</Now> },
  ];
}
function Campaign({ call }: { call: Call }) {
  const campaigns = useRead('listCampaigns', {}, { enabled: call.campaignId !== null, fresh: 300_000 });
  if (call.direction === 'inbound') return <span className="mid">{t('Incoming')}</span>;
  return call.campaignId ? <span className="mid"><Name>{campaigns.data?.data.find((one) => one.id === call.campaignId)?.name ?? '–'}</Name></span> : dash;
}

function Thin({ call: row }: { call: Call }) {
  const call = useNow(row);
  return (
    <div className="thinrow">
      <div className="row"><span className={`grow cut ${call.contactName ? 'medium' : 'dim'}`}><Name>{personName(call)}</Name></span><span className="num dim"><Started at={call.startedAt} /></span></div>
      <div className="row"><CallState call={call} /><span className="dim grow cut"><Name>{call.outcome ? outcomeWord(call.outcome).text : call.agentName ?? ''}</Name></span><span className="num dim">{call.durationSeconds === null ? '' : span(call.durationSeconds)}</span></div>
    </div>
  );
}
