import './page.css';
import { useState } from 'react';
import { Link } from 'react-aria-components';
import { useHasRole, useMay, useSend } from '../api/index.ts';
import { Body, Box, Confirm, Empty, Fact, Facts, Head, MaskedNumber, More, Name, Sheet, Shown, State, When, plural, span, t, toast, useRaw, type Tone } from '../parts/index.ts';
import { exists, type PageProps } from '../shell/index.ts';
import { EraseDialog } from './erase.tsx';
import { PersonForm } from './person-form.tsx';
import { languageName, sourceName, useCalls, useChats, usePerson, type Person } from './queries.ts';

const back = () => ({ href: '/contacts', text: t('Contacts') });

export function Page({ params }: PageProps) {
  const id = params.id ?? '';
  const person = usePerson(id);
  if (person.data) return <PersonView key={id} person={person.data.data} />;
  return (
    <>
      <Head title={t('Person')} back={back()} />
      <Body>{person.error?.status === 410 ? <Empty title={t('This person was erased')}>{t('Everything personal is gone for good. Ids, times and amounts stay in the log and in the ledger.')}</Empty> : <Shown of={person} what={t('The person could not be read.')}>{() => null}</Shown>}</Body>
    </>
  );
}

function PersonView({ person }: { person: Person }) {
  const [form, setForm] = useState(false);
  const [optsOut, setOptsOut] = useState(false);
  const [erasing, setErasing] = useState(false);
  const mayChange = useMay('updateContact');
  const mayErase = useHasRole('owner');
  const raw = useRaw('getContact', { path: { id: person.id } }, person);
  const change = useSend('updateContact', { alters: ['getContact', 'listContacts', 'listDoNotCall'] });
  const name = person.name ?? person.chatappUsername;
  return (
    <>
      <Head title={t('Person')} back={back()} sub={<h2 className="cut">{name ? <Name>{name}</Name> : <span className="dim">{t('No name')}</span>}</h2>}>
        <More entries={[mayChange && { text: t('Change…'), act: () => setForm(true) }, ...raw.entries, (mayChange || mayErase) && '-', mayChange && !person.optOut && { text: t('Do not call any more…'), act: () => setOptsOut(true), danger: true }, mayErase && { text: t('Erase this person…'), act: () => setErasing(true), danger: true }]} />
      </Head>
      <Body>
        <div className="person">
          <div className="stack wideGap"><PersonBox person={person} /><ReachBox person={person} /><ConsentBox person={person} /></div>
          <div className="stack wideGap"><CallsBox id={person.id} /><ChatsBox id={person.id} /></div>
        </div>
      </Body>
      <Sheet open={form} onClose={() => setForm(false)} label={t('Change the person')}><PersonForm person={person} close={() => setForm(false)} done={() => undefined} /></Sheet>
      <Confirm open={optsOut} onClose={() => setOptsOut(false)} title={t('Never call this person again?')} action={t('Put 1 number on the list')} danger act={() => change.mutateAsync({ path: { id: person.id }, body: { optOut: true } }).then(() => toast(t('The person is not called any more')))}>
        <p className="mid">{t('The number goes onto the do-not-call list. Only the operator of this installation can lift it.')}</p>
      </Confirm>
      {erasing && <EraseDialog person={person} onClose={() => setErasing(false)} />}
      {raw.sheet}
    </>
  );
}

function PersonBox({ person }: { person: Person }) {
  const saved = Object.entries(person.attributes);
  return (
    <Box title={t('The person')}>
      <Facts>
        <Fact name={t('Number')}>{person.phone ? <MaskedNumber masked={person.phone} reveal="revealContact" id={person.id} /> : <span className="dim">{t('none')}</span>}</Fact>
        {person.externalRef && <Fact name={t('Reference')}><span className="mono">{person.externalRef}</span></Fact>}
        {person.chatappUsername && <Fact name={t('User name')}><Name>{person.chatappUsername}</Name></Fact>}
        {person.company && <Fact name={t('Company')}><Name>{person.company}</Name></Fact>}
        {person.email && <Fact name={t('E-mail')}><Name>{person.email}</Name></Fact>}
        <Fact name={t('Language')}>{languageName(person.preferredLanguage)}</Fact>
        <Fact name={t('Last contact')}>{person.lastContactAt ? <When at={person.lastContactAt} /> : <span className="dim">{t('never')}</span>}</Fact>
        {saved.map(([key, value]) => <Fact key={key} name={<Name>{key}</Name>}><span translate="no">{value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value)}</span></Fact>)}
      </Facts>
    </Box>
  );
}

/** Whether the person may be called and written to, and if not why and since when. */
function ReachBox({ person }: { person: Person }) {
  const { chatapp } = person;
  const called: [Tone, string] = person.optOut ? ['rule', t('No: the person opted out')] : person.doNotCall ? ['rule', t('No: the number is on the do-not-call list')] : person.dnd ? ['rule', t('No: the number is on the platform’s registry')] : ['pass', t('Yes, within the hours and rules')];
  const written: [Tone, string] = chatapp.messagesAllowed ? ['pass', t('Yes')] : ['rule', chatapp.stoppedAt ? t('No: the person stopped messages') : t('No')];
  const marketing: [Tone, string] = chatapp.marketingStoppedAt ? ['rule', t('No: the person stopped marketing')] : !chatapp.messagesAllowed ? ['rule', t('No')] : chatapp.optedInAt ? ['pass', t('Yes, the person opted in')] : ['mute', t('Only after an opt-in')];
  return (
    <Box title={t('May be reached')}>
      <Facts>
        <Fact name={t('Calls')}><State tone={called[0]}>{called[1]}</State>{(person.optOut || person.doNotCall) && <p className="meta">{t('Only the operator of this installation can lift it.')}</p>}</Fact>
        <Fact name={t('Messages')}><State tone={written[0]}>{written[1]}</State>{chatapp.stoppedAt && <p className="meta"><When at={chatapp.stoppedAt} />{chatapp.stopSource && <>, {t('by {source}', { source: sourceName(chatapp.stopSource) })}</>}</p>}</Fact>
        <Fact name={t('Marketing')}><State tone={marketing[0]}>{marketing[1]}</State>{(chatapp.marketingStoppedAt ?? chatapp.optedInAt) && <p className="meta"><When at={chatapp.marketingStoppedAt ?? chatapp.optedInAt ?? ''} />{!chatapp.marketingStoppedAt && chatapp.optInSource && <>, {t('by {source}', { source: sourceName(chatapp.optInSource) })}</>}</p>}</Fact>
      </Facts>
    </Box>
  );
}

function ConsentBox({ person }: { person: Person }) {
  return (
    <Box title={t('Consent')}>
      {person.consent ? (
        <Facts>
          <Fact name={t('Given by')}>{sourceName(person.consent.source)}</Fact>
          <Fact name={t('Given on')}><When at={person.consent.capturedAt} /></Fact>
          {person.consent.reference && <Fact name={t('Proof')}><span className="mono">{person.consent.reference}</span></Fact>}
          <Fact name={t('Recorded')}><When at={person.consent.recordedAt} /></Fact>
        </Facts>
      ) : <p className="mid">{t('No consent is on record.')}</p>}
    </Box>
  );
}

function CallsBox({ id }: { id: string }) {
  const calls = useCalls(id);
  const linked = exists('calls');
  return (
    <Box title={t('Calls')} inside={false} extra={linked && (calls.data?.nextCursor ?? null) !== null && <Link className="link" href={`/calls?contactId=${id}`}>{t('All calls')}</Link>}>
      <Shown of={calls} what={t('The calls could not be read.')} rows={3}>{(answer) => (answer.data.length === 0 ? <p className="in mid">{t('Nobody has called this person.')}</p> : (
        <ul className="lines">{answer.data.map((call) => {
          const state = <State tone={call.state === 'blocked' ? 'rule' : call.state !== 'ended' ? 'info' : call.answered ? 'ok' : 'mute'}>{call.state === 'blocked' ? t('Not dialled') : call.state !== 'ended' ? t('Going on') : call.answered ? t('Talked, {time}', { time: span(call.durationSeconds ?? 0) }) : t('No answer')}</State>;
          return <li key={call.id} className="row">{linked ? <Link href={`/calls/${call.id}`} className="under">{state}</Link> : state}<span className="grow cut dim">{call.agentName && <Name>{call.agentName}</Name>}</span><span className="meta"><When at={call.startedAt} /></span></li>;
        })}</ul>
      ))}</Shown>
    </Box>
  );
}

function ChatsBox({ id }: { id: string }) {
  const chats = useChats(id);
  return (
    <Box title={t('Chats')} inside={false}>
      <Shown of={chats} what={t('The chats could not be read.')} rows={3}>{(answer) => (answer.data.length === 0 ? <p className="in mid">{t('There is no chat with this person.')}</p> : (
        <ul className="lines">{answer.data.map((chat) => (
          <li key={chat.id} className="row"><Link href={`/inbox/${chat.id}`} className="under"><State tone={chat.status === 'active' ? 'accent' : 'mute'}>{chat.status === 'active' ? t('Going on') : t('Over')}</State></Link><span className="grow cut dim">{plural(chat.messageCount, '{n} message', '{n} messages')}</span><span className="meta"><When at={chat.startedAt} /></span></li>
        ))}</ul>
      ))}</Shown>
    </Box>
  );
}

