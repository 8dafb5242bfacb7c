// What is known about a call: its result, why it was dialled, what happened to the millisecond, and what it cost.
import { Check, Copy, Minus, OctagonX, TriangleAlert } from 'lucide-react';
import { Link } from 'react-aria-components';
import { useRead, type Schemas } from '../api/index.ts';
import { Button, ErrorNote, Fact, Facts, Icon, Name, Tag, clock, clockMillis, count, day, dayOf, indiaDay, plural, rich, rupees, spelled, t, toast, utc } from '../parts/index.ts';
import { exists } from '../shell/index.ts';
import { answeredByText, causeText, directionText, gateName, isErased } from './names.ts';
import { valueText } from './turns.tsx';

type Detail = Schemas['CallDetail'];
type Evidence = Readonly<Record<string, unknown>>;

export function Result({ call }: { call: Detail }) {
  const fields = Object.entries(call.extracted);
  const waits = call.answered && call.state === 'ended' && call.summary === null && call.outcome !== 'simulated' && Date.now() - Date.parse(call.endedAt ?? call.startedAt) < 300_000;
  return (
    <section><h2>{t('Result')}</h2>
      {isErased(call) ? <p className="mid">{t('[erased]')}</p>
        : call.summary ? <p className="mid" dir="auto">{call.summary}</p>
          : <p className="mid">{waits ? t('The summary comes within minutes.') : call.endCause ? causeText(call.endCause) : call.state === 'blocked' ? t('Nobody was called.') : t('The call is going on.')}</p>}
      {fields.length > 0 && <Facts>{fields.map(([key, value]) => <Fact key={key} name={<Name>{key}</Name>}>{valueText(value)}</Fact>)}</Facts>}
      {call.summary && call.endCause && <p className="meta">{causeText(call.endCause)}</p>}
      {call.connectorPushes.map((push, at) => <p key={at} className="meta"><Name>{push.provider}</Name>: {push.status}{push.error && <>, <Name>{push.error}</Name></>}</p>)}
    </section>
  );
}

/** The evidence of a gate in words. */
function evidence(gate: string, check: Evidence): string {
  const n = (key: string): string => count(Number(check[key] ?? 0));
  switch (gate) {
    case 'dnd': return check.listed === true ? t('it is on it') : t('not on it');
    case 'opt_out': return check.optedOut === true ? t('yes') : t('no');
    case 'calling_window': return check.open === false ? t('{time}, closed', { time: moment(check.at) }) : t('{time}, open', { time: moment(check.at) });
    case 'frequency_cap': return t('{today} of {perDay} today, {week} of {perWeek} a week', { today: n('dials24h'), perDay: n('perDay'), week: n('dials7d'), perWeek: n('perWeek') });
    case 'consent': return check.required !== true ? t('not needed') : check.onRecord === true ? t('on record') : t('none on record');
    default: return Object.entries(check).filter(([key]) => !['gate', 'check', 'verdict', 'ok'].includes(key)).map(([key, value]) => `${key} ${valueText(value)}`).join(', ');
  }
}
const moment = (at: unknown): string => (typeof at === 'string' ? clock(at) : '');
function verdictText(verdict: unknown): string {
  switch (verdict) {
    case 'pass': return t('passed');
    case 'warn': return t('passed with a warning');
    case 'refuse': return t('refused');
    default: return t('not judged');
  }
}
const MARK = { pass: Check, warn: TriangleAlert, refuse: OctagonX } as const;

export function Why({ call }: { call: Detail }) {
  const log = useRead('listLogRecords', { query: { callId: call.id, chain: 'audit', limit: 20 } }, { enabled: call.direction === 'outbound' });
  const record = log.data?.data.findLast((one) => Array.isArray(one.evidence.gates));
  const gates = (record?.evidence.gates ?? []) as readonly Evidence[];
  const judged = gates.filter((one) => one.verdict !== 'not_checked');
  const passed = judged.filter((one) => one.verdict !== 'refuse');
  const refused = judged.length > passed.length;
  if (call.direction === 'inbound') return <section><h2>{t('Why it was answered')}</h2><p className="mid">{t('The person called. No gate is judged then.')}</p></section>;
  return (
    <section data-gates={gates.length}>
      <header className="row"><h2>{refused ? t('Why it was not dialled') : t('Why it was dialled')}</h2><span className="grow" />
        {judged.length > 0 && <Tag tone={refused ? 'rule' : 'ok'}>{t('{n} of {all} passed', { n: passed.length, all: judged.length })}</Tag>}</header>
      {log.error && <ErrorNote error={log.error} />}
      {gates.length > 0 && (
        <ul className="gates">
          {gates.map((one) => {
            const gate = String(one.gate);
            return <li key={gate} data-v={String(one.verdict)}><Icon of={MARK[one.verdict as keyof typeof MARK] ?? Minus} small /><span>{gate === 'dnd' ? t('Registry') : gateName(gate)}<span className="vh"> {verdictText(one.verdict)}</span></span><span className="dim num">{one.verdict === 'not_checked' && one.required !== false ? t('not judged') : evidence(gate, one)}</span></li>;
          })}
        </ul>
      )}
      {log.data && gates.length === 0 && <p className="mid">{t('The log has no record of a dial.')}</p>}
      {record && <p className="meta">{rich('Record {seq} of the audit chain', { seq: exists('compliance') ? <Link className="link num" href={`/compliance/dials?record=${record.id}`}>{count(record.seq)}</Link> : <span className="num">{count(record.seq)}</span> })} · <span className="mono" title={record.hash}>{record.hash.slice(0, 8)}…</span></p>}
    </section>
  );
}

function eventText(event: string): string {
  switch (event) {
    case 'placement': return t('Decided');
    case 'ringing': return t('Ringing');
    case 'answered': return t('Answered');
    case 'ended': return t('Ended');
    case 'analysed': return t('Analysed');
    case 'recorded': return t('Recording kept');
    case 'transfer': return t('A person is being called');
    case 'transfer_answered': return t('A person answered');
    case 'transfer_ended': return t('The call of the person ended');
    case 'balance_exhausted': return t('The wallet had no further minute');
    default: return spelled(event);
  }
}
type Tone = 'ok' | 'info' | 'bad' | 'rule' | 'mute';
function entryTone(entry: Schemas['CallTimelineEntry']): Tone {
  if (entry.status === 'blocked') return 'rule';
  if (entry.event === 'answered' || entry.event === 'transfer_answered') return 'ok';
  if (entry.event === 'placement') return 'info';
  return entry.reason === 'error' || entry.event === 'balance_exhausted' ? 'bad' : 'mute';
}
function entryDetail(entry: Schemas['CallTimelineEntry'], call: Detail): string {
  if (entry.event === 'placement') {
    const judged = entry.checks.filter((check) => check.verdict !== 'not_checked');
    const dialled = entry.status === 'blocked' ? t('not dialled: {gate}', { gate: gateName(entry.reason ?? '') }) : t('dialled');
    return judged.length > 0 ? `${dialled}, ${t('{n} of {all} gates passed', { n: judged.filter((check) => check.ok === true).length, all: judged.length })}` : dialled;
  }
  if (entry.event === 'answered') {
    const seconds = (Date.parse(entry.at) - Date.parse(call.startedAt)) / 1000;
    const after = t('after {seconds} s', { seconds: seconds.toFixed(1) });
    return call.answeredBy ? `${answeredByText(call.answeredBy)}, ${after}` : after;
  }
  if (entry.event === 'ended' && entry.reason) return causeText(entry.reason);
  return [entry.reason && spelled(entry.reason), entry.times > 1 && plural(entry.times, '{n} time', '{n} times')].filter(Boolean).join(', ');
}

export function Happened({ call }: { call: Detail }) {
  const timeline = useRead('getCallTimeline', { path: { id: call.id } });
  const first = dayOf(call.startedAt);
  return (
    <section><header className="row"><h2>{t('What happened')}</h2><span className="grow" />{first !== indiaDay() && <span className="dim num">{day(call.startedAt)}</span>}<span className="meta">IST</span></header>
      {timeline.error && <ErrorNote error={timeline.error} />}
      <ol className="tl">
        {timeline.data?.data.map((entry, at) => (
          <li key={at} data-tone={entryTone(entry)} data-event={entry.event}><time className="mono dim" dateTime={entry.at} title={utc(entry.at)}>{clockMillis(entry.at)}</time><div><p>{eventText(entry.event)}</p><p className="dim">{entryDetail(entry, call)}</p></div></li>
        ))}
      </ol>
    </section>
  );
}

export function About({ call }: { call: Detail }) {
  const campaigns = useRead('listCampaigns', {}, { enabled: call.campaignId !== null, fresh: 300_000 });
  const campaign = campaigns.data?.data.find((one) => one.id === call.campaignId);
  const minutes = call.durationSeconds === null ? null : Math.max(1, Math.ceil(call.durationSeconds / 60));
  const copy = (): void => { void navigator.clipboard.writeText(call.id).then(() => toast(t('Copied'))); };
  const agent = <Name>{call.agentName ?? '–'}</Name>;
  return (
    <section><h2>{t('Call')}</h2>
      <Facts>
        <Fact name={t('Agent')}>{call.agentId && exists('agents') ? <Link className="link" href={`/agents/${call.agentId}`}>{agent}</Link> : agent}{call.flowVersion !== null && <> <span className="dim num" data-version={call.flowVersion}>v{call.flowVersion}</span></>}</Fact>
        {call.campaignId && <Fact name={t('Campaign')}>{exists('campaigns') ? <Link className="link" href={`/campaigns/${call.campaignId}`}><Name>{campaign?.name ?? call.campaignId}</Name></Link> : <Name>{campaign?.name ?? call.campaignId}</Name>}</Fact>}
        {call.contactId && !isErased(call) && exists('contacts') && <Fact name={t('Person')}><Link className="link" href={`/contacts/${call.contactId}`}><Name>{call.contactName ?? t('Open')}</Name></Link></Fact>}
        <Fact name={t('Direction')}>{directionText(call.direction)}</Fact>
        <Fact name={t('From')}><span className="num">{call.fromNumber}</span></Fact>
        {call.carrier && <Fact name={t('Carrier')}><Name>{call.carrier}</Name></Fact>}
        <Fact name={t('Charged')}>{call.chargedMinor === null ? t('not yet') : <span className="num">{rupees(call.chargedMinor)}</span>}{call.chargedMinor ? minutes !== null && <> <span className="dim">{plural(minutes, '{n} minute', '{n} minutes')}</span></> : null}</Fact>
        {call.disclosure && <Fact name={t('Disclosure')}>{call.disclosure.result === 'kept' ? t('said in time') : t('not said in time')}</Fact>}
        <Fact name={t('Id')}><span className="mono id">{call.id}</span> <Button small kind="bare" icon={Copy} label={t('Copy the id')} onPress={copy} /></Fact>
      </Facts>
    </section>
  );
}
