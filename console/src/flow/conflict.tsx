// Somebody else saved while I typed. Nothing is lost: each part is taken from one of both.
import { UsersRound } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Button, Icon, Name, Segment, Sheet, Tag, plural, rich, t } from '../parts/index.ts';
import type { Draft } from './draft.ts';
import { same, type Step, type Variable } from './graph.ts';
import { differences, merged, natural, type PartDifference, type Side } from './merge.ts';
import { cutTo, fieldName, nameIn, shortValue, stepName } from './words.tsx';

export function ConflictBand({ draft }: { draft: Draft }) {
  const [open, setOpen] = useState(false);
  const { conflict } = draft;
  if (!conflict) return null;
  const who = conflict.who ?? t('Somebody');
  return (
    <div className="note conflict" data-tone="wait" role="alert" data-conflict="true"><Icon of={UsersRound} />
      <div className="grow"><p>{rich('{who} saved while you typed. Your changes are kept here, and not saved yet.', { who: <b><Name>{who}</Name></b> })}</p></div>
      <Button small onPress={() => setOpen(true)}>{t('Compare…')}</Button>
      <Button small onPress={draft.takeTheirs}>{t('Take theirs')}</Button>
      <Sheet open={open} onClose={() => setOpen(false)} label={t('Two drafts')}>{open && <Compare draft={draft} who={who} onClose={() => setOpen(false)} />}</Sheet>
    </div>
  );
}

function Compare({ draft, who, onClose }: { draft: Draft; who: string; onClose: () => void }) {
  const { conflict, graph } = draft;
  const found = useMemo(() => (conflict ? differences(conflict.base, graph, conflict.theirs) : []), [conflict, graph]);
  const [picked, setPicked] = useState<ReadonlyMap<string, Side>>(() => natural(found));
  if (!conflict) return null;
  const settle = (): void => { draft.settle(merged(conflict.base, graph, conflict.theirs, (key) => picked.get(key) ?? 'mine')); onClose(); };
  const all = (side: Side): void => setPicked(new Map(found.map((one) => [one.key, side])));
  return (
    <div className="form compare">
      <h2>{t('Your draft and that of {who}', { who })}</h2>
      <p className="mid">{plural(found.length, '{n} part is different. Choose whose is kept.', '{n} parts are different. Choose whose is kept.')}</p>
      <div className="row wrap"><Button small onPress={() => all('mine')}>{t('All mine')}</Button><Button small onPress={() => all('theirs')}>{t('All of {who}', { who })}</Button><Button small kind="bare" onPress={() => setPicked(natural(found))}>{t('What each changed')}</Button></div>
      <ul className="parts" tabIndex={0} aria-label={t('Different parts')}>{found.map((one) => <Part key={one.key} one={one} draft={draft} who={who} side={picked.get(one.key) ?? 'mine'} pick={(side) => setPicked((before) => new Map(before).set(one.key, side))} />)}</ul>
      <div className="ends"><Button onPress={onClose}>{t('Not yet')}</Button><Button kind="primary" onPress={settle}>{t('Save what I chose')}</Button></div>
    </div>
  );
}

function partName(one: PartDifference, draft: Draft): string {
  if (one.kind === 'start') return t('The first step');
  if (one.kind === 'variable') return t('Variable {name}', { name: String(((one.mine ?? one.theirs) as Variable).name) });
  return stepName((one.mine ?? one.theirs ?? stepIn(draft, one.key)) as Step | undefined);
}
const stepIn = (draft: Draft, key: string): Step | undefined => draft.conflict?.base.nodes.find((node) => `step:${node.id}` === key);

function Part({ one, draft, who, side, pick }: { one: PartDifference; draft: Draft; who: string; side: Side; pick: (side: Side) => void }) {
  const name = partName(one, draft);
  return (
    <li data-part={one.key} data-by={one.by}>
      <div className="row"><span className="medium cut grow"><Name>{name}</Name></span><Tag tone={one.by === 'both' ? 'wait' : 'mute'}>{one.by === 'me' ? t('you changed it') : one.by === 'them' ? t('{who} changed it', { who }) : t('both changed it')}</Tag></div>
      <Fields one={one} draft={draft} who={who} />
      <Segment label={t('Whose is kept: {name}', { name })} value={side} onChange={pick} items={[['mine', t('Mine')], ['theirs', t('Theirs')]]} />
    </li>
  );
}

/** The fields of a part that differ, with both values. */
function Fields({ one, draft, who }: { one: PartDifference; draft: Draft; who: string }) {
  const rows = rowsOf(one, draft);
  return (
    <table className="both"><thead><tr><th scope="col"><span className="vh">{t('Field')}</span></th><th scope="col">{t('Mine')}</th><th scope="col" dir="auto">{cutTo(who, 24)}</th></tr></thead>
      <tbody>{rows.map(([field, mine, theirs]) => <tr key={field}><th scope="row">{field}</th><td dir="auto">{mine}</td><td dir="auto">{theirs}</td></tr>)}</tbody>
    </table>
  );
}
function rowsOf(one: PartDifference, draft: Draft): readonly (readonly [string, string, string])[] {
  if (one.kind === 'start') return [[t('Begins with'), nameIn(draft.graph, one.mine as string), draft.conflict ? nameIn(draft.conflict.theirs, one.theirs as string) : '']];
  if (one.mine === undefined || one.theirs === undefined) return [[t('The whole part'), one.mine === undefined ? t('taken out') : t('is there'), one.theirs === undefined ? t('taken out') : t('is there')]];
  const [mine, theirs] = [one.mine as Record<string, unknown>, one.theirs as Record<string, unknown>];
  return [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].filter((key) => !same(mine[key], theirs[key])).map((key) => [key === 'position' ? t('Place on the canvas') : fieldName(key), shortValue(mine[key]), shortValue(theirs[key])] as const);
}
