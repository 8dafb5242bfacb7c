// Beside the conversation: the person, labels, what was before, what the agent gathered, and the grades.
import { useState } from 'react';
import { Link } from 'react-aria-components';
import { useRead } from '../api/index.ts';
import { Fact, Facts, MaskedNumber, Name, Segment, State, Tag, When, day, dayOf, indiaDay, plural, span, t, when, type Tone } from '../parts/index.ts';
import { exists } from '../shell/index.ts';
import { Grades } from './grades.tsx';
import { customerName, type Detail } from './entries.ts';

export function Rail({ chat }: { chat: Detail }) {
  const [shown, setShown] = useState<'person' | 'grades'>('person');
  return (
    <>
      <div className="railhead"><Segment full label={t('About the chat')} value={shown} onChange={setShown} items={[['person', t('Person')], ['grades', t('Grades')]]} /></div>
      {shown === 'person' ? <Person chat={chat} /> : <Grades chat={chat} />}
    </>
  );
}

export function Person({ chat }: { chat: Detail }) {
  const who = customerName(chat);
  const contact = useRead('getContact', { path: { id: chat.contactId ?? '' } }, { enabled: chat.contactId !== null, fresh: 60_000 });
  const person = contact.data?.data;
  return (
    <>
      <section>
        <h3 className="strong">{who.known ? <Name>{who.text}</Name> : who.text}</h3>
        <Facts>
          {chat.customer?.phone && <Fact name={t('Number')}><MaskedNumber masked={chat.customer.phone} reveal="revealConversation" id={chat.id} /></Fact>}
          {chat.customer?.username && <Fact name={t('User name')}><Name>{chat.customer.username}</Name></Fact>}
          {person && <Fact name={t('Language')}>{person.preferredLanguage === 'hi' ? <span lang="hi">हिन्दी</span> : <span lang="en">English</span>}</Fact>}
          {chat.externalRef && <Fact name={t('Reference')}><span className="mono">{chat.externalRef}</span></Fact>}
          {person?.consent && <Fact name={t('Consent')}>{person.consent.source}, {day(person.consent.capturedAt)}</Fact>}
          {person && <Fact name={t('Messages')}>{person.chatapp.messagesAllowed ? t('allowed') : person.chatapp.stoppedAt ? t('stopped on {day}', { day: day(person.chatapp.stoppedAt) }) : t('not allowed')}</Fact>}
          {person && <Fact name={t('Calls')}>{person.doNotCall || person.optOut ? t('asked not to be called') : t('allowed')}</Fact>}
          {chat.contactId === null && <Fact name={t('Channel')}>{chat.channel === 'web' ? t('A chat on the web') : t('A chat over the API')}</Fact>}
          <Fact name={t('Began')}><When at={chat.startedAt} /></Fact>
        </Facts>
        {chat.contactId && exists('contacts') && <p className="more"><Link className="link" href={`/contacts/${chat.contactId}`}>{t('All about this person')}</Link></p>}
      </section>
      {chat.labels.length > 0 && <section><h3>{t('Labels')}</h3><div className="row wrap">{chat.labels.map((label) => <span key={label.id} className="cut"><Tag><Name>{label.name}</Name></Tag></span>)}</div></section>}
      {chat.contactId && <Earlier contact={chat.contactId} except={chat.id} />}
      {chat.extracted && Object.keys(chat.extracted).length > 0 && (
        <section><h3 dir="auto">{t('What {name} gathered', { name: chat.agentName })}</h3><Facts>{Object.entries(chat.extracted).map(([key, value]) => <Fact key={key} name={<span translate="no">{key}</span>}>{value === null || value === '' ? <span className="dim">{t('not given')}</span> : <span dir="auto" translate="no">{typeof value === 'object' ? JSON.stringify(value) : String(value)}</span>}</Fact>)}</Facts></section>
      )}
      {chat.summary && <section><h3>{t('Summary')}</h3><p className="mid" dir="auto" translate="no">{chat.summary}</p></section>}
    </>
  );
}

interface Before { readonly id: string; readonly at: string; readonly href: string; readonly tone: Tone; readonly text: string }

/** Calls and chats of the person before this one, newest first. */
function Earlier({ contact, except }: { contact: string; except: string }) {
  const calls = useRead('listCalls', { query: { contactId: contact, limit: 5 } });
  const chats = useRead('listConversations', { query: { contactId: contact, limit: 6 } });
  const all: Before[] = [
    ...(calls.data?.data ?? []).map((one): Before => ({ id: one.id, at: one.startedAt, href: `/calls/${one.id}`, tone: one.answered ? 'ok' : one.state === 'blocked' ? 'rule' : 'mute', text: one.answered ? t('Talked, {time}', { time: span(one.durationSeconds ?? 0) }) : one.state === 'blocked' ? t('Not dialled') : t('No answer') })),
    ...(chats.data?.data ?? []).filter((one) => one.id !== except).map((one): Before => ({ id: one.id, at: one.startedAt, href: `/inbox/${one.id}`, tone: one.status === 'active' ? 'accent' : 'mute', text: plural(one.messageCount, 'Chat, {n} message', 'Chat, {n} messages') })),
  ].sort((a, b) => b.at.localeCompare(a.at)).slice(0, 8);
  return (
    <section>
      <h3>{t('Earlier')}</h3>
      {all.length === 0 ? <p className="dim">{calls.data && chats.data ? t('Nothing before this chat.') : calls.error || chats.error ? t('It could not be read.') : ' '}</p> : (
        <ul className="earlier">{all.map((one) => <li key={one.id}><EarlierLink one={one} /><span className="meta num" title={when(one.at)}>{dayOf(one.at) === indiaDay() ? when(one.at).slice(0, 5) : day(one.at)}</span></li>)}</ul>
      )}
    </section>
  );
}

function EarlierLink({ one }: { one: Before }) {
  const state = <State tone={one.tone}>{one.text}</State>;
  if (one.href.startsWith('/calls') && !exists('calls')) return state;
  return <Link href={one.href} className="under">{state}</Link>;
}
