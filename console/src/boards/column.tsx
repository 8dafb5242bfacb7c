import { Check, Ellipsis, GripVertical, TriangleAlert, Zap } from 'lucide-react';
import { useMemo } from 'react';
import { Button as KitButton, GridList, GridListItem, GridListLoadMoreItem, ListLayout, Virtualizer, useDragAndDrop } from 'react-aria-components';
import { Button, ErrorBlock, Icon, Key, MenuButton, Name, Tip, count, percent, relative, t, utc } from '../parts/index.ts';
import { automationWords, columnTone, waits } from './columns.ts';
import type { Moves } from './moves.ts';
import { useCards, type Automation, type Card, type Column } from './queries.ts';

interface Props { owner: string; column: Column; columns: readonly Column[]; moves: Moves; may: boolean; automations: readonly Automation[]; open: (card: Card) => void }
const KIND = 'application/x-card';
const LAYOUT = { estimatedRowHeight: 72, gap: 6, padding: 8 };

const cardName = (card: Card): string => card.contactName?.trim() || card.contactPhone || t('[erased]');

/** A column with its true count; its cards come in pages of 50, and only those on the screen exist. */
export function BoardColumn({ owner, column, columns, moves, may, automations, open }: Props) {
  const rows = useCards(owner, column.id);
  const { all } = rows;
  const { ahead } = moves;
  const cards = useMemo(() => {
    const here = all.filter((card) => (ahead.get(card.id)?.to ?? column.id) === column.id).map((card) => ahead.get(card.id)?.card ?? card);
    const arriving = [...ahead.values()].filter((one) => one.to === column.id && !all.some((card) => card.id === one.card.id)).map((one) => one.card);
    return [...arriving, ...here.filter(waits), ...here.filter((card) => !waits(card))];
  }, [all, ahead, column.id]);
  const shift = [...ahead.values()].reduce((sum, one) => sum + (one.to === column.id && !all.some((card) => card.id === one.card.id) ? 1 : 0) - (one.to !== column.id && all.some((card) => card.id === one.card.id) ? 1 : 0), 0);
  const { dragAndDropHooks } = useDragAndDrop({
    isDisabled: !may,
    getItems: (keys) => [...keys].map((key) => { const card = cards.find((one) => one.id === key); return { [KIND]: JSON.stringify(card ?? null), 'text/plain': card ? cardName(card) : '' }; }),
    acceptedDragTypes: [KIND],
    getDropOperation: () => 'move',
    onRootDrop: (event) => { for (const item of event.items) if (item.kind === 'text' && item.types.has(KIND)) void item.getText(KIND).then((text) => { const card = JSON.parse(text) as Card | null; if (card && card.columnId !== column.id) void moves.move(card, column); }); },
  });
  const title = `column-${column.id}`;
  return (
    <section className="bcol" data-column={column.key} aria-labelledby={title}>
      <header><Key tone={columnTone(column)}>{''}</Key><h2 id={title} className="cut"><Name>{column.name}</Name></h2><span className="dim num" data-cards>{count(Math.max(0, column.count + shift))}</span><span className="grow" />{automations.length > 0 && <Tip text={automations.map(automationWords).join('. ')}><span className="auto" aria-label={t('What happens to cards that come here')}><Icon of={Zap} small /></span></Tip>}</header>
      {rows.error && all.length === 0 ? <ErrorBlock what={t('The cards could not be read.')} error={rows.error} again={rows.again} /> : (
        <Virtualizer layout={ListLayout} layoutOptions={LAYOUT}>
          <GridList aria-labelledby={title} items={cards} dependencies={[columns, may, moves.move]} dragAndDropHooks={dragAndDropHooks} className="bcards" onAction={(key) => { const card = cards.find((one) => one.id === key); if (card) open(card); }} renderEmptyState={() => <p className="dim bempty">{rows.loading ? t('Loading') : t('Nobody here')}</p>}>
            {cards.map((card) => <CardItem key={card.id} card={card} columns={columns} may={may} moves={moves} open={open} />)}
            <GridListLoadMoreItem onLoadMore={() => rows.want(0, all.length)} isLoading={rows.hasMore}><span className="dim">{t('Loading')}</span></GridListLoadMoreItem>
          </GridList>
        </Virtualizer>
      )}
    </section>
  );
}

function CardItem({ card, columns, may, moves, open }: { card: Card; columns: readonly Column[]; may: boolean; moves: Moves; open: (card: Card) => void }) {
  const name = cardName(card);
  const here = columns.find((one) => one.id === card.columnId);
  const suggested = columns.find((one) => one.id === card.suggestedColumnId);
  return (
    <GridListItem id={card.id} textValue={name} className="bcard" data-review={waits(card)} data-card={card.id}>
      {may && <KitButton slot="drag" className="grip" aria-label={t('Drag {name}', { name })}><Icon of={GripVertical} small /></KitButton>}
      <div className="row"><span className="medium cut grow"><Name>{name}</Name></span><time className="meta num" dateTime={card.enteredColumnAt} title={utc(card.enteredColumnAt)}>{relative(card.enteredColumnAt)}</time></div>
      {card.lastSummary ? <p className="btext" dir="auto">{card.lastSummary}</p> : card.contactName && <p className="btext num" dir="ltr">{card.contactPhone}</p>}
      {waits(card) && <div className="rev"><p className="meta">{suggested ? card.confidence === null ? t('Perhaps {column}', { column: suggested.name }) : t('Perhaps {column}, {share} sure', { column: suggested.name, share: percent(card.confidence, 0) }) : t('The outcome is not clear')}</p></div>}
      {card.attentionReason === 'automation_failed' && <p className="meta failed"><Icon of={TriangleAlert} small />{t('An automation failed')}</p>}
      {may && (
        <div className="row acts" data-shown={waits(card)}>
          {waits(card) && suggested && <Button small icon={Check} onPress={() => { void moves.move(card, suggested); }}>{t('Move')}</Button>}
          {waits(card) && here && <Button small kind="bare" onPress={() => { void moves.move(card, here); }}>{t('Keep here')}</Button>}
          <MenuButton label={t('Move {name} to', { name })} button={<KitButton className="btn bare icon sm" aria-label={t('Move or look at {name}', { name })}><Icon of={Ellipsis} /></KitButton>} entries={[...columns.filter((one) => one.id !== card.columnId).map((one) => ({ text: t('To {column}', { column: one.name }), act: () => { void moves.move(card, one); } })), '-', { text: t('History'), act: () => open(card) }]} />
        </div>
      )}
    </GridListItem>
  );
}
