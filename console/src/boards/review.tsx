import { useEffect, useMemo, useState } from 'react';
import { Link } from 'react-aria-components';
import { Button, Empty, ErrorBlock, Bars, Name, count, percent, relative, t, useKeys, type PageKey } from '../parts/index.ts';
import { waits } from './columns.ts';
import type { Moves } from './moves.ts';
import { useCards, type Card, type Column } from './queries.ts';

const SCAN = 200;

/** Cards that the model was unsure of, one at a time: one key a card, and undo. */
export function Review({ owner, columns, moves, may, expected, open }: { owner: string; columns: readonly Column[]; moves: Moves; may: boolean; expected: number | undefined; open: (card: Card) => void }) {
  const rows = useCards(owner, null, SCAN);
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const { all, hasMore, want, error } = rows;
  const queue = useMemo(() => all.filter((card) => waits(card) && !done.has(card.id) && !moves.ahead.has(card.id)), [all, done, moves.ahead]);
  const found = expected !== undefined && queue.length + done.size >= expected;
  // The service has no list of these cards alone, so all are looked through until they are found.
  useEffect(() => { if (hasMore && !found && !error) want(0, all.length); }, [hasMore, found, error, want, all.length]);
  const card = queue[0];
  const decide = (to: Column | undefined): void => { if (card && to && may) void moves.move(card, to); };
  const skip = (): void => { if (card) setDone((before) => new Set(before).add(card.id)); };
  const here = columns.find((one) => one.id === card?.columnId);
  const suggested = columns.find((one) => one.id === card?.suggestedColumnId);
  const others = columns.slice(0, 9);
  const keys: PageKey[] = card && may ? [
    ...(suggested ? [{ key: 'y', text: t('Move to what is suggested'), act: () => decide(suggested) }] : []),
    { key: 'n', text: t('Keep it where it is'), act: () => decide(here) },
    { key: 'j', text: t('Next card'), act: skip },
    ...others.map((column, at) => ({ key: String(at + 1), text: t('To {column}', { column: column.name }), act: () => decide(column) })),
  ] : [];
  useKeys(keys);
  if (error && all.length === 0) return <ErrorBlock what={t('The cards could not be read.')} error={error} again={rows.again} />;
  if (rows.loading) return <Bars />;
  if (!card) return hasMore && !found ? <div className="review"><p className="mid num" role="status">{t('Looking through the cards: {n} so far', { n: count(all.length) })}</p></div> : <Empty title={t('Nothing needs a look')}>{t('Cards of which the model is unsure come here, one at a time.')}</Empty>;
  return (
    <div className="review" data-review-card={card.id}>
      <p className="meta num">{t('{n} left', { n: count(queue.length) })}{hasMore && !found && ` · ${t('{n} cards looked through', { n: count(all.length) })}`}</p>
      <section className="box reviewbox" aria-live="polite">
        <div className="in stack">
          <div className="row"><h2 className="grow cut"><Name>{card.contactName?.trim() || card.contactPhone}</Name></h2><span className="meta num">{relative(card.enteredColumnAt)}</span></div>
          <p className="dim num" dir="ltr">{card.contactPhone}</p>
          {card.lastSummary && <p className="read" dir="auto">{card.lastSummary}</p>}
          <p className="mid">{suggested ? card.confidence === null ? t('Perhaps {column}', { column: suggested.name }) : t('Perhaps {column}, {share} sure', { column: suggested.name, share: percent(card.confidence, 0) }) : t('The outcome is not clear')}. {t('It is in {column}.', { column: here?.name ?? '' })}</p>
          {may && <div className="row wrap">{suggested && <Button kind="primary" keys="Y" onPress={() => decide(suggested)}>{t('Move to {column}', { column: suggested.name })}</Button>}<Button keys="N" onPress={() => decide(here)}>{t('Keep here')}</Button><Button kind="bare" keys="J" onPress={skip}>{t('Later')}</Button></div>}
          {may && <div className="row wrap others" role="group" aria-label={t('Another column')}>{others.map((column, at) => <Button key={column.id} small kind="bare" keys={String(at + 1)} onPress={() => decide(column)}><Name>{column.name}</Name></Button>)}</div>}
          <div className="row wrap">{card.lastCallId && <Link href={`/calls/${card.lastCallId}`} className="link">{t('The last call')}</Link>}<Button small kind="bare" onPress={() => open(card)}>{t('History')}</Button></div>
        </div>
      </section>
    </div>
  );
}
