import { useState } from 'react';
import { useRead, type Schemas } from '../api/index.ts';
import { Button, ErrorNote, SelectInput, Shown, Tag, When, plural, t, useCursorRows } from '../parts/index.ts';
import { DiffWords } from './diff.tsx';
import { asGraph, type Graph } from './graph.ts';
import { useRestore } from './use-restore.ts';
import type { Draft } from './draft.ts';

type Version = Schemas['FlowVersion'];
interface Props { agent: string; draft: Draft; live: number | null; changes: number | null; edits: boolean }
const DRAFT = 'draft';

/** The draft, then every version that was published, newest first: compared in place, and restored as the draft. */
export function VersionsPanel({ agent, draft, live, changes, edits }: Props) {
  const rows = useCursorRows<Version>('listFlowVersions', { path: { id: agent } }, 20);
  const [open, setOpen] = useState<{ from: number; to: string } | null>(null);
  const { restore, busy, error } = useRestore(agent, draft);
  const toggle = (from: number): void => setOpen((before) => (before?.from === from ? null : { from, to: DRAFT }));
  const others = (but: number): { id: string; text: string }[] => [{ id: DRAFT, text: t('the draft') }, ...rows.all.filter((one) => one.number !== but).map((one) => ({ id: String(one.number), text: `v${one.number}` }))];
  if (rows.loading || rows.error) return <Shown of={{ data: undefined, error: rows.error, refetch: rows.again } as never} what={t('The versions could not be read.')} rows={4}>{() => null}</Shown>;
  return (
    <>
      {error && <div className="pad0"><ErrorNote error={error} /></div>}
      <ol className="vers" aria-label={t('Versions')}>
        <li data-current="true"><div className="row"><b>{t('Draft')}</b><span className="grow" />{draft.savedAt && <span className="meta"><When at={draft.savedAt} /></span>}</div>
          <p className="mid">{changes === null ? '' : changes === 0 ? t('As it is live.') : plural(changes, '{n} change to what is live', '{n} changes to what is live')}</p>
          {live !== null && <div className="row"><Button small onPress={() => toggle(live)}>{t('Compare with v{n}', { n: live })}</Button></div>}
        </li>
        {rows.all.map((one) => (
          <li key={one.number} data-version={one.number}>
            <div className="row"><b>v{one.number}</b>{one.live && <Tag tone="ok">{t('live')}</Tag>}<span className="grow" />{one.publishedAt && <span className="meta"><When at={one.publishedAt} /></span>}</div>
            {(one.publishedByName || one.note) && <p className="mid" dir="auto">{[one.publishedByName, one.note].filter(Boolean).join(': ')}</p>}
            <div className="row"><Button small kind="bare" onPress={() => toggle(one.number)} aria-expanded={open?.from === one.number}>{t('Compare')}</Button>{edits && <Button small kind="bare" isPending={busy === one.number} onPress={() => restore(one.number)}>{t('Restore as draft')}</Button>}</div>
            {open?.from === one.number && <div className="stack">
              <SelectInput label={t('Compare v{n} with', { n: one.number })} value={open.to} onChange={(to) => setOpen({ from: one.number, to })} choices={others(one.number)} />
              <Compared agent={agent} from={one.number} to={open.to} draft={draft.graph} dirty={draft.dirty} />
            </div>}
          </li>
        ))}
      </ol>
      {rows.hasMore && <div className="pad0"><Button small onPress={() => rows.want(0, rows.all.length)}>{t('Older versions')}</Button></div>}
      <p className="meta pad0">{t('A conversation runs the version that was live when it began.')}</p>
    </>
  );
}

export function Compared({ agent, from, to, draft, dirty }: { agent: string; from: number; to: string; draft: Graph; dirty?: boolean }) {
  const diff = useRead('compareFlowVersions', { path: { id: agent, number: String(from) }, query: { to } });
  const other = useRead('getFlowVersion', { path: { id: agent, number: to } }, { enabled: to !== DRAFT, fresh: 600_000 });
  const graph = to === DRAFT ? draft : other.data ? asGraph(other.data.data.graph) : { nodes: [] };
  return <Shown of={diff} what={t('The versions could not be compared.')} rows={3}>{({ data }) => <>{dirty && to === DRAFT && <p className="meta">{t('What was changed last is not saved yet.')}</p>}<DiffWords diff={data} graph={graph} /></>}</Shown>;
}
