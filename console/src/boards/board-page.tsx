import { Suspense, lazy, useState } from 'react';
import { useLocation } from 'wouter';
import { Bars, Body, ErrorNote, Head, More, Segment, Shown, count, plural, t, useFilters, useKeys, useRaw } from '../parts/index.ts';
import { useHasRole } from '../api/index.ts';
import { useMoves } from './moves.ts';
import { isCampaign, useBoard, useDefinition, useMayMove, useOwnerName, useToReview, type Card } from './queries.ts';
import type { PageProps } from '../shell/index.ts';
import './page.css';

const BoardColumn = lazy(async () => ({ default: (await import('./column.tsx')).BoardColumn }));
const CardSheet = lazy(async () => ({ default: (await import('./card-sheet.tsx')).CardSheet }));
const Review = lazy(async () => ({ default: (await import('./review.tsx')).Review }));

export function Page({ params }: PageProps) {
  const owner = params.owner ?? '';
  const board = useBoard(owner);
  const name = useOwnerName(owner);
  const filters = useFilters();
  const [, navigate] = useLocation();
  const may = useMayMove(owner);
  const editor = useHasRole('editor') && may;
  const moves = useMoves(owner);
  const columns = board.data?.data.columns ?? [];
  const waits = useToReview(owner, board.data?.data.boardId);
  const definition = useDefinition(board.data?.data.boardId);
  const raw = useRaw(isCampaign(owner) ? 'getCampaignBoard' : 'getAgentBoard', { path: { id: owner } }, board.data);
  const [opened, setOpened] = useState<Card | null>(null);
  const view = filters.one('view') === 'review' ? 'review' : 'all';
  const people = columns.reduce((sum, column) => sum + column.count, 0);
  useKeys([
    { key: 'r', text: t('Look at cards one by one'), act: () => filters.set('view', view === 'review' ? null : 'review') },
    ...(may ? [{ key: 'z', text: t('Undo the last move'), act: moves.undoLast }] : []),
  ]);
  const below = definition.data?.reviewBelow;
  return (
    <>
      <Head back={{ href: isCampaign(owner) ? `/campaigns/${owner}` : '/boards', text: isCampaign(owner) ? name || t('Campaign') : t('Boards') }} title={t('Board')} sub={<span className="dim num wide cut">{board.data && plural(people, '{n} person', '{n} people')}{below !== undefined && <> · {t('sorted by rules first, then by the model above {share}%', { share: Math.round(below * 100) })}</>}</span>}>
        <Segment label={t('Which cards')} value={view} onChange={(next) => filters.set('view', next === 'all' ? null : next)} items={[['all', t('All')], ['review', <span key="r" className="row">{t('Needs a look')}{waits !== undefined && waits > 0 && <span className="num">{count(waits)}</span>}</span>]]} />
        <More entries={[editor && { text: t('Edit columns'), act: () => navigate(`/boards/${owner}/columns`) }, ...raw.entries]} />
      </Head>
      {moves.error && <div className="board-error"><ErrorNote error={moves.error} /></div>}
      <Body pad={false}>
        <Shown of={board} what={t('The board could not be read.')}>
          {({ data }) => (view === 'review'
            ? <Suspense fallback={<Bars />}><Review owner={owner} columns={data.columns} moves={moves} may={may} expected={waits} open={setOpened} /></Suspense>
            : <Suspense fallback={<Bars />}><div className="board" role="group" aria-label={t('Columns of the board')}>{data.columns.map((column) => <BoardColumn key={column.id} owner={owner} column={column} columns={data.columns} moves={moves} may={may} automations={definition.data?.columns.find((one) => one.id === column.id)?.automations ?? []} open={setOpened} />)}</div></Suspense>)}
        </Shown>
      </Body>
      {opened && <Suspense><CardSheet owner={owner} card={opened} columns={columns} onClose={() => setOpened(null)} /></Suspense>}
      {raw.sheet}
    </>
  );
}
