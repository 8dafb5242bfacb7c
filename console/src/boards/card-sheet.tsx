import { Link } from 'react-aria-components';
import { useRead } from '../api/index.ts';
import { Bars, Button, ErrorBlock, Fact, Facts, Name, Sheet, When, percent, t } from '../parts/index.ts';
import { useHistory, type Card, type Column } from './queries.ts';

/** A card: the person, the last words, and where it has been. */
export function CardSheet({ owner, card, columns, onClose }: { owner: string; card: Card; columns: readonly Column[]; onClose: () => void }) {
  const name = card.contactName?.trim() || card.contactPhone || t('[erased]');
  const column = columns.find((one) => one.id === card.columnId);
  const history = useHistory(owner, card.id);
  const members = useRead('listWorkspaceMembers', {}, { fresh: 300_000 }).data?.data ?? [];
  const who = (actor: string | null): string => members.find((one) => one.id === actor)?.name ?? (actor?.startsWith('usr_') ? t('a member') : t('a key'));
  return (
    <Sheet open onClose={onClose} label={name}>
      <div className="form">
        <h2><Name>{name}</Name></h2>
        <Facts>
          {card.contactPhone && <Fact name={t('Number')}><span dir="ltr" className="num">{card.contactPhone}</span></Fact>}
          <Fact name={t('Column')}><Name>{column?.name ?? ''}</Name></Fact>
          {card.lastSummary && <Fact name={t('Last words')}>{card.lastSummary}</Fact>}
        </Facts>
        <h3>{t('History')}</h3>
        {history.error ? <ErrorBlock what={t('The history could not be read.')} error={history.error} again={history.again} /> : history.loading ? <Bars rows={3} /> : history.all.length === 0 ? <p className="mid">{t('It has not been moved yet.')}</p> : (
          <ol className="moves" data-history>
            {history.all.map((move) => (
              <li key={move.moveId} data-undone={move.undoneAt !== null}>
                <span>{move.from ? <><Name>{move.from.name}</Name> → <Name>{move.to.name}</Name></> : <Name>{move.to.name}</Name>}</span>
                <span className="meta num"><When at={move.movedAt} /> · {move.movedBy === 'api' ? <Name>{who(move.actor)}</Name> : move.confidence === null || move.confidence === 1 ? t('by a rule') : t('by the model, {share} sure', { share: percent(move.confidence, 0) })}{move.undoneAt && <> · {t('undone')}</>}</span>
              </li>
            ))}
          </ol>
        )}
        {history.hasMore && <Button small onPress={() => history.want(0, history.all.length)}>{t('Earlier moves')}</Button>}
        <div className="ends"><Link href={`/contacts/${card.contactId}`} className="btn">{t('The person')}</Link>{card.lastCallId && <Link href={`/calls/${card.lastCallId}`} className="btn">{t('The last call')}</Link>}<Button onPress={onClose}>{t('Close')}</Button></div>
      </div>
    </Sheet>
  );
}
