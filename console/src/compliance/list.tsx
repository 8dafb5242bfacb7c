// The list of a chain with a record beside it.
import type { ReactNode } from 'react';
import { Grid, NoMatch, t, useFilters, useKeys, type Column } from '../parts/index.ts';
import { Listed } from '../parts/list.tsx';
import type { useRecords } from './queries.ts';
import { RecordRail } from './record.tsx';
import type { LogRecord } from './names.ts';

interface RecordListProps { label: string; list: ReturnType<typeof useRecords>; columns: readonly Column<LogRecord>[]; thin: (row: LogRecord) => ReactNode; toolbar: ReactNode; none: ReactNode; filters: readonly string[]; least?: number; filtered?: boolean; clear?: () => void }

export function RecordList({ label, list, columns, thin, toolbar, none, filters: names, least = 0, filtered = false, clear }: RecordListProps) {
  const filters = useFilters();
  const open = filters.one('record');
  const close = (): void => filters.set('record', null);
  useKeys(open ? [{ key: 'Escape', text: t('Close the record'), act: close }] : []);
  const isFiltered = filtered || filters.any(names);
  return (
    <div className="cp-split" data-open={open !== ''}>
      <div className="cp-main">
        <div className="toolbar">{toolbar}{list.newer.pill}</div>
        <Listed rows={list.rows} what={t('The records could not be read.')} none={isFiltered ? <NoMatch title={t('No records match.')} clear={() => { clear?.(); filters.clear(names); }} /> : none}>
          <Grid label={label} rows={list.rows} columns={columns} id={(row) => row.id} current={open} open={(row) => filters.set('record', row.id)} thin={thin} least={least} onHover={list.newer.onHover} />
        </Listed>
      </div>
      {open && <RecordRail key={open} id={open} onClose={close} />}
    </div>
  );
}
