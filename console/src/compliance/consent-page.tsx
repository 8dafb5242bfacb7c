import { Empty, State, When, count, t, useFilters, type Column } from '../parts/index.ts';
import { Frame } from './frame.tsx';
import { RecordList } from './list.tsx';
import { useRecords } from './queries.ts';
import { DateRange, useRange } from './range.tsx';
import { ObjectLink } from './record.tsx';
import { said, type LogRecord } from './names.ts';

export function columnsOfPeople(beside: boolean): readonly Column<LogRecord>[] {
  const all: readonly Column<LogRecord>[] = [
    { key: 'seq', head: t('Record'), width: '76px', right: true, cell: (row) => count(row.seq) },
    { key: 'at', head: 'IST', width: '116px', right: true, cell: (row) => <When at={row.at} /> },
    { key: 'what', head: t('What'), width: 'minmax(150px, 1fr)', cell: (row) => { const { tone, text } = said(row); return <State tone={tone}>{text}</State>; } },
    { key: 'who', head: t('Person'), width: 'minmax(240px, 1.4fr)', cell: (row) => <ObjectLink id={row.interactionId} /> },
    { key: 'hash', head: t('Hash'), width: '124px', cell: (row) => <span className="mono dim">{row.hash.slice(0, 10)}…</span> },
  ];
  return beside ? all.filter((column) => column.key !== 'hash') : all;
}

export function ThinPerson({ row }: { row: LogRecord }) {
  const { tone, text } = said(row);
  return <div className="cp-thin"><div className="row"><State tone={tone}>{text}</State><span className="grow" /><When at={row.at} /></div><div className="row"><span className="mono dim cut grow">{row.interactionId}</span><span className="num dim">{count(row.seq)}</span></div></div>;
}

export function Page() {
  const filters = useFilters();
  const list = useRecords('consent', useRange());
  const beside = filters.one('record') !== '';
  return (
    <Frame tab="consent">
      <RecordList
        label={t('Consent')} list={list} columns={columnsOfPeople(beside)} filters={['from', 'to']} thin={(row) => <ThinPerson row={row} />} toolbar={<div className="facets"><DateRange /></div>}
        none={<Empty title={t('No consent on record')}>{t('Consent that was given, every opt-out, and every opt-out that was lifted come here.')}</Empty>}
      />
    </Frame>
  );
}
