// Trying criteria on past conversations before they are saved. Nothing is stored; each graded one is charged.
import { useState } from 'react';
import { Link } from 'react-aria-components';
import { useSend, type Schemas } from '../api/index.ts';
import { Bars, Box, Button, CheckInput, Confirm, ErrorNote, Name, State, Tip, When, plural, rupees, t, type Tone } from '../parts/index.ts';
import { MOST_TRIED, useCandidates, type Candidate, type Criterion, type Kind } from './queries.ts';

export function verdictState(verdict: Schemas['EvaluationVerdict']): { text: string; tone: Tone } {
  return verdict === 'pass' ? { text: t('Passed'), tone: 'pass' } : verdict === 'fail' ? { text: t('Not passed'), tone: 'bad' } : { text: t('Does not apply'), tone: 'mute' };
}
export const pathOf = (kind: Kind, id: string): string => (kind === 'call' ? `/calls/${id}` : `/evaluation/chats/${id}`);

export function Trial({ evaluation, kind, criteria, ready }: { evaluation: Schemas['AgentEvaluation']; kind: Kind; criteria: readonly Criterion[]; ready: () => boolean }) {
  const { list, loading } = useCandidates(evaluation.agentId, kind);
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const [asking, ask] = useState(false);
  const [missing, setMissing] = useState<string | null>(null);
  const send = useSend('tryEvaluation');
  const toggle = (id: string, on: boolean): void => choose((before) => { const next = new Set(before); if (on && next.size < MOST_TRIED) next.add(id); else next.delete(id); return next; });
  const press = (): void => {
    const says = !ready() ? t('The criteria above are not complete.') : chosen.size === 0 ? t('Choose at least one conversation.') : null;
    setMissing(says);
    if (!says) ask(true);
  };
  const ids = [...chosen];
  const price = rupees(evaluation.costPerEvaluationMinor * chosen.size);
  const run = () => send.mutateAsync({ path: { id: evaluation.agentId }, body: { criteria: criteria.map((one) => ({ ...one })), ...(kind === 'call' ? { callIds: ids } : { chatIds: ids }) } });
  return (
    <Box title={t('Try them on past conversations')} extra={<span className="meta">{t('at most {n}', { n: MOST_TRIED })}</span>}>
      <div className="stack">
        {loading ? <Bars rows={4} /> : list.length === 0 ? <p className="mid">{t('This agent has no finished conversation yet.')}</p> : (
          <ul className="evtry">{list.slice(0, 30).map((one) => <li key={one.id}><CheckInput value={chosen.has(one.id)} onChange={(on) => toggle(one.id, on)}><Title of={one} /></CheckInput></li>)}</ul>
        )}
        {list.length > 0 && <div className="row wrap"><Button onPress={press} isPending={send.isPending}>{plural(chosen.size, 'Try on {n} conversation…', 'Try on {n} conversations…')}</Button>{send.isPending && <span className="meta" role="status">{t('The model reads. This can take a minute.')}</span>}</div>}
        {missing && <p className="fault" role="alert">{missing}</p>}
        {send.error && !asking && <ErrorNote error={send.error} />}
        {send.data && <Tried kind={kind} criteria={criteria} results={send.data.data} names={list} />}
      </div>
      <Confirm open={asking} onClose={() => ask(false)} title={t('Try the criteria as they stand here')} action={plural(chosen.size, 'Grade {n} conversation for {price}', 'Grade {n} conversations for {price}', { price })} act={run}>
        <p className="mid">{t('Nothing is stored, and nobody is told. Each conversation that was graded is charged.')}</p>
      </Confirm>
    </Box>
  );
}

const Title = ({ of }: { of: Candidate }) => <span className="row"><When at={of.at} /> <span><Name>{of.name ?? t('Unknown person')}</Name></span>{of.outcome && <span className="dim"><Name>{of.outcome.replaceAll('_', ' ')}</Name></span>}</span>;

function Tried({ kind, criteria, results, names }: { kind: Kind; criteria: readonly Criterion[]; results: readonly Schemas['TriedEvaluation'][]; names: readonly Candidate[] }) {
  return (
    <div className="over" tabIndex={0} role="region" aria-label={t('What the model said')} data-tried={results.length}>
      <table className="tbl evtable">
        <thead><tr><th>{t('Conversation')}</th>{criteria.map((one) => <th key={one.key}><Name>{one.name}</Name></th>)}</tr></thead>
        <tbody>
          {results.map((result) => {
            const id = result.callId ?? result.chatId ?? '';
            const found = names.find((one) => one.id === id);
            return (
              <tr key={id}>
                <td><Link className="link" href={pathOf(kind, id)}>{found ? <Title of={found} /> : t('Open')}</Link></td>
                {criteria.map((one) => { const said = result.results.find((other) => other.criterionKey === one.key); const word = said ? verdictState(said.verdict) : null; return <td key={one.key}>{said && word ? <Tip text={said.reasoning || word.text}><State tone={word.tone}>{said.score !== null ? `${word.text}, ${said.score}` : word.text}</State></Tip> : <span className="dim">{t('not graded')}</span>}</td>; })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
