import { ChevronDown, ChevronUp, Phone, VolumeX } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { call as send, useHasRole, useMay, useRead, type ApiError, type Schemas } from '../api/index.ts';
import { Body, Button, Confirm, ErrorNote, Head, Icon, Json, MaskedNumber, More, Name, Shown, State, Tabs, Tag, Tip, millis, t, toast, useKeys, useRaw, type MenuEntry } from '../parts/index.ts';
import { exists, useCommands } from '../shell/index.ts';
import './call.css';
import { Deliveries, useDeliveries } from './deliveries.tsx';
import { Grades } from './grades.tsx';
import { causeText, isErased, isLive, outcomeWord, personName, personNumber, stateWord } from './names.ts';
import { PlaceCall } from './place.tsx';
import { Player, useSound } from './player.tsx';
import { neighbour, neighbourInTime } from './queries.ts';
import { About, Happened, Result, Why } from './rail.tsx';
import { WindowTitle } from './window-title.tsx';
import { Turns, Waterfall, linesOf, medianOf } from './turns.tsx';

type Detail = Schemas['CallDetail'];
const TABS = ['conversation', 'latency', 'webhooks', 'metadata'] as const;
type Tab = (typeof TABS)[number];

export function Page({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.id ?? '';
  const read = useRead('getCall', { path: { id } });
  if (read.data) return <Call key={id} call={read.data.data} renew={async () => (await read.refetch()).data?.data.recordingUrl ?? null} />;
  return <><Head back={{ href: '/calls', text: t('Calls') }} title={t('Call')} /><Body><Shown of={read} what={t('The call could not be read.')}>{() => null}</Shown></Body></>;
}

/** The filter of the list that this call was opened from stays in the address. */
function useAddress(id: string): { tab: Tab; list: string; href: (tab: Tab) => string; to: (other: string) => string } {
  const query = new URLSearchParams(useSearch());
  const tab = TABS.find((one) => one === query.get('tab')) ?? 'conversation';
  query.delete('tab');
  const list = query.toString();
  const at = (path: string, more: string): string => path + (more ? `?${more}` : '');
  return {
    tab, list: at('/calls', list), to: (other) => at(`/calls/${other}`, list),
    href: (one) => at(`/calls/${id}`, [one === 'conversation' ? '' : `tab=${one}`, list].filter(Boolean).join('&')),
  };
}

function Call({ call, renew }: { call: Detail; renew: () => Promise<string | null> }) {
  const [, go] = useLocation();
  const address = useAddress(call.id);
  const timed = useRead('getCallTurns', { path: { id: call.id } }, { enabled: call.state === 'ended' });
  const peaks = useRead('getCallPeaks', { path: { id: call.id } }, { enabled: call.state === 'ended' && call.answered });
  const lines = useMemo(() => linesOf(timed.data?.data.turns ?? [], call.transcript), [timed.data, call.transcript]);
  const lanes = peaks.data?.data.peaks ?? null;
  const length = lanes ? (Math.max(lanes.agent.length, lanes.customer.length) * lanes.stepMs) / 1000 : call.durationSeconds ?? 0;
  const sound = useSound(call.recordingUrl, length, renew);
  const hears = call.recordingUrl !== null;
  const deliveries = useDeliveries(call.id);
  const [marked, mark] = useState<number | null>(null);
  const cuts = useMemo(() => lines.flatMap((line) => line.timed?.heardUntil ?? []), [lines]);
  const median = medianOf(lines);
  const move = useCallback((step: 1 | -1) => { void (async () => { const other = neighbour(call.id, step) ?? await neighbourInTime(call, step).catch(() => null); if (other) go(address.to(other)); else toast(step === 1 ? t('This is the last call of the list.') : t('This is the first call of the list.')); })(); }, [call, go, address]);
  const quote = (turn: number): void => { mark(turn); if (address.tab !== 'conversation') go(address.href('conversation')); };
  useKeys([
    ...(hears ? [{ key: ' ', text: t('Play or pause'), act: sound.toggle }, { key: 'ArrowLeft', text: t('5 seconds back'), act: () => sound.seek(sound.position - 5, sound.playing) }, { key: 'ArrowRight', text: t('5 seconds on'), act: () => sound.seek(sound.position + 5, sound.playing) }] : []),
    { key: 'j', text: t('Next call'), act: () => move(1) }, { key: 'k', text: t('Call before'), act: () => move(-1) },
    ...(exists('compliance') ? [{ key: 'e', text: t('Its record in the log'), act: () => go(`/compliance/dials?call=${call.id}`) }] : []),
  ]);
  const agent = call.agentName ?? t('Agent');
  const customer = call.contactName?.split(' ')[0] ?? t('Customer');
  const items = [
    { id: 'conversation', text: t('Conversation'), count: lines.length || undefined }, { id: 'latency', text: t('Latency'), count: median === null ? undefined : millis(median) },
    { id: 'webhooks', text: t('Webhooks'), count: deliveries.rows.length || undefined }, { id: 'metadata', text: t('Metadata') },
  ].map((one) => ({ ...one, href: address.href(one.id as Tab) }));
  return (
    <>
      <CallHead call={call} list={address.list} move={move} />
      <div className="body call" data-call={call.state}>
        <div className="left">
          {hears ? <Player sound={sound} peaks={lanes} cuts={cuts} /> : <NoSound call={call} />}
          <Tabs inside label={t('What to show')} value={address.tab} items={items}>
            {address.tab === 'conversation' && (lines.length > 0 ? <Turns lines={lines} extracted={call.extracted} agent={agent} customer={customer} sound={hears ? sound : null} marked={marked} showLatency={() => go(address.href('latency'))} /> : <NoWords call={call} />)}
            {address.tab === 'latency' && <Waterfall lines={lines} providers={timed.data?.data.providers} />}
            {address.tab === 'webhooks' && <Deliveries of={deliveries} />}
            {address.tab === 'metadata' && <div className="metadata">{Object.keys(call.metadata).length > 0 ? <Json value={call.metadata} /> : <p className="mid">{isErased(call) ? t('[erased]') : t('The call was placed without metadata.')}</p>}</div>}
          </Tabs>
          {timed.error && <ErrorNote error={timed.error} />}
        </div>
        <aside className="rail" aria-label={t('About this call')}>
          {call.state === 'blocked' && <Why call={call} />}
          <Result call={call} />
          {call.state !== 'blocked' && <Why call={call} />}
          {call.answered && !isErased(call) && <Grades kind="call" id={call.id} agentId={call.agentId} lines={lines} finished={call.state === 'ended' && lines.length > 0} onQuote={quote} />}
          <Happened call={call} />
          <About call={call} />
        </aside>
      </div>
    </>
  );
}

function CallHead({ call, list, move }: { call: Detail; list: string; move: (step: 1 | -1) => void }) {
  const [again, setAgain] = useState<string | null>(null);
  const [stopping, stop] = useState(false);
  const [fault, setFault] = useState<ApiError | null>(null);
  const erased = isErased(call);
  const [places, reveals, stops] = [useMay('placeCall'), useMay('revealCall'), useMay('addDoNotCall')];
  const mayPlace = places && reveals && !erased;
  const mayStop = stops && reveals && !erased;
  const raw = useRaw('getCall', { path: { id: call.id } }, call);
  const whole = async (): Promise<string> => (await send('revealCall', { path: { id: call.id } })).data.number;
  const callAgain = (): void => { setFault(null); whole().then(setAgain, setFault); };
  useCommands(mayPlace ? [{ id: 'call-again', text: t('Call again…'), act: callAgain }] : []);
  const copy = (): void => { void navigator.clipboard.writeText(location.href).then(() => toast(t('Copied'))); };
  const state = stateWord(call);
  const outcome = call.outcome ? outcomeWord(call.outcome) : null;
  const why = call.endCause ? causeText(call.endCause) : call.state === 'blocked' ? t('A gate refused it. Nobody was called.') : t('It is going on now.');
  return (
    <>
      <Head
        back={{ href: list, text: t('Calls') }} title={personName(call)}
        mark={outcome ? <Tag tone={outcome.tone}><Name>{outcome.text}</Name></Tag> : <Tip text={why}><State tone={state.tone}>{state.text}</State></Tip>}
        sub={<span className="wide dim">{!erased && <MaskedNumber masked={personNumber(call)} reveal="revealCall" id={call.id} />}</span>}
      >
        <span className="wide row"><Button kind="bare" icon={ChevronUp} label={t('Call before')} tip={t('Call before (K)')} onPress={() => move(-1)} /><Button kind="bare" icon={ChevronDown} label={t('Next call')} tip={t('Next call (J)')} onPress={() => move(1)} /></span>
        {isLive(call) && exists('live') && <LiveLink id={call.id} />}
        {mayPlace && !isLive(call) && <Button icon={Phone} onPress={callAgain}><span className="wide">{t('Call again')}</span></Button>}
        <HeadMore call={call} copy={copy} raw={raw.entries} stop={mayStop ? () => stop(true) : undefined} />
      </Head>
      <WindowTitle key={personName(call)} text={t('Call')} />
      {fault && <ErrorNote error={fault} />}
      {again !== null && <PlaceCall onClose={() => setAgain(null)} agentId={call.agentId} number={again} note={t('The whole number is shown to you for this; that is written to the log.')} />}
      <Confirm open={stopping} onClose={() => stop(false)} title={t('Put this number on the do-not-call list')} danger action={t('Never call this number again')} act={async () => { await send('addDoNotCall', { body: { phones: [await whole()], reason: t('Asked for in the console') } }); toast(t('On the do-not-call list')); }}>
        <p className="mid">{t('No agent calls it from then on. Only the operator can take a number off the list.')}</p>
      </Confirm>
      {raw.sheet}
    </>
  );
}

function LiveLink({ id }: { id: string }) {
  const [, go] = useLocation();
  return <Button kind="primary" icon={Phone} onPress={() => go(`/live?call=${id}`)}>{t('See it live')}</Button>;
}

function HeadMore({ call, copy, raw, stop }: { call: Detail; copy: () => void; raw: readonly MenuEntry[]; stop: (() => void) | undefined }) {
  const copyId = (): void => { void navigator.clipboard.writeText(call.id).then(() => toast(t('Copied'))); };
  const person = call.contactId && !isErased(call) && exists('contacts') ? { text: t('Open the person'), href: `/contacts/${call.contactId}` } : null;
  return <More entries={[{ text: t('Copy link'), act: copy }, { text: t('Copy the id'), act: copyId }, ...raw, person, call.agentId ? { text: t('Criteria of the agent'), href: `/evaluation/${call.agentId}` } : null, stop ? '-' : null, stop ? { text: t('Add to do-not-call…'), act: stop, danger: true } : null]} />;
}

/** Why nothing can be heard. */
function NoSound({ call }: { call: Detail }) {
  const hears = useHasRole('editor');
  const timeline = useRead('getCallTimeline', { path: { id: call.id } });
  const recorded = timeline.data?.data.some((entry) => entry.event === 'recorded') ?? false;
  const fresh = Date.now() - Date.parse(call.endedAt ?? call.startedAt) < 900_000;
  const words = ((): string => {
    if (isErased(call)) return t('The person was erased. The sound is gone; what the log holds stays.');
    if (call.state === 'blocked') return t('Nobody was called, so there is no sound.');
    if (isLive(call)) return t('The call is going on. The recording comes when it is over.');
    if (!call.answered) return t('Nobody picked up, so there is no sound.');
    if (!hears) return t('Recordings are heard by editors and above.');
    if (recorded) return t('The recording was removed.');
    if (call.outcome === 'simulated') return t('Simulated calls have no sound.');
    return fresh ? t('The recording comes within moments.') : t('There is no recording of this call.');
  })();
  return <div className="nosound" data-sound={fresh && call.answered && !recorded ? 'coming' : 'none'}><Icon of={VolumeX} /><p className="mid">{words}</p></div>;
}

function NoWords({ call }: { call: Detail }) {
  if (isErased(call)) return <p className="nowords mid">{t('[erased]')}</p>;
  if (isLive(call)) return <p className="nowords mid">{t('What is said is shown when the call is over, and on Live while it goes on.')}</p>;
  return <p className="nowords mid">{call.answered ? t('Nothing was said.') : call.state === 'blocked' ? t('Nothing was said: a gate refused the call.') : t('Nothing was said: nobody picked up.')}</p>;
}
