import { Download } from 'lucide-react';
import { useInfiniteQuery, type InfiniteData } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Button as KitButton, Input, TextField } from 'react-aria-components';
import { ApiError, addressOf, callIn, currentScope, scopeKey, useSend, type Schemas } from '../api/index.ts';
import { Bars, Box, Button, ErrorBlock, Facet, Icon, Name, State, count, sentence, t, useFilters } from '../parts/index.ts';
import { columnName, findingTitle, findingTone, keyOfFinding, rowFault } from './findings.ts';
import { useIsAdmin } from './queries.ts';
import type { Change } from './sheet/reader.ts';

type Row = Schemas['StagedListRow'];
type Page = Schemas['StagedListRowPage'];
const SIZE = 50;
const MOST_COLUMNS = 8;

/** Rows of a staged list with a finding. They keep their place after an edit, and nothing moves until another finding is chosen. */
function useStagedRows(campaign: string, list: string, code: Schemas['StagedFindingCode'] | null, column: string | null) {
  const scope = currentScope();
  return useInfiniteQuery<Page, ApiError, InfiniteData<Page>, readonly unknown[], string | undefined>({
    queryKey: [scopeKey(scope), 'staged rows', campaign, list, code, column],
    initialPageParam: undefined, staleTime: Infinity,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    queryFn: async ({ pageParam, signal }) => {
      const found: Row[] = [];
      let cursor = pageParam;
      // A page may be empty although more follow.
      for (;;) {
        const page = await callIn(scope, 'listStagedRows', { path: { id: campaign, list }, query: { ...(code ? { finding: code } : {}), ...(column ? { column } : {}), limit: SIZE, ...(cursor ? { cursor } : {}) }, signal });
        found.push(...page.data);
        if (found.length > 0 || page.nextCursor === null) return { data: found, nextCursor: page.nextCursor };
        cursor = page.nextCursor;
      }
    },
  });
}

export function StagedRows({ campaign, list, verdict, edited }: { campaign: string; list: string; verdict: Schemas['StagedListPreflight']; edited: (row: number, change: Change) => void }) {
  const filters = useFilters();
  const admin = useIsAdmin();
  // What was looked at first stays chosen when its last row is mended.
  const first = useRef<string | null>(null);
  const worst = verdict.findings.find((one) => one.harm !== 'waits' && one.harm !== 'read_as');
  first.current ??= worst ? keyOfFinding(worst) : null;
  const chosen = filters.one('finding') || first.current || '';
  const [code = '', column = ''] = chosen === 'all' ? [] : chosen.split('|');
  const rows = useStagedRows(campaign, list, (code || null) as Schemas['StagedFindingCode'] | null, column || null);
  const shown = rows.data?.pages.flatMap((page) => page.data) ?? [];
  const finding = verdict.findings.find((one) => keyOfFinding(one) === chosen);
  return (
    <Box className="staged" title={t('Rows to look at')} count={finding ? count(finding.count) : undefined} inside={false} extra={admin && verdict.findings.length > 0 && <a className="btn bare sm" download href={addressOf('exportStagedFindings', { path: { id: campaign, list } })}><Icon of={Download} />{t('All findings as CSV')}</a>}>
      <div className="in"><Facet single name={t('Finding')} on={chosen ? [chosen] : []} set={(values) => filters.set('finding', values[0] ?? 'all')} items={[...verdict.findings.map((one) => ({ id: keyOfFinding(one), text: findingTitle(one), count: one.count })), { id: 'all', text: t('All rows'), count: verdict.stagedList.total }]} /></div>
      {rows.error && shown.length === 0 ? <ErrorBlock what={t('The rows could not be read.')} error={rows.error} again={() => { void rows.refetch(); }} />
        : rows.isPending ? <Bars rows={4} />
          : shown.length === 0 ? <p className="in mid">{t('No row has this finding any more.')}</p>
            : <Table campaign={campaign} list={list} rows={shown} edited={edited} />}
      {rows.hasNextPage && <div className="in"><Button small onPress={() => { void rows.fetchNextPage(); }} isPending={rows.isFetchingNextPage}>{t('More rows')}</Button></div>}
    </Box>
  );
}

function Table({ campaign, list, rows, edited }: { campaign: string; list: string; rows: readonly Row[]; edited: (row: number, change: Change) => void }) {
  const [changed, setChanged] = useState<ReadonlyMap<number, Row>>(new Map());
  const wanted = new Set(rows.flatMap((row) => row.findings.map((one) => one.column ?? '')).filter((one) => one.startsWith('variables.')).map((one) => one.slice(10)));
  const names = [...new Set([...wanted, ...rows.slice(0, SIZE).flatMap((row) => Object.keys(row.variables))])].filter((one) => one !== 'name' || wanted.has('name')).slice(0, MOST_COLUMNS);
  const columns = ['name', 'phone', ...names.map((name) => `variables.${name}`)];
  return (
    <div className="over" role="region" aria-label={t('Rows to look at')} tabIndex={0}>
      <table className="tbl stagedrows">
        <thead><tr><th className="r">{t('Row')}</th>{columns.map((column) => <th key={column}><Name>{columnName(column)}</Name></th>)}<th>{t('What is wrong')}</th></tr></thead>
        <tbody>
          {rows.map((before) => {
            const row = changed.get(before.row) ?? before;
            return (
              <tr key={row.row} data-row={row.row}>
                <td className="r dim">{count(row.row)}</td>
                {columns.map((column) => <Cell key={column} campaign={campaign} list={list} row={row} column={column} done={(now, change) => { edited(now.row, change); setChanged((all) => new Map(all).set(now.row, now)); }} />)}
                <td>{changed.has(row.row) && row.findings.every((one) => one.harm === 'read_as') && <State tone="ok">{t('Mended')}</State>}{row.findings.length === 0 && !changed.has(row.row) && <State tone="pass">{t('Nothing')}</State>}{row.findings.map((one) => <State key={keyOfFinding(one)} tone={findingTone(one)}>{rowFault(one)}</State>)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const valueOf = (row: Row, column: string): string => (column === 'phone' ? row.phone ?? '' : column === 'name' ? row.name ?? '' : row.variables[column.slice(10)] ?? '');
/** The name is a variable, too, where the flow speaks of it. */
const changeOf = (row: Row, column: string, value: string): Change => (column === 'phone' ? { phone: value } : column === 'name' ? { name: value || null, ...('name' in row.variables ? { variables: { name: value || null } } : {}) } : { variables: { [column.slice(10)]: value || null } });

/** A cell that is pressed to be changed: Enter keeps it, Escape leaves it. A masked number is written anew. */
function Cell({ campaign, list, row, column, done }: { campaign: string; list: string; row: Row; column: string; done: (row: Row, change: Change) => void }) {
  const value = valueOf(row, column);
  const [draft, setDraft] = useState<string | null>(null);
  const back = useRef<HTMLButtonElement>(null);
  const edit = useSend('editStagedRow');
  const bad = row.findings.some((one) => one.column === column && one.harm !== 'read_as' && one.harm !== 'waits');
  const label = t('Change {column} of row {n}', { column: columnName(column), n: row.row });
  const close = (): void => { setDraft(null); edit.reset(); requestAnimationFrame(() => back.current?.focus()); };
  const save = (): void => {
    const now = draft?.trim() ?? '';
    if (now === value || (column === 'phone' && now === '')) return close();
    const change = changeOf(row, column, now);
    edit.mutate({ path: { id: campaign, list, row: String(row.row) }, body: change as Schemas['StagedListEdit'] }, { onSuccess: (answer) => { done(answer.data, change); close(); } });
  };
  return (
    <td className={bad ? 'cellbad' : ''} data-column={column}>
      {draft === null
        ? <KitButton ref={back} className="celledit" aria-label={`${label}: ${value || t('empty')}`} onPress={() => setDraft(value.includes('•') ? '' : value)}><span className="cut">{value ? <Name>{value}</Name> : <span className={bad ? '' : 'dim'}>{t('empty')}</span>}</span></KitButton>
        : (
          <TextField aria-label={label} value={draft} onChange={setDraft} autoFocus isInvalid={edit.error !== null} className="cellfield">
            <div className="ctl"><Input dir="auto" maxLength={column === 'phone' ? 100 : 4_000} placeholder={column === 'phone' ? t('the whole number') : ''} onBlur={() => { if (!edit.isPending && !edit.error) save(); }} onKeyDown={(event) => { if (event.key === 'Enter') { event.preventDefault(); save(); } else if (event.key === 'Escape') { event.preventDefault(); event.stopPropagation(); close(); } }} /></div>
            {edit.error && <span className="fault" role="alert">{sentence(edit.error)}</span>}
          </TextField>
        )}
    </td>
  );
}
