import { Phone } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Button as KitButton } from 'react-aria-components';
import { currentScope, useConnection, useRead } from '../api/index.ts';
import { Bars, ButtonLink, Empty, ErrorBlock, Facet, Grid, Head, Name, Segment, State, Tag, count, fixedRows, indiaDay, dayBegin, millis, plural, span, t, useFilters, useKeys, useMedia, type Column } from '../parts/index.ts';
import { LiveCallPane, NotLive } from './call-pane.tsx';
import './page.css';
import { useLiveCalls, type Live } from './queries.ts';
import { flagTag, personOf } from './flags.ts';
import { useTick } from './tick.ts';

const rank = (call: Live): number => (call.flags.length === 0 ? 3 : Math.min(...call.flags.map((flag) => ({ asks_for_person: 0, asked_not_to_be_called: 1, slow_reaction: 2, silent: 2 })[flag] ?? 2)));
const sorted = (calls: readonly Live[]): readonly Live[] => [...calls].sort((one, other) => rank(one) - rank(other) || (one.since < other.since ? 1 : -1));

/** Rows keep their place while the pointer is over them: who is over stays, who is new waits. */
function useCalm(calls: readonly Live[], inside: boolean): { rows: readonly Live[]; waiting: number; take: () => void } {
  const [order, setOrder] = useState<readonly string[]>([]);
  const shown = useRef(new Map<string, Live>());
  const byId = useMemo(() => new Map(calls.map((one) => [one.id, one])), [calls]);
  const ids = useMemo(() => sorted(calls).map((one) => one.id), [calls]);
  const held = inside && order.length > 0 ? order : ids;
  if (!inside && order.join() !== ids.join()) setOrder(ids);
  for (const [id, call] of byId) shown.current.set(id, call);
  const rows = held.flatMap((id) => { const call = byId.get(id) ?? (shown.current.has(id) ? { ...(shown.current.get(id) as Live), state: 'ended' as const } : null); return call ? [call] : []; });
  return { rows, waiting: ids.filter((id) => !held.includes(id)).length, take: () => setOrder(ids) };
}

export function Page() {
  const filters = useFilters();
  const small = useMedia('(max-width: 760px)');
  const asked = filters.one('call') || null;
  const [inside, setInside] = useState(false);
  const [lastOpened, setLastOpened] = useState<string | null>(asked);
  const read = useLiveCalls(asked ?? lastOpened);
  const all = read.data?.calls ?? [];
  const agents = filters.all('agentId');
  const flagged = filters.one('only') === 'flagged';
  const matching = all.filter((call) => (agents.length === 0 || agents.includes(call.agentId ?? '')) && (!flagged || call.flags.length > 0));
  const { rows, waiting, take } = useCalm(matching, inside);
  const opened = asked ?? (small ? null : rows.find((one) => one.id === lastOpened)?.id ?? rows[0]?.id ?? null);
  useEffect(() => { if (opened !== lastOpened) setLastOpened(opened); }, [opened, lastOpened]);
  const call = all.find((one) => one.id === opened) ?? null;
  const open = (id: string | null): void => filters.set('call', id);
  const step = (by: 1 | -1): void => { const at = rows.findIndex((one) => one.id === opened); const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))]; if (next) open(next.id); };
  useKeys([{ key: 'j', text: t('Next call'), act: () => step(1) }, { key: 'k', text: t('Call before'), act: () => step(-1) }]);
  const test = currentScope()?.test ?? false;
  return (
    <>
      <Head title={t('Live')} sub={<Summary calls={all} known={read.data !== undefined} test={test} />}><span className="wide"><Connected /></span></Head>
      {read.error && !read.data ? <ErrorBlock what={t('The live calls could not be read.')} error={read.error} again={() => { void read.refetch(); }} />
        : !read.data ? <Bars rows={8} />
          : all.length === 0 && !asked ? <Nobody test={test} />
            : (
              <div className="live" data-detail={asked !== null} data-live={all.length}>
                <section className="livelist" aria-label={t('Calls')}>
                  <div className="toolbar">
                    <Segment label={t('Which')} value={flagged ? 'flagged' : 'all'} onChange={(which) => filters.set('only', which === 'flagged' ? which : null)} items={[['all', `${t('All')} ${count(all.length)}`], ['flagged', `${t('Needs a look')} ${count(all.filter((one) => one.flags.length > 0).length)}`]]} />
                    <AgentFacet calls={all} on={agents} set={(ids) => filters.set('agentId', ids)} />
                    {waiting > 0 && <KitButton className="fresh" onPress={take}>{plural(waiting, '{n} newer', '{n} newer')}</KitButton>}
                  </div>
                  {rows.length === 0 ? <p className="mid none">{all.length === 0 ? t('Nobody is on the phone.') : t('No live call matches.')}</p>
                    : <Grid label={t('Live calls')} rows={fixedRows(rows)} columns={COLUMNS()} id={(one) => one.id} open={(one) => open(one.id)} current={opened ?? undefined} thin={(one) => <Row call={one} />} rowHeight={62} onHover={setInside} />}
                </section>
                {call ? <LiveCallPane key={call.id} call={call} back={() => open(null)} /> : opened ? <NotLive id={opened} back={() => open(null)} /> : <section className="livecall" aria-hidden />}
              </div>
            )}
    </>
  );
}

const COLUMNS = (): readonly Column<Live>[] => [{ key: 'call', head: t('Calls'), width: '1fr', cell: (call) => <Row call={call} /> }];

function Row({ call }: { call: Live }) {
  const now = useTick();
  const flag = call.flags[0] ? flagTag(call.flags[0]) : null;
  return (
    <div className="lcall" data-over={call.state === 'ended'}>
      <div className="row"><span className={call.name ? 'medium cut' : 'cut num'}><Name>{personOf(call)}</Name></span><span className="grow" />
        {call.state === 'ended' ? <State tone="mute">{t('Ended')}</State> : flag ? <Tag tone={flag.tone}>{flag.text}</Tag> : call.state === 'ringing' && <State tone="info">{t('Ringing')}</State>}
        {call.state !== 'ended' && <span className="num dim secs">{span((now - Date.parse(call.since)) / 1000)}</span>}</div>
      <p className="cut last" dir="auto">{call.lastWords ? <>{call.lastWords.who === 'agent' && <span className="dim"><Name>{call.agentName ?? t('Agent')}</Name>: </span>}{call.lastWords.text}</> : <span className="dim"><Name>{call.agentName ?? ''}</Name></span>}</p>
    </div>
  );
}

function AgentFacet({ calls, on, set }: { calls: readonly Live[]; on: readonly string[]; set: (ids: string[]) => void }) {
  const agents = new Map<string, { id: string; text: string; count: number }>();
  for (const call of calls) {
    if (!call.agentId) continue;
    const known = agents.get(call.agentId);
    agents.set(call.agentId, { id: call.agentId, text: call.agentName ?? call.agentId, count: (known?.count ?? 0) + 1 });
  }
  return <Facet name={t('Agent')} items={[...agents.values()]} on={on} set={set} />;
}

function Summary({ calls, known, test }: { calls: readonly Live[]; known: boolean; test: boolean }) {
  const workspace = useRead('getOwnWorkspace', {}, { fresh: 300_000 });
  const today = useRead('getCallAnalytics', { query: { from: dayBegin(indiaDay()) } }, { enabled: !test, fresh: 60_000 });
  if (!known) return null;
  const lines = workspace.data?.data.limits.concurrentCalls;
  const ringing = calls.filter((call) => call.state === 'ringing').length;
  const median = today.data?.data.reaction.p50Ms ?? null;
  const parts = [lines === undefined || test ? plural(calls.length, '{n} call', '{n} calls') : t('{n} of {lines} lines', { n: count(calls.length), lines: count(lines) }), plural(ringing, '{n} ringing', '{n} ringing')];
  return <span className="dim num" data-count={calls.length}>{parts.join(' · ')}{median !== null && <span className="wide"> · {t('median reaction {time}', { time: millis(median) })}</span>}</span>;
}

function Connected() {
  // A lost connection is told above every page.
  return useConnection().state === 'live' ? <State tone="ok">{t('Connected')}</State> : null;
}

const Nobody = ({ test }: { test: boolean }) => (
  <Empty title={t('Nobody is on the phone.')} action={<ButtonLink href="/calls" icon={Phone}>{t('Past calls')}</ButtonLink>}>{test ? t('A simulated call shows here from the ring to its end.') : t('Calls show here as they ring, with the words as they are spoken.')}</Empty>
);
