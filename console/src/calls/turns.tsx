// What was said, with the milliseconds of each answer, what it captured, and the tools it used.
import { Check, Scissors, Wrench } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Button as KitButton } from 'react-aria-components';
import type { Schemas } from '../api/index.ts';
import { Button, Empty, Icon, Key, Name, millis, span, t } from '../parts/index.ts';
import type { Sound } from './player.tsx';

export type Turn = Schemas['TurnOfCall'];
type Reaction = Schemas['ReactionParts'];
export const SLOW = 2_000;

export interface Line { readonly turn: number; readonly role: Schemas['Speaker']; readonly text: string; readonly timed: Turn | null }
/** The turns with their times; of a call that was only simulated there are words alone. */
export function linesOf(turns: readonly Turn[], transcript: readonly Schemas['CallTurn'][]): readonly Line[] {
  if (turns.length > 0) return turns.map((turn) => ({ turn: turn.turn, role: turn.role, text: turn.text, timed: turn }));
  return transcript.map((one, turn) => ({ turn, role: one.role, text: one.text, timed: null }));
}

const stages = (): readonly (readonly [Exclude<keyof Reaction, 'total'>, string])[] => [['recognition', t('words')], ['endpointing', t('sure they finished')], ['model', t('model')], ['synthesis', t('voice')], ['playout', t('first packet')]];

/** Five parts on one scale. */
export function Lane({ reaction, scale, mini }: { reaction: Reaction; scale: number; mini?: boolean }) {
  const parts = stages();
  return (
    <span className={mini ? 'lane mini' : 'lane'} role="img" aria-label={parts.map(([key, name]) => `${name} ${millis(reaction[key])}`).join(', ')}>
      {parts.map(([key], at) => reaction[key] > 0 && <i key={key} data-q={at + 1} style={{ width: `${(reaction[key] / scale) * 100}%` }} />)}
    </span>
  );
}
const scaleOf = (lines: readonly Line[]): number => Math.max(SLOW * 1.2, ...lines.map((line) => line.timed?.reaction?.total ?? 0));

interface TurnsProps { lines: readonly Line[]; extracted: Readonly<Record<string, unknown>>; agent: string; customer: string; sound: Sound | null; marked: number | null; showLatency: () => void }

export function Turns({ lines, extracted, agent, customer, sound, marked, showLatency }: TurnsProps) {
  const list = useRef<HTMLOListElement>(null);
  const [follow, setFollow] = useState(true);
  const position = sound?.position ?? -1;
  const now = useMemo(() => lines.findLastIndex((line) => line.timed !== null && line.timed.start <= position), [lines, position]);
  useEffect(() => { if (follow && sound?.playing) list.current?.children[now]?.scrollIntoView({ block: 'nearest' }); }, [now, follow, sound?.playing]);
  useEffect(() => { if (marked !== null) list.current?.children[lines.findIndex((line) => line.turn === marked)]?.scrollIntoView({ block: 'center' }); }, [marked, lines]);
  const scale = scaleOf(lines);
  if (lines.length === 0) return null;
  return (
    <div className="said" onWheel={() => sound?.playing && setFollow(false)} onTouchMove={() => sound?.playing && setFollow(false)}>
      {!follow && sound?.playing && <div className="again"><Button small onPress={() => setFollow(true)}>{t('Follow again')}</Button></div>}
      <ol className="turns" ref={list} aria-label={t('What was said')}>
        {lines.map((line, at) => (
          <li key={line.turn} data-who={line.role} data-now={at === now && position > 0} data-marked={line.turn === marked}>
            {line.timed && sound ? <KitButton className="at num" onPress={() => sound.seek(line.timed?.start ?? 0, true)} aria-label={t('Play from {time}', { time: span(line.timed.start) })}>{span(line.timed.start)}</KitButton> : <span className="at num">{line.timed ? span(line.timed.start) : ''}</span>}
            <div className="grow">
              <p className="sp"><Name>{line.role === 'agent' ? agent : customer}</Name></p>
              <p className="say" dir="auto">{line.text}{line.timed?.heardUntil != null && <span className="cutmark" aria-hidden />}</p>
              <Events turn={line.timed} extracted={extracted} customer={customer} last={at === lines.length - 1} />
            </div>
            {line.timed?.reaction && (
              <KitButton className="react" onPress={showLatency}>
                <span className="vh">{t('Answered after')} </span><span className={line.timed.reaction.total > SLOW ? 'num slow' : 'num'}>{millis(line.timed.reaction.total)}</span><Lane mini reaction={line.timed.reaction} scale={scale} />
              </KitButton>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

const valueText = (value: unknown): string => (value === true ? t('yes') : value === false ? t('no') : typeof value === 'string' || typeof value === 'number' ? String(value) : value == null ? '' : JSON.stringify(value));
export { valueText };

function Events({ turn, extracted, customer, last }: { turn: Turn | null; extracted: Readonly<Record<string, unknown>>; customer: string; last: boolean }) {
  if (!turn) return null;
  return (
    <>
      {turn.heardUntil !== null && <p className="ev"><Icon of={Scissors} small /><span dir="auto">{last ? t('The call ended at {time}. What came after was not heard.', { time: span(turn.heardUntil) }) : t('{name} spoke over it at {time}. What came after was not heard.', { name: customer, time: span(turn.heardUntil) })}</span></p>}
      {turn.tools.map((tool, at) => <p className="ev" key={at}><Icon of={Wrench} small /><span className="mono" translate="no">{tool.tool}</span> {tool.ok === false ? <span className="slow">{t('failed')}</span> : tool.ok ? t('done') : t('asked')}{tool.tookMs !== null && <>, <span className="num">{millis(tool.tookMs)}</span></>}</p>)}
      {turn.captures.length > 0 && <p className="ev got">{turn.captures.map((key) => <span key={key} className="row"><Icon of={Check} small /><span className="mono" translate="no">{key}</span><b dir="auto">{valueText(extracted[key])}</b></span>)}</p>}
    </>
  );
}

export const medianOf = (lines: readonly Line[]): number | null => {
  const sorted = lines.flatMap((line) => line.timed?.reaction?.total ?? []).sort((one, other) => one - other);
  return sorted.length === 0 ? null : sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
};

/** Where the time of each answer went, on one scale. */
export function Waterfall({ lines, providers }: { lines: readonly Line[]; providers: Schemas['ProvidersOfCall'] | undefined }) {
  const rows = lines.filter((line) => line.timed?.reaction);
  if (rows.length === 0) return <Empty title={t('No answer was measured')}>{t('The first words of the agent answer nobody, and simulated calls have no times.')}</Empty>;
  const scale = Math.max(500, ...rows.map((line) => line.timed?.reaction?.total ?? 0)) * 1.08;
  const median = medianOf(lines);
  const waited = rows.flatMap((line) => (line.timed?.tools ?? []).map((tool) => ({ name: tool.tool, took: tool.tookMs ?? 0 }))).sort((one, other) => other.took - one.took)[0];
  return (
    <div className="fall">
      <p className="row wrap meta">{stages().map(([key, name], at) => <Key key={key} tone={`q${at + 1}` as 'q1'}>{name}</Key>)}<span className="grow" /><span>{t('from the customer’s last sound to our first')}</span></p>
      <ol>
        {rows.map((line) => line.timed?.reaction && (
          <li key={line.turn}><span className="num dim">{span(line.timed.start)}</span><span className="cut" dir="auto">{line.text}</span><Lane reaction={line.timed.reaction} scale={scale} /><span className={`num right ${line.timed.reaction.total > SLOW ? 'slow' : ''}`}>{millis(line.timed.reaction.total)}</span></li>
        ))}
      </ol>
      <p className="meta">{median !== null && t('Median {time}.', { time: millis(median) })} {waited && t('The longest tool was {tool} ({time}).', { tool: waited.name, time: millis(waited.took) })} {providers && <Providers of={providers} />}</p>
    </div>
  );
}
function Providers({ of: { recognition, model, synthesis } }: { of: Schemas['ProvidersOfCall'] }) {
  const named = [[t('words'), recognition], [t('model'), model], [t('voice'), synthesis]].filter(([, name]) => name);
  return <>{named.map(([what, name]) => `${what}: ${name}`).join(' · ')}</>;
}
