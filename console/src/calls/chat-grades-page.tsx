import { useMemo, useState } from 'react';
import { useRead, type Schemas } from '../api/index.ts';
import { Body, ButtonLink, Head, Name, Shown, Tag, clockSeconds, spelled, t } from '../parts/index.ts';
import { exists } from '../shell/index.ts';
import './call.css';
import { Grades } from './grades.tsx';
import { WindowTitle } from './window-title.tsx';

/** A finished chat beside its grades. The inbox is where it is answered. */
export function Page({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.id ?? '';
  const chat = useRead('getInboxChat', { path: { id } });
  if (!chat.data) return <><Head back={{ href: '/evaluation', text: t('Evaluation') }} title={t('Chat')} /><Body><Shown of={chat} what={t('The chat could not be read.')}>{() => null}</Shown></Body></>;
  return <Chat chat={chat.data.data} />;
}

function Chat({ chat }: { chat: Schemas['InboxEntryDetail'] }) {
  const [marked, mark] = useState<number | null>(null);
  const lines = useMemo(() => chat.messages.filter((one) => one.failed !== true).map((one) => ({ turn: one.seq, text: one.text })), [chat.messages]);
  const finished = chat.endedAt !== null;
  const speaker = (message: Schemas['InboxMessage']): string => (message.role === 'user' ? chat.customer?.name ?? t('Customer') : message.role === 'human' ? message.author?.name ?? message.agentName ?? t('Team') : chat.agentName);
  return (
    <>
      <Head back={{ href: `/evaluation/${chat.agentId}`, text: t('Evaluation') }} title={chat.customer?.name ?? t('Chat')} mark={chat.outcome ? <Tag><Name>{spelled(chat.outcome)}</Name></Tag> : undefined}>{exists('inbox') && <ButtonLink href={`/inbox/${chat.id}`}>{t('Open in the inbox')}</ButtonLink>}</Head>
      <WindowTitle key={chat.customer?.name ?? ''} text={t('Chat')} />
      <div className="body call">
        <div className="left">
          <ol className="turns" aria-label={t('What was said')}>
            {chat.messages.map((message) => (
              <li key={message.seq} data-who={message.role === 'agent' ? 'agent' : 'customer'} data-marked={message.seq === marked} ref={message.seq === marked ? (element) => element?.scrollIntoView({ block: 'center' }) : null}>
                <time className="at num" dateTime={message.at}>{clockSeconds(message.at).slice(0, 5)}</time>
                <div className="grow"><p className="sp"><Name>{speaker(message)}</Name></p><p className="say" dir="auto">{message.text}</p>{message.failed && <p className="ev">{t('It was not delivered, and is not graded.')}</p>}</div>
              </li>
            ))}
          </ol>
        </div>
        <aside className="rail" aria-label={t('About this chat')}>
          {chat.summary && <section><h2>{t('Result')}</h2><p className="mid" dir="auto">{chat.summary}</p></section>}
          <Grades kind="chat" id={chat.id} agentId={chat.agentId} lines={lines} finished={finished} onQuote={mark} />
        </aside>
      </div>
    </>
  );
}
