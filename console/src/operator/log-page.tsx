import { Link } from 'react-aria-components';
import { useCallback } from 'react';
import { useOperator, useOperatorRows } from '../api/use-operator.ts';
import { Empty, Grid, Head, Name, When, t, type Column } from '../parts/index.ts';
import { Listed, useNewer } from '../parts/list.tsx';
import type { LogEntry, Page as Pages, Workspace } from './types.ts';
import './page.css';

const columns = (name: (id: string) => string): readonly Column<LogEntry>[] => [
  { key: 'at', head: 'IST', width: '116px', right: true, cell: (row) => <When at={row.at} /> },
  { key: 'what', head: t('Operation'), width: 'minmax(180px, 1fr)', cell: (row) => <span className="mono">{row.operation}</span> },
  { key: 'workspace', head: t('Workspace'), width: 'minmax(160px, 1fr)', cell: (row) => (row.workspaceId ? <Link className="link under" href={`/workspaces/${row.workspaceId}`}><Name>{name(row.workspaceId)}</Name></Link> : <span className="dim">–</span>) },
  { key: 'subject', head: t('About'), width: 'minmax(240px, 1.4fr)', cell: (row) => <bdi className="mono dim" dir="auto" translate="no">{row.subject}</bdi> },
  { key: 'request', head: t('Request'), width: 'minmax(190px, 1fr)', cell: (row) => <span className="mono dim">{row.requestId}</span> },
];

export function Page() {
  const rows = useOperatorRows<LogEntry>('/log');
  const newest = useOperator<Pages<LogEntry>>('/log', { query: { limit: 20 }, every: 5_000, keep: true });
  const workspaces = useOperator<Pages<Workspace>>('/workspaces', { query: { limit: 200 } });
  const name = (id: string): string => workspaces.data?.data.find((one) => one.id === id)?.name ?? id;
  const { again } = rows;
  const take = useCallback(() => again(), [again]);
  const newer = useNewer(newest.data?.data.map((one) => one.id), rows.all.slice(0, 40).map((one) => one.id), take);
  return (
    <>
      <Head title={t('Log')} sub={<span className="dim wide cut">{t('Every write of the operator: ids and counts, no personal data')}</span>} />
      <div className="body op-list">
        {newer.pill && <div className="toolbar">{newer.pill}</div>}
        <Listed rows={rows} what={t('The log could not be read.')} none={<Empty title={t('Nothing was written yet')}>{t('What operators change comes here, and stays.')}</Empty>}>
          <Grid label={t('Log')} rows={rows} columns={columns(name)} id={(row) => row.id} least={1000} onHover={newer.onHover}
            thin={(row) => <div className="op-thin"><div className="row"><span className="mono grow cut">{row.operation}</span><When at={row.at} /></div><div className="row"><span className="dim cut grow"><Name>{row.workspaceId ? name(row.workspaceId) : row.subject}</Name></span></div></div>} />
        </Listed>
      </div>
    </>
  );
}
