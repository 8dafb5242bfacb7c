import { ArrowLeft, Bot, Hand, UserRoundPlus } from 'lucide-react';
import { forwardRef, useEffect, useImperativeHandle, useRef, useState, type ReactNode } from 'react';
import { useHasRole, useMay, type ApiError } from '../api/index.ts';
import { Avatar, Button, ButtonLink, Confirm, MenuButton, More, Name, Sheet, State, clock, rich, t, toast, useMedia, useRaw } from '../parts/index.ts';
import { ReadOnlyNote } from '../shell/index.ts';
import { Composer, type ComposerHandle } from './composer.tsx';
import { Due } from './list.tsx';
import { Messages } from './messages.tsx';
import { useAssign, useEnd, useHandBack, useMyId, useReadAgain, useReadMark, useTake, useTeam } from './queries.ts';
import { Rail } from './rail.tsx';
import { Refusal } from './refusal.tsx';
import { Ring, windowOf } from './ring.tsx';
import { TemplateSheet } from './template-sheet.tsx';
import { customerName, endWords, handoffWords, holder, type Detail } from './entries.ts';

export interface ConversationHandle { readonly reply: () => void; readonly note: () => void; readonly answer: () => void; readonly end: () => void; readonly send: () => Promise<boolean> }

/** The chat that is open: one holder at a time. */
export const Conversation = forwardRef<ConversationHandle, { chat: Detail; now: number; back: string }>(function Conversation({ chat, now, back }, ref) {
  const me = useMyId();
  const may = useMay('takeInboxChat');
  const composer = useRef<ComposerHandle>(null);
  const [about, setAbout] = useState(false);
  const [ending, setEnding] = useState(false);
  const [templates, setTemplates] = useState(false);
  const [aloud, setAloud] = useState(false);
  const again = useReadAgain();
  const take = useTake();
  const handBack = useHandBack();
  const end = useEnd();
  const raw = useRaw('getInboxChat', { path: { id: chat.id } }, chat);
  const narrow = useMedia('(max-width: 1180px)');
  useReadMark(chat);
  const mine = chat.state === 'human' && chat.helpdesk === null && chat.assignedTo?.userId === me;
  const over = chat.state === 'ended';
  const free = chat.helpdesk === null && !over && !mine && (chat.state !== 'human' || chat.assignedTo === null);
  const left = over ? null : windowOf(chat.windowEndsAt, now);
  const takeIt = (): void => take.mutate({ path: { id: chat.id } }, { onSuccess: () => composer.current?.write('reply'), onError: again });
  const refused: ApiError | null = take.error ?? handBack.error;
  useImperativeHandle(ref, () => ({
    reply: () => { if (mine) composer.current?.write('reply'); else if (free && may) takeIt(); },
    note: () => { if (may) composer.current?.write('note'); },
    answer: () => { if (mine) composer.current?.write('reply', '/'); },
    end: () => { if (mine && may) setEnding(true); },
    send: async () => (await composer.current?.send()) ?? false,
  }));
  return (
    <section className="conv" aria-label={t('Conversation')} data-chat={chat.id} data-state={chat.state}>
      <ChatHead chat={chat} me={me} back={back} left={left} now={now}>
        {may && !over && chat.helpdesk === null && <AssignMenu chat={chat} />}
        {may && mine && <Button icon={Bot} isPending={handBack.isPending} onPress={() => handBack.mutate({ path: { id: chat.id } }, { onSuccess: () => toast(t('The agent has the chat again')), onError: again })}><span className="wide cut back">{t('Give back to {name}', { name: chat.agentName })}</span><span className="thin">{t('Give back')}</span></Button>}
        {may && free && <Button kind="primary" icon={Hand} isPending={take.isPending} onPress={takeIt}>{t('Take over')}</Button>}
        <More entries={[narrow && { text: t('Person and grades'), act: () => setAbout(true) }, { text: aloud ? t('Stop reading aloud') : t('Read new messages aloud'), act: () => setAloud(!aloud) }, ...raw.entries, may && mine && '-', may && mine && { text: t('End the chat…'), act: () => setEnding(true), danger: true }]} />
      </ChatHead>
      {refused && !(mine && refused.code === 'held_by_teammate') && <div className="refused"><Refusal error={refused} /></div>}
      <Messages chat={chat} aloud={aloud} asTemplate={may && mine && chat.channel === 'chatapp' ? () => setTemplates(true) : null} />
      {may ? <Composer key={`${chat.id}`} ref={composer} chat={chat} mine={mine} notes={chat.endCause !== 'erased'} instead={instead(chat, { mine, free, closed: left?.tone === 'bad', takeIt, pending: take.isPending, choose: () => setTemplates(true) })} /> : <footer className="composer"><ReadOnlyNote role="editor" /></footer>}
      <Sheet open={about} onClose={() => setAbout(false)} label={t('Person and grades')}><div className="aboutsheet rail"><Rail chat={chat} /><div className="ends"><Button onPress={() => setAbout(false)}>{t('Close')}</Button></div></div></Sheet>
      <TemplateSheet chat={chat} open={templates} onClose={() => setTemplates(false)} />
      <Confirm open={ending} onClose={() => setEnding(false)} title={t('End this chat?')} action={t('End the chat')} danger act={() => end.mutateAsync({ path: { id: chat.id } })}>
        <p className="mid">{t('The customer gets no further answer in it, and the chat is charged. A new message of theirs begins another one.')}</p>
      </Confirm>
    </section>
  );
});

function ChatHead({ chat, me, back, left, now, children }: { chat: Detail; me: string | null; back: string; now: number; left: ReturnType<typeof windowOf>; children: ReactNode }) {
  const who = customerName(chat);
  const state = holder(chat, me);
  const heading = useRef<HTMLHeadingElement>(null);
  const small = useMedia('(max-width: 760px)');
  useEffect(() => { if (small) heading.current?.focus(); }, [small, chat.id]);
  return (
    <header className="chead">
      <span className="thin"><ButtonLink kind="bare" icon={ArrowLeft} label={t('Back to the list')} href={back} /></span>
      <span className="wide"><Avatar name={who.text} /></span>
      <div className="grow">
        <h2 className="cut" ref={heading} tabIndex={-1}>{who.known ? <Name>{who.text}</Name> : who.text}</h2>
        <p className="meta win">{left ? <><Ring window={left} /><span className="cut">{left.words}</span></> : <span className="cut"><State tone={state.tone}>{state.name ? <Name>{state.text}</Name> : state.text}</State></span>}</p>
      </div>
      {chat.firstResponseDueAt && <span className="wide"><Due at={chat.firstResponseDueAt} now={now} /></span>}
      {children}
    </header>
  );
}

interface Way { readonly mine: boolean; readonly free: boolean; readonly closed: boolean; readonly pending: boolean; readonly takeIt: () => void; readonly choose: () => void }

/** What stands in the place of the reply, or null when it can be written. */
function instead(chat: Detail, { mine, free, closed, pending, takeIt, choose }: Way): ReactNode {
  if (chat.state === 'ended') return <p className="place mid">{t('The chat is over: {reason}', { reason: endWords(chat.endCause) })}</p>;
  if (chat.helpdesk !== null) return <p className="place mid">{rich('{name} has this chat. It is answered there.', { name: <Name>{chat.helpdesk}</Name> })}</p>;
  if (mine && closed) return <div className="note" data-tone="wait"><p className="grow">{t('The customer last wrote more than 24 hours ago. An approved template reaches them.')}</p><Button small onPress={choose}>{t('Choose a template…')}</Button></div>;
  if (mine) return null;
  if (!free) return <div className="place row" data-held="true"><State tone="team"><span className="said">{chat.assignedAt ? rich('{name} has it since {time}.', { name: <Name>{chat.assignedTo?.name}</Name>, time: clock(chat.assignedAt) }) : rich('{name} has it.', { name: <Name>{chat.assignedTo?.name}</Name> })}</span></State></div>;
  return (
    <div className="place row">
      <p className="grow mid">{chat.state === 'awaiting_human' ? t('Waits for a person: {reason}', { reason: handoffWords(chat.handoffReason) }) : rich('{name} answers, and is silent once you take over.', { name: <Name>{chat.agentName}</Name> })}</p>
      <Button kind="primary" icon={Hand} isPending={pending} onPress={takeIt}>{t('Reply')}</Button>
    </div>
  );
}

function AssignMenu({ chat }: { chat: Detail }) {
  const team = useTeam();
  const me = useMyId();
  const assign = useAssign();
  const again = useReadAgain();
  const [error, setError] = useState<ApiError | null>(null);
  const admin = useHasRole('admin');
  const members = team.all.filter((one) => one.userId !== chat.assignedTo?.userId);
  const entries = members.map((one) => ({
    text: one.userId === me ? t('{name} (you)', { name: one.name }) : one.name,
    hint: one.present ? t('here, {n} of {most}', { n: one.openChats, most: one.maxOpen }) : t('away'),
    act: () => assign.mutate({ path: { id: chat.id }, body: { userId: one.userId } }, { onError: (refused) => { setError(refused); again(); }, onSuccess: () => toast(t('The chat is with {name}', { name: one.name })) }),
  }));
  return (
    <>
      <MenuButton label={t('Assign to')} entries={[...entries, ...(admin ? ['-' as const, { text: t('How chats are assigned'), href: '/inbox/settings' }] : [])]} button={<Button kind="bare" icon={UserRoundPlus} label={t('Assign')} />} />
      <Sheet open={error !== null} onClose={() => setError(null)} label={t('Assign')}>
        <div className="form"><h2>{t('The chat was not assigned')}</h2>{error && <Refusal error={error} />}<div className="ends"><Button onPress={() => setError(null)}>{t('Close')}</Button></div></div>
      </Sheet>
    </>
  );
}

