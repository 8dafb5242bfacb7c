// The list beside the conversation. Rows keep their place while the pointer is over them; new ones wait behind a pill.
import { useEffect, useMemo, useRef, useState } from 'react';
import { Avatar, Button, Empty, ErrorBlock, Grid, Name, State, Tag, Bars, clock, plural, t, useCursorRows, type Rows } from '../parts/index.ts';
import { hasDraft } from './draft.ts';
import { useMyId, viewInput } from './queries.ts';
import { Ring, windowOf } from './ring.tsx';
import { ago, customerName, holder, type Entry, type View } from './entries.ts';

const ROW = 80;

interface Held { readonly rows: Rows<Entry>; readonly all: readonly Entry[]; readonly newer: number; readonly release: () => void; readonly hover: (inside: boolean) => void; readonly loading: boolean }

/** The rows of a view. While the pointer is inside, those that were there stay where they were. */
export function useHeldRows(view: View, current: string, shown: Entry | undefined): Held {
  const rows = useCursorRows<Entry>('listInbox', viewInput(view), 50);
  const [inside, setInside] = useState(false);
  const held = useRef<{ view: View; all: readonly Entry[] } | null>(null);
  const [, again] = useState(0);
  const kept = useRef<{ view: View; at: number; id: string } | null>(null);
  const all = useMemo(() => {
    const fresh = rows.all;
    const before = held.current?.view === view ? held.current.all : [];
    return inside && before.length > 0 ? inPlace(before, fresh) : withKept(fresh, kept.current, view, shown?.id === current ? shown : undefined);
  }, [rows.all, inside, view, current, shown]);
  const at = all.findIndex((entry) => entry.id === current);
  useEffect(() => {
    const entry = all[at];
    kept.current = entry ? { view, at, id: entry.id } : kept.current?.id === current && kept.current.view === view ? kept.current : null;
  });
  useEffect(() => { held.current = { view, all }; });
  const newer = inside ? rows.all.filter((entry) => !all.some((shown) => shown.id === entry.id)).length : 0;
  return {
    all, newer, loading: rows.loading,
    rows: { ...rows, count: all.length + (rows.hasMore ? 20 : 0), at: (index) => all[index] },
    release: () => { held.current = null; setInside(false); again((n) => n + 1); },
    hover: setInside,
  };
}

/** Rows as they were, with what is new of each; further pages follow behind them. */
function inPlace(before: readonly Entry[], fresh: readonly Entry[]): readonly Entry[] {
  const now = new Map(fresh.map((entry) => [entry.id, entry]));
  const last = before.findLast((entry) => now.has(entry.id));
  const behind = last ? fresh.slice(fresh.findIndex((entry) => entry.id === last.id) + 1) : [];
  return [...before.map((entry) => now.get(entry.id) ?? entry), ...behind.filter((entry) => !before.some((old) => old.id === entry.id))];
}

/** The chat that is open stays in the list at its place, also after it has left the view. */
function withKept(fresh: readonly Entry[], kept: { view: View; at: number; id: string } | null, view: View, shown: Entry | undefined): readonly Entry[] {
  if (!kept || !shown || kept.view !== view || kept.id !== shown.id || fresh.some((entry) => entry.id === shown.id)) return fresh;
  return [...fresh.slice(0, kept.at), shown, ...fresh.slice(kept.at)];
}

export function ChatList({ held, view, current, now, open, show }: { held: Held; view: View; current: string; now: number; open: (id: string) => void; show: (view: View) => void }) {
  const me = useMyId();
  const { rows } = held;
  if (rows.error && held.all.length === 0) return <ErrorBlock what={t('The chats could not be read.')} error={rows.error} again={rows.again} />;
  if (held.loading) return <Bars rows={6} />;
  if (held.all.length === 0) return <EmptyView view={view} show={show} />;
  return (
    <div className="chats">
      {held.newer > 0 && <button type="button" className="fresh" onClick={held.release}>{plural(held.newer, '{n} newer', '{n} newer')}</button>}
      <Grid label={t('Chats')} rows={rows} id={(entry) => entry.id} open={(entry) => open(entry.id)} current={current} rowHeight={ROW} onHover={held.hover}
        columns={[{ key: 'chat', head: t('Chat'), width: 'minmax(0, 1fr)', cell: (entry) => <ChatRow entry={entry} me={me} now={now} /> }]} />
    </div>
  );
}

function ChatRow({ entry, me, now }: { entry: Entry; me: string | null; now: number }) {
  const who = customerName(entry);
  const state = holder(entry, me);
  const left = entry.state === 'ended' ? null : windowOf(entry.windowEndsAt, now);
  const label = entry.labels[0];
  return (
    <div className="chat">
      <Avatar name={who.text} />
      <div className="grow">
        <div className="row"><span className="medium cut grow">{who.known ? <Name>{who.text}</Name> : who.text}</span><span className="meta num">{ago(entry.state === 'awaiting_human' ? entry.waitingSince ?? entry.lastMessageAt : entry.lastMessageAt, now)}</span></div>
        <div className="row"><p className="cut grow mid last"><Preview entry={entry} /></p>{(entry.unread ?? 0) > 0 && <span className="unread num"><span className="vh">{plural(entry.unread ?? 0, '{n} unread message', '{n} unread messages')}</span><span aria-hidden>{entry.unread}</span></span>}</div>
        <div className="row meta">
          <span className="cut"><State tone={state.tone}>{state.name ? <Name>{state.text}</Name> : state.text}</State></span>
          <span className="grow" />
          {entry.firstResponseDueAt && <Due at={entry.firstResponseDueAt} now={now} />}
          {hasDraft(me, entry.id) && <Tag tone="accent">{t('Draft')}</Tag>}
          {label && <span className="cut label"><Tag>{<Name>{label.name}</Name>}</Tag></span>}
          {left && <Ring window={left} label />}
        </div>
      </div>
    </div>
  );
}

/** By when a person should have answered. */
export function Due({ at, now }: { at: string; now: number }) {
  const late = Date.parse(at) < now;
  return <Tag tone={late ? 'bad' : 'wait'}>{late ? t('late for {time}', { time: ago(at, now) }) : t('answer by {time}', { time: clock(at) })}</Tag>;
}

function Preview({ entry }: { entry: Entry }) {
  if (!entry.lastMessage) return <span className="dim">{t('Nothing was written yet')}</span>;
  const { role, text } = entry.lastMessage;
  const by = role === 'agent' ? entry.agentName : role === 'human' ? t('Team') : null;
  const voice = text.startsWith('[voice note]');
  return <>{by !== null && <><Name>{by}</Name>: </>}{voice && <>{t('Voice note')} </>}<span dir="auto" translate="no">{voice ? text.slice(12) : text}</span></>;
}

function EmptyView({ view, show }: { view: View; show: (view: View) => void }) {
  if (view === 'waiting') return <Empty title={t('Nobody waits for a person')} action={<Button onPress={() => show('open')}>{t('Show all open chats')}</Button>}>{t('A chat comes here when its agent asks for a person or cannot answer.')}</Empty>;
  if (view === 'mine') return <Empty title={t('You have no chat')} action={<Button onPress={() => show('waiting')}>{t('Show who waits')}</Button>}>{t('What you take over or are assigned stands here.')}</Empty>;
  if (view === 'open') return <Empty title={t('No chat is open')}>{t('Chats of your agents stand here while they go on.')}</Empty>;
  return <Empty title={t('No chat has ended yet')}>{t('Chats stand here when they are over.')}</Empty>;
}
