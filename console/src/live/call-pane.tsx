import { ArrowLeft, PhoneOff, TriangleAlert } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-aria-components';
import { currentScope, useMay, useRead, useSend } from '../api/index.ts';
import { Button, ButtonLink, ErrorNote, Fact, Facts, Icon, Name, SwitchInput, clockSeconds, plural, rupees, span, t, toast, useKeys } from '../parts/index.ts';
import { exists } from '../shell/index.ts';
import { flagTag, numberOf, personOf } from './flags.ts';
import type { Live } from './queries.ts';
import { useTick } from './tick.ts';

const AGAIN_WITHIN = 3_000;

export function LiveCallPane({ call, back }: { call: Live; back: () => void }) {
  const now = useTick();
  return (
    <>
      <section className="livecall" aria-label={t('The call')} data-call={call.id}>
        <header className="row">
          <span className="thin"><Button kind="bare" icon={ArrowLeft} label={t('Back to the list')} onPress={back} /></span>
          <div className="grow"><h2 className="big"><Name>{personOf(call)}</Name></h2><p className="dim num cut">{call.name && <>{numberOf(call)} · </>}<Name>{call.agentName ?? ''}</Name></p></div>
          <span className="clock num" aria-label={t('Since it rang or was answered')} role="timer">{span((now - Date.parse(call.since)) / 1000)}</span>
        </header>
        <Controls call={call} />
        {call.flags.map((flag) => { const { text, tone, says } = flagTag(flag); return <div key={flag} className="note" data-tone={tone} data-flag={flag}><Icon of={TriangleAlert} /><p><b>{text}.</b> <span className="mid">{says}</span></p></div>; })}
        <Words call={call} />
      </section>
      <aside className="rail wide" aria-label={t('About this call')}><Beside call={call} /></aside>
    </>
  );
}

/** 'End' needs a second press within three seconds. */
function Controls({ call }: { call: Live }) {
  const may = useMay('hangUpCall');
  const [sure, setSure] = useState(false);
  const send = useSend('hangUpCall', { alters: ['listLiveCalls'], done: () => toast(t('The call is ending')) });
  useEffect(() => { if (!sure) return; const timer = setTimeout(() => setSure(false), AGAIN_WITHIN); return () => clearTimeout(timer); }, [sure]);
  const press = (): void => { if (!sure) return setSure(true); setSure(false); send.mutate({ path: { id: call.id } }); };
  useKeys(may ? [{ key: 'Shift+e', text: t('End the call (twice)'), act: press }] : []);
  if (!may) return null;
  return (
    <>
      <div className="ctrls row" role="toolbar" aria-label={t('What you do on this call')}>
        <ButtonLink href={`/calls/${call.id}`}>{t('Open its page')}</ButtonLink><span className="grow" />
        <Button kind={sure ? 'danger-full' : 'danger'} icon={PhoneOff} keys="Shift E" onPress={press} isPending={send.isPending}><span data-sure={sure} role="status">{sure ? t('Press again to end it') : t('End the call…')}</span></Button>
      </div>
      {send.error && <ErrorNote error={send.error} />}
    </>
  );
}

function Words({ call }: { call: Live }) {
  const box = useRef<HTMLOListElement>(null);
  const [aloud, setAloud] = useState(false);
  const [away, setAway] = useState(false);
  const last = call.turns.at(-1);
  useEffect(() => { if (!away && box.current) box.current.scrollTop = box.current.scrollHeight; }, [last?.turn, last?.text, away]);
  const scrolled = (): void => { const list = box.current; if (list) setAway(list.scrollHeight - list.scrollTop - list.clientHeight > 48); };
  const test = currentScope()?.test ?? false;
  return (
    <>
      {call.turns.length === 0
        ? <p className="mid quiet">{call.state === 'ringing' ? t('The phone rings.') : test ? t('A simulated call has no words while it runs. They are on its page when it is over.') : t('Nothing has been said yet.')}</p>
        : (
          <ol className="bubbles" ref={box} tabIndex={0} aria-label={t('What is said')} aria-live={aloud ? 'polite' : 'off'} onScroll={scrolled}>
            {call.turns.map((turn) => (
              <li key={turn.turn} data-who={turn.who} data-complete={turn.complete}><p dir="auto"><span className="vh">{turn.who === 'agent' ? t('Agent') : t('Customer')}: </span>{turn.text}{!turn.complete && <span className="dim"> …</span>}</p><span className="meta num">{turn.complete ? clockSeconds(turn.at) : t('now')}</span></li>
            ))}
          </ol>
        )}
      <div className="row wrap under-words">{away && <Button small onPress={() => setAway(false)}>{t('Follow again')}</Button>}<span className="grow" /><SwitchInput value={aloud} onChange={setAloud}>{t('Read aloud')}</SwitchInput></div>
    </>
  );
}

const valueText = (value: unknown): string => (value === true ? t('yes') : value === false ? t('no') : typeof value === 'string' || typeof value === 'number' ? String(value) : value == null ? '' : JSON.stringify(value));

function Beside({ call }: { call: Live }) {
  const fields = Object.entries(call.captured);
  const price = useRead('getWallet', {}, { fresh: 300_000, enabled: !(currentScope()?.test ?? false) }).data?.data.costPerMinuteMinor ?? 0;
  const minutes = price > 0 ? Math.round(call.costSoFarMinor / price) : 0;
  return (
    <>
      <section><h2>{t('So far')}</h2>{fields.length === 0 ? <p className="dim">{t('Nothing captured yet.')}</p> : <Facts>{fields.map(([key, value]) => <Fact key={key} name={<Name>{key}</Name>}>{valueText(value)}</Fact>)}</Facts>}</section>
      <section><h2>{t('Where it is in the flow')}</h2><Steps call={call} /></section>
      <section><h2>{t('Cost so far')}</h2><p className="num">{rupees(call.costSoFarMinor)} {minutes > 0 && <span className="dim">{plural(minutes, '{n} started minute', '{n} started minutes')}</span>}</p></section>
    </>
  );
}

/** The step that it is at, after those that were seen since the call was opened. */
function Steps({ call }: { call: Live }) {
  const [seen, setSeen] = useState<readonly { id: string; name: string | null }[]>([]);
  const { step } = call;
  if (step && seen.at(-1)?.id !== step.id) setSeen([...seen.filter((one) => one.id !== step.id), step].slice(-8));
  if (!step) return <p className="dim">{t('It has not begun.')}</p>;
  const flow = call.agentId && exists('agents') ? <p className="meta"><Link className="link" href={`/agents/${call.agentId}/flow`}>{t('Open the flow')}</Link></p> : null;
  return <><ol className="steps">{seen.map((one) => <li key={one.id} {...(one.id === step.id ? { 'data-now': true, 'aria-current': 'step' as const } : { 'data-done': true })}><Name>{one.name ?? one.id}</Name></li>)}</ol>{flow}</>;
}

/** A call of the address that is not live, or not any more. */
export function NotLive({ id, back }: { id: string; back: () => void }) {
  const read = useRead('getCall', { path: { id } });
  const over = read.data && read.data.data.state !== 'ringing' && read.data.data.state !== 'in_progress';
  return (
    <section className="livecall" aria-label={t('The call')} data-over={Boolean(over)}>
      <header className="row"><span className="thin"><Button kind="bare" icon={ArrowLeft} label={t('Back to the list')} onPress={back} /></span><h2 className="big grow">{over ? t('The call is over') : read.error ? t('No such call is live') : t('Looking for the call')}</h2></header>
      {over && <p className="mid">{t('What was said, the recording and why it was dialled are on its page.')}</p>}
      <div className="row">{over && <ButtonLink kind="primary" href={`/calls/${id}`}>{t('Open the call')}</ButtonLink>}<Button onPress={back}>{t('Other live calls')}</Button></div>
    </section>
  );
}
