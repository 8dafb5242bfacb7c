// A record beside the list: what was decided, every gate with what it examined, and the two hashes that tie it into its chain.
import { Check, Minus, TriangleAlert, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components';
import { useRead } from '../api/index.ts';
import { exists, objectPath } from '../shell/index.ts';
import { Button, Fact, Facts, Icon, Name, Shown, When, count, longDay, t, useRaw, More } from '../parts/index.ts';
import { useAgentNames } from './queries.ts';
import { GATES, gateName, gatesOf, sentenceOf, verdictWord, type Gate, type LogRecord } from './names.ts';

const MARK = { pass: Check, refuse: X, warn: TriangleAlert } as const;

/** Five marks in a row. Only a refusal has colour; what was not checked is hollow. */
export function GateMarks({ record }: { record: LogRecord }) {
  const gates = gatesOf(record);
  if (gates.length === 0) return <span className="dim">–</span>;
  const names = [...GATES, ...gates.map((one) => one.gate).filter((gate) => !GATES.some((known) => known === gate))];
  const verdict = (name: string): string => gates.find((one) => one.gate === name)?.verdict ?? 'not_checked';
  return <span className="cp-gates" role="img" aria-label={names.map((name) => `${gateName(name)} ${verdictWord(verdict(name))}`).join(', ')}>{names.map((name) => <i key={name} data-v={verdict(name)} />)}</span>;
}

const yes = (value: unknown): string => (value === true ? t('yes') : t('no'));
const of = (value: unknown, most: unknown): string => (typeof most === 'number' ? t('{n} of {most} dials', { n: count(Number(value)), most: count(most) }) : t('{n} dials, no limit', { n: count(Number(value)) }));

/** What a gate examined, as names and values. */
function evidence(gate: Gate): readonly (readonly [string, ReactNode])[] {
  switch (gate.gate) {
    case 'dnd': return [[t('On the registry'), yes(gate.listed)]];
    case 'opt_out': return [[t('Opted out'), yes(gate.optedOut)]];
    case 'calling_window': return [[t('Hours'), gate.open === true ? t('within them') : t('outside of them')]];
    case 'frequency_cap': return [[t('24 hours'), of(gate.dials24h, gate.perDay)], [t('7 days'), of(gate.dials7d, gate.perWeek)]];
    case 'consent': return [[t('Consent needed'), yes(gate.required)], [t('On record'), yes(gate.onRecord)]];
    default: return Object.entries(gate).filter(([name]) => name !== 'gate' && name !== 'verdict').map(([name, value]) => [`${gateName(gate.gate)}: ${name}`, typeof value === 'string' ? value : JSON.stringify(value)] as const);
  }
}

function rest(record: LogRecord): readonly (readonly [string, ReactNode])[] {
  return Object.entries(record.evidence).filter(([name]) => name !== 'gates' && name !== 'pack').map(([name, value]) => [evidenceName(name), typeof value === 'string' ? evidenceValue(value) : JSON.stringify(value)] as const);
}
function evidenceName(name: string): string {
  switch (name) {
    case 'source': return t('Came over');
    case 'request': return t('Asked for');
    case 'reason': return t('Why');
    default: return name;
  }
}
function evidenceValue(value: string): string {
  switch (value) {
    case 'api': return t('the API');
    case 'call': return t('a call');
    case 'erasure': return t('erasure');
    default: return value;
  }
}

const shortened = (id: string): string => (id.length > 20 ? `${id.slice(0, 14)}…${id.slice(-4)}` : id);

/** An id, with its page if there is one; shortened in lists. */
export function ObjectLink({ id, short }: { id: string; short?: boolean }) {
  const text = short ? shortened(id) : id;
  const path = objectPath(id);
  const known = id.startsWith('call_') ? exists('calls') : id.startsWith('con_') ? exists('contacts') : id.startsWith('chatsess_') ? exists('inbox') : id.startsWith('agt_') ? exists('agents') : id.startsWith('cmp_') ? exists('campaigns') : path !== null;
  return path && known ? <Link href={path} className="mono under link">{text}</Link> : <span className="mono" title={short ? id : undefined}>{text}</span>;
}

const ZEROS = /^0{64}$/;
/** The record and the one before it, tied by their hashes. */
export function ChainLinks({ seq, hash, prevHash }: { seq: number; hash: string; prevHash: string }) {
  return (
    <ol className="cp-chain">
      <li><span className="meta num">{seq > 1 ? count(seq - 1) : t('The chain begins here')}</span><span className="mono cp-hash" translate="no">{ZEROS.test(prevHash) ? '0…0' : prevHash}</span></li>
      <li data-current><span className="meta num">{count(seq)}</span><span className="mono cp-hash" translate="no">{hash}</span></li>
    </ol>
  );
}

function Content({ record }: { record: LogRecord }) {
  const agent = useAgentNames();
  const gates = gatesOf(record);
  const facts = [...gates.flatMap(evidence), ...rest(record)];
  const pack = record.evidence.pack;
  return (
    <>
      <section>
        <p className="mid">{sentenceOf(record)}</p>
        {gates.length > 0 && <ul className="cp-gatelist">{gates.map((one) => <li key={one.gate} data-v={one.verdict}><Icon of={MARK[one.verdict as keyof typeof MARK] ?? Minus} small /><span>{gateName(one.gate)}</span><span className="dim">{verdictWord(one.verdict)}</span></li>)}</ul>}
      </section>
      <section>
        <h3>{t('Evidence')}</h3>
        <Facts>
          <Fact name={t('When')}><When at={record.at} /> <span className="dim">{longDay(record.at)}</span></Fact>
          <Fact name={t('About')}><ObjectLink id={record.interactionId} /></Fact>
          {record.agentId && <Fact name={t('Agent')}><Name>{agent(record.agentId)}</Name></Fact>}
          {typeof pack === 'string' && <Fact name={t('Pack')}><span className="mono">{pack}</span></Fact>}
          {facts.map(([name, value]) => <Fact key={name} name={name}>{value}</Fact>)}
          {record.recordingId && <Fact name={t('Recording')}><span className="mono">{record.recordingId}</span></Fact>}
          {record.consentId && <Fact name={t('Consent')}><span className="mono">{record.consentId}</span></Fact>}
        </Facts>
      </section>
      <section>
        <h3>{t('Chain')}</h3>
        <ChainLinks seq={record.seq} hash={record.hash} prevHash={record.prevHash} />
        <p className="meta">{t('The hash is over the one before it and the fields of this record. It holds no name, number or words.')}</p>
      </section>
    </>
  );
}

/** The rail of the record that the address names. */
export function RecordRail({ id, onClose }: { id: string; onClose: () => void }) {
  const record = useRead('getLogRecord', { path: { id } }, { fresh: Infinity });
  const raw = useRaw('getLogRecord', { path: { id } }, record.data?.data);
  const seq = record.data?.data.seq;
  return (
    <aside className="cp-rail" aria-label={t('Record')}>
      <header className="row"><h2 className="num grow">{seq === undefined ? t('Record') : t('Record {seq}', { seq: count(seq) })}</h2><More entries={raw.entries} small /><Button kind="bare" small icon={X} label={t('Close')} onPress={onClose} /></header>
      <Shown of={record} what={t('The record could not be read.')}>{({ data }) => <Content record={data} />}</Shown>
      {raw.sheet}
    </aside>
  );
}
