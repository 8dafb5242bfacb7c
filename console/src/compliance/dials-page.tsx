import { useState } from 'react';
import { useRead } from '../api/index.ts';
import { Empty, Facet, Finder, Name, State, When, count, t, useFilters, type Column } from '../parts/index.ts';
import { Frame } from './frame.tsx';
import { RecordList } from './list.tsx';
import { DateRange, useRange } from './range.tsx';
import { useAgentNames, useRecords } from './queries.ts';
import { GateMarks, ObjectLink } from './record.tsx';
import { GATES, refusal, said, type LogRecord } from './names.ts';

const NAMES = ['from', 'to', 'verdict', 'gate', 'call'] as const;
const CALL = /^(call|chatsess)_\w+$/;
const NUMBER = /^\+?[\d\s()-]{8,}$/;

function columns(agent: (id: string | null) => string | null, beside: boolean): readonly Column<LogRecord>[] {
  const all: readonly Column<LogRecord>[] = [
    { key: 'seq', head: t('Record'), width: '68px', right: true, cell: (row) => count(row.seq) },
    { key: 'at', head: 'IST', width: '104px', right: true, cell: (row) => <When at={row.at} /> },
    { key: 'verdict', head: t('Decision'), width: beside ? '112px' : '140px', cell: (row) => { const { tone, text } = said(row); return <State tone={tone}>{text}</State>; } },
    { key: 'gate', head: t('Refused by'), width: 'minmax(104px, .8fr)', cell: (row) => (row.blockedBy ? refusal(row.blockedBy) : <span className="dim">–</span>) },
    { key: 'gates', head: t('Gates'), width: '84px', cell: (row) => <GateMarks record={row} /> },
    { key: 'call', head: t('Call'), width: 'minmax(150px, 1fr)', cell: (row) => <ObjectLink id={row.interactionId} short /> },
    { key: 'agent', head: t('Agent'), width: 'minmax(110px, 1fr)', cell: (row) => <span className="mid"><Name>{agent(row.agentId) ?? '–'}</Name></span> },
    { key: 'hash', head: t('Hash'), width: '124px', cell: (row) => <span className="mono dim">{row.hash.slice(0, 10)}…</span> },
  ];
  return beside ? all.filter((column) => column.key !== 'hash') : all;
}

function Thin({ row, agent }: { row: LogRecord; agent: string | null }) {
  const { tone, text } = said(row);
  return <div className="cp-thin"><div className="row"><State tone={tone}>{text}</State><span className="grow cut dim">{row.blockedBy ? refusal(row.blockedBy) : <Name>{agent}</Name>}</span><When at={row.at} /></div><div className="row"><GateMarks record={row} /><span className="mono dim">{count(row.seq)} · {row.hash.slice(0, 8)}…</span></div></div>;
}

function Toolbar({ find, setFind }: { find: string; setFind: (text: string) => void }) {
  const filters = useFilters();
  const { from, to } = useRange();
  const stats = useRead('getBlockedStats', { query: { from, ...(to ? { to } : {}) } }, { keep: true });
  const type = (text: string): void => {
    setFind(text);
    // Only an id may stand in the address, a number may not.
    filters.set('call', CALL.test(text.trim()) ? text.trim() : null, true);
  };
  return (
    <>
      <div className="facets">
        <DateRange />
        <Facet name={t('Decision')} single on={filters.all('verdict')} set={(values) => filters.set('verdict', values.slice(-1))} items={[{ id: 'allowed', text: t('Allowed') }, { id: 'blocked', text: t('Refused'), count: stats.data?.data.total }]} />
        <Facet name={t('Refused by')} single on={filters.all('gate')} set={(values) => filters.set('gate', values.slice(-1))} items={[...GATES, 'number_series'].map((gate) => ({ id: gate, text: refusal(gate), count: stats.data?.data.byRule[gate] ?? 0 }))} />
      </div>
      <Finder label={t('A call, or the whole number of a person')} placeholder={t('Call id or whole number')} value={find} onChange={type} />
    </>
  );
}

export function Page() {
  const filters = useFilters();
  const agent = useAgentNames();
  const [find, setFind] = useState(filters.one('call'));
  const number = NUMBER.test(find.trim()) ? find.trim() : undefined;
  const pick = (name: string): string | undefined => filters.one(name) || undefined;
  const list = useRecords('audit', { ...useRange(), verdict: pick('verdict') as 'allowed' | 'blocked' | undefined, gate: pick('gate'), callId: pick('call'), number });
  const beside = filters.one('record') !== '';
  return (
    <Frame tab="dials">
      <RecordList
        label={t('Dials')} list={list} columns={columns(agent, beside)} filters={NAMES} filtered={number !== undefined} clear={() => setFind('')} least={beside ? 840 : 980}
        thin={(row) => <Thin row={row} agent={agent(row.agentId)} />} toolbar={<Toolbar find={find} setFind={setFind} />}
        none={<Empty title={t('No dial yet')}>{t('Every dial comes here before it is made: which gates it passed, or which one refused it.')}</Empty>}
      />
    </Frame>
  );
}
