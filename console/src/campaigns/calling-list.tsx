import { Upload } from 'lucide-react';
import { useMemo } from 'react';
import { Link } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useRead, type Schemas } from '../api/index.ts';
import { ButtonLink, Empty, ErrorBlock, Bars, Facet, Finder, Grid, Name, NoMatch, State, Tag, When, clock, count, t, useFilters, useOffsetRows, when, type Column, type Rows, type Tone } from '../parts/index.ts';
import { isMessaging, useMayEdit } from './queries.ts';
import { ROW_STATES, rowState, rowStep, type Campaign } from './states.ts';

type Row = Schemas['CallingListRow'] & { place: number };
const COLUMN_TONE: Readonly<Record<string, Tone>> = { won: 'ok', advancing: 'info', dnc: 'rule' };

const useColumns = (numbered: boolean, attempts: number, board: ReadonlyMap<string, { name: string; type: string }>): readonly Column<Row>[] => [
  ...(numbered ? [{ key: 'place', head: t('Row'), width: '56px', right: true, cell: (row: Row) => <span className="dim">{count(row.place + 1)}</span> }] : []),
  { key: 'who', head: t('Person'), width: 'minmax(210px, 1.4fr)', cell: (row) => <span className="who"><span className="medium cut"><Name>{row.name ?? ''}</Name></span><span className="dim num" dir="ltr">{row.phone ?? t('[erased]')}</span></span> },
  { key: 'state', head: t('State'), width: '124px', cell: (row) => { const { text, tone } = rowState(row.state); return <State tone={tone}>{text}</State>; } },
  { key: 'step', head: t('Last result or next step'), width: 'minmax(200px, 1.3fr)', cell: (row) => <span className="mid">{rowStep(row, (at) => when(at))}</span> },
  { key: 'attempts', head: t('Attempts'), width: '76px', right: true, cell: (row) => (row.attempts > 0 ? t('{n} of {all}', { n: row.attempts, all: Math.max(attempts, row.attempts) }) : <span className="dim">–</span>) },
  { key: 'last', head: t('Last, IST'), width: '110px', right: true, cell: (row) => (row.lastAttemptAt ? <When at={row.lastAttemptAt} /> : <span className="dim">–</span>) },
  { key: 'board', head: t('Board'), width: 'minmax(120px, .8fr)', cell: (row) => { const column = row.boardColumn ? board.get(row.boardColumn) : undefined; return column ? <Tag tone={COLUMN_TONE[column.type] ?? 'mute'}><Name>{column.name}</Name></Tag> : <span className="dim">–</span>; } },
];

const thin = (row: Row) => {
  const { text, tone } = rowState(row.state);
  return <div className="stack tight-rows"><div className="row"><span className="medium grow cut"><Name>{row.name ?? ''}</Name></span><span className="num dim" dir="ltr">{row.phone}</span></div><div className="row"><State tone={tone}>{text}</State><span className="dim cut grow">{rowStep(row, (at) => clock(at))}</span></div></div>;
};

const placed = (rows: Rows<Schemas['CallingListRow']>): Rows<Row> => ({ ...rows, at: (index) => { const row = rows.at(index); return row && { ...row, place: index }; } });
const STATE_NAMES = new Set<string>([...ROW_STATES, 'dnc']);

/** The calling list: as long as it is, the scrollbar is true. */
export function CallingListBox({ campaign }: { campaign: Campaign }) {
  const { id } = campaign;
  const may = useMayEdit();
  const filters = useFilters();
  const [, navigate] = useLocation();
  const [q, named] = [filters.one('q').trim(), filters.one('state')];
  const state = STATE_NAMES.has(named) ? (named as RowFilter) : undefined;
  const query = { ...(state ? { state } : {}), ...(q ? { q } : {}) };
  const rows = useOffsetRows<Schemas['CallingListRow']>('listCampaignContacts', { path: { id }, query });
  const counts = useRead('listCampaignContacts', { path: { id }, query: { limit: 1, ...(q ? { q } : {}) } }).data?.counts;
  const columnsOfBoard = useRead('getCampaignBoard', { path: { id } }).data?.data.columns;
  const board = useMemo(() => new Map((columnsOfBoard ?? []).map((column) => [column.key, column])), [columnsOfBoard]);
  const columns = useColumns(!state && !q, campaign.settings.retryCount + 1, board);
  const over = campaign.status === 'completed' || campaign.status === 'archived';
  const replace = may && !over && !isMessaging(campaign) ? (campaign.callingList ? t('Replace the list…') : t('New list…')) : null;
  const open = (row: Row): void => { const href = row.lastCallId ? `/calls/${row.lastCallId}` : row.contactId ? `/contacts/${row.contactId}` : null; if (href) navigate(href); };
  return (
    <section className="clist">
      <div className="toolbar">
        <h2>{t('List')}</h2>
        <div className="facets"><Facet single name={t('State')} on={state ? [state] : []} set={(values) => filters.set('state', values[0] ?? null)} items={[...ROW_STATES.map((one) => ({ id: one, text: rowState(one).text, count: counts?.[one] })), { id: 'dnc', text: t('On the do-not-call list now'), count: counts?.dnc }]} /></div>
        <Finder label={t('Find a person')} placeholder={t('Name or number')} value={filters.one('q')} onChange={(value) => filters.set('q', value, true)} />
        <span className="grow" />
        {replace && <ButtonLink small icon={Upload} href={`/campaigns/${id}/list/import`}>{replace}</ButtonLink>}
      </div>
      {rows.error && !rows.loading && rows.count === 0 ? <ErrorBlock what={t('The list could not be read.')} error={rows.error} again={rows.again} />
        : rows.loading ? <Bars />
          : rows.count > 0 ? <Grid label={t('Calling list')} rows={placed(rows)} columns={columns} id={(row) => row.id} open={open} thin={thin} least={960} />
            : state || q ? <NoMatch title={t('Nobody on the list matches.')} clear={() => filters.clear(['state', 'q'])} />
              : <Empty title={t('No list yet')} action={replace && <Link href={`/campaigns/${id}/list/import`} className="btn pri">{t('New list…')}</Link>}>{t('People to be called come here: from a spreadsheet, or from a stream.')}</Empty>}
    </section>
  );
}
type RowFilter = 'reached' | 'in_progress' | 'unreached' | 'held' | 'queued' | 'invalid' | 'dnc';
