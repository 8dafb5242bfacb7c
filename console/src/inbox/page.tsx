import './page.css';
import { Settings2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { currentScope, useMay, useSend } from '../api/index.ts';
import { ButtonLink, Empty, ErrorNote, Head, Segment, Shown, SwitchInput, count, plural, t, useFilters, useKeys } from '../parts/index.ts';
import type { PageProps } from '../shell/index.ts';
import { Conversation, type ConversationHandle } from './conversation.tsx';
import { ChatList, useHeldRows } from './list.tsx';
import { useChat, useCounts, useMyId, useNow, useOldest, useTeam } from './queries.ts';
import { Rail } from './rail.tsx';
import { VIEWS, ago, isView, viewName, type View } from './entries.ts';

export function Page({ params }: PageProps) {
  if (currentScope()?.test) return <LiveOnly />;
  return <Inbox id={params.chat ?? ''} />;
}

function LiveOnly() {
  const scope = currentScope();
  return <><Head title={t('Inbox')} /><Empty title={t('Chats are of live mode')} action={<ButtonLink href={`~/console/${scope?.workspace}/inbox`}>{t('Open the inbox of live mode')}</ButtonLink>}>{t('Test chats of an agent are not listed here.')}</Empty></>;
}

function Inbox({ id }: { id: string }) {
  const [, navigate] = useLocation();
  const filters = useFilters();
  const asked = filters.one('view');
  const view: View = isView(asked) ? asked : 'waiting';
  const now = useNow();
  const chat = useChat(id);
  const held = useHeldRows(view, id, chat.data?.data);
  const conversation = useRef<ConversationHandle>(null);
  const [sent, setSent] = useState(0);
  const query = view === 'waiting' ? '' : `?view=${view}`;
  const open = (to: string): void => navigate(`/inbox/${to}${query}`);
  const show = (to: View): void => filters.set('view', to === 'waiting' ? null : to);
  const step = (by: 1 | -1): void => {
    const at = held.all.findIndex((entry) => entry.id === id);
    const next = held.all[at < 0 ? 0 : at + by];
    if (next && next.id !== id) open(next.id);
  };
  useKeys([
    { key: 'Alt+ArrowDown', text: t('Next chat'), act: () => step(1) },
    { key: 'Alt+ArrowUp', text: t('Previous chat'), act: () => step(-1) },
    { key: 'r', text: t('Reply, or take over'), act: () => conversation.current?.reply() },
    { key: 'n', text: t('Note'), act: () => conversation.current?.note() },
    { key: '/', text: t('Saved answer'), act: () => conversation.current?.answer() },
    { key: 'e', text: t('End the chat'), act: () => conversation.current?.end() },
    { key: 'Mod+Enter', text: t('Send and go to the next chat'), act: () => { void conversation.current?.send().then((done) => { if (done) { setSent(sent + 1); step(1); } }); } },
  ]);
  return (
    <>
      <InboxHead now={now} />
      <div className="inbox" data-open={id !== ''} data-sent={sent}>
        <section className="ilist" aria-label={t('Chats')}>
          <ViewBar view={view} show={show} />
          <ChatList held={held} view={view} current={id} now={now} open={open} show={show} />
        </section>
        {id === '' ? <NoChat /> : (
          <Shown of={chat} what={t('The chat could not be read.')}>{(answer) => (
            <>
              <Conversation key={id} ref={conversation} chat={answer.data} now={now} back={`/inbox${query}`} />
              <aside className="rail" aria-label={t('Person and grades')}><Rail key={id} chat={answer.data} /></aside>
            </>
          )}</Shown>
        )}
      </div>
    </>
  );
}

function ViewBar({ view, show }: { view: View; show: (view: View) => void }) {
  const counts = useCounts(true).data?.data;
  const number = (one: View): string => (counts && one !== 'ended' ? ` ${count(counts[one])}${counts[one] >= counts.limit ? '+' : ''}` : '');
  return <div className="toolbar"><Segment full label={t('Which chats')} value={view} onChange={show} items={VIEWS.map((one) => [one, <span key={one}>{viewName(one)}<span className="num">{number(one)}</span></span>] as const)} /></div>;
}

function NoChat() {
  return <section className="conv wide none" aria-label={t('Conversation')}><Empty title={t('Choose a chat')}>{t('Alt with the arrows goes from one to the next.')}</Empty></section>;
}

function InboxHead({ now }: { now: number }) {
  const counts = useCounts(true).data?.data;
  const oldest = useOldest(true).data?.data[0];
  const me = useMyId();
  const team = useTeam();
  const may = useMay('setInboxAvailability');
  const self = team.all.find((one) => one.userId === me);
  const available = useSend('setInboxAvailability', { alters: ['listInboxTeam'] });
  const taking = available.isPending ? available.variables.body.available : self?.available ?? false;
  const waits = counts ? (counts.waiting === 0 ? t('Nobody waits') : oldest?.waitingSince && now - Date.parse(oldest.waitingSince) >= 60_000 ? plural(counts.waiting, '{n} waits, for {time}', '{n} wait, the oldest for {time}', { time: ago(oldest.waitingSince, now) }) : plural(counts.waiting, '{n} waits', '{n} wait')) : null;
  return (
    <>
      <Head title={t('Inbox')} sub={counts && <span className="dim num wide">{waits} · {plural(counts.mine, '{n} with you', '{n} with you')} · {plural(counts.open, '{n} open', '{n} open')}</span>}>
        {may && self && <SwitchInput value={taking} onChange={(on) => available.mutate({ body: { available: on } })}>{t('You take chats')}</SwitchInput>}
        <ButtonLink kind="bare" icon={Settings2} label={t('Inbox settings')} href="/inbox/settings" />
      </Head>
      {available.error && <div className="refused"><ErrorNote error={available.error} /></div>}
    </>
  );
}
