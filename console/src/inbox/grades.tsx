// Grades of the chat by its agent's criteria, and the member's own mark beside each.
import { useState } from 'react';
import { useMay, useRead, useSend, type Schemas } from '../api/index.ts';
import { Bars, Button, Confirm, ErrorBlock, ErrorNote, Name, Segment, State, TextInput, When, plural, rich, rupees, t, type Tone } from '../parts/index.ts';
import { useMyId } from './queries.ts';
import type { Detail } from './entries.ts';

type Run = Schemas['Evaluation'];
type Verdict = Schemas['EvaluationVerdict'];
type Mark = Schemas['NewEvaluationMark'];

export function Grades({ chat }: { chat: Detail }) {
  const runs = useRead('listChatEvaluations', { path: { id: chat.id }, query: { limit: 20 } });
  const may = useMay('evaluateChat');
  const [asks, setAsks] = useState(false);
  const grade = useSend('evaluateChat', { alters: ['listChatEvaluations'] });
  const criteria = useRead('getAgentEvaluation', { path: { id: chat.agentId }, query: {} }, { fresh: 60_000 }).data?.data;
  if (runs.error) return runs.error.code === 'feature_disabled' || runs.error.code === 'plan_feature_locked' ? <section><p className="mid">{t('Evaluation is switched off for this workspace. The operator can switch it on.')}</p></section> : <ErrorBlock what={t('The grades could not be read.')} error={runs.error} again={() => { void runs.refetch(); }} />;
  if (!runs.data) return <Bars rows={4} />;
  const run = runs.data.data[0];
  return (
    <>
      {run ? <RunView key={run.id} run={run} earlier={runs.data.data.length - 1} /> : <section><p className="mid">{criteria?.criteria.length === 0 ? rich('{name} has no criteria to grade by.', { name: <Name>{chat.agentName}</Name> }) : t('Nobody has graded this chat yet.')}</p></section>}
      {may && chat.state === 'ended' && run?.status !== 'pending' && criteria?.criteria.length !== 0 && <section><Button onPress={() => setAsks(true)}>{run ? t('Grade again…') : t('Grade this chat…')}</Button></section>}
      {chat.state !== 'ended' && <section><p className="meta">{t('A chat is graded when it is over.')}</p></section>}
      <Confirm open={asks} onClose={() => setAsks(false)} title={t('Grade this chat by the agent’s criteria?')} action={t('Grade 1 chat')} act={() => grade.mutateAsync({ path: { id: chat.id } })}>
        <p className="mid">{criteria ? t('The language model reads the chat. {money} is charged when it is graded.', { money: rupees(criteria.costPerEvaluationMinor) }) : t('The language model reads the chat. One graded conversation is charged.')}</p>
      </Confirm>
    </>
  );
}

const TONE: Record<Verdict, Tone> = { pass: 'pass', fail: 'bad', na: 'mute' };
function verdictName(verdict: Verdict): string {
  return verdict === 'pass' ? t('Passed') : verdict === 'fail' ? t('Failed') : t('Does not apply');
}

function statusWords(run: Run): string {
  if (run.status === 'pending') return t('It is being graded.');
  switch (run.cause) {
    case 'insufficient_balance': return t('Not graded: the wallet does not cover it.');
    case 'no_model': return t('Not graded: no language model is there.');
    case 'model_failed': return t('Not graded: the language model failed.');
    case 'criteria_gone': return t('Not graded: the criteria are too old.');
    case 'nothing_to_read': return t('Not graded: there is nothing to read.');
    case 'feature_disabled': return t('Not graded: evaluation is switched off.');
    case 'workspace_suspended': return t('Not graded: the workspace is suspended.');
    case null: return '';
  }
}

function RunView({ run, earlier }: { run: Run; earlier: number }) {
  const me = useMyId();
  const may = useMay('setEvaluationMarks');
  const mine = run.marks.filter((mark) => mark.userId === me);
  const [marks, setMarks] = useState<Record<string, Mark>>(() => Object.fromEntries(mine.map((mark) => [mark.criterionKey, { criterionKey: mark.criterionKey, verdict: mark.verdict, note: mark.note }])));
  const save = useSend('setEvaluationMarks', { alters: ['listChatEvaluations'] });
  const words = statusWords(run);
  const change = (mark: Mark): void => setMarks((before) => ({ ...before, [mark.criterionKey]: mark }));
  const kept = JSON.stringify(mine.map((mark) => [mark.criterionKey, mark.verdict, mark.note ?? '']).sort());
  const changed = kept !== JSON.stringify(Object.values(marks).map((mark) => [mark.criterionKey, mark.verdict, mark.note ?? '']).sort());
  return (
    <>
      <section>
        {words !== '' ? <p className="mid">{words}</p> : <p className="strong">{plural(run.passed, '{n} of {all} passed', '{n} of {all} passed', { all: run.passed + run.failed })}</p>}
        <p className="meta">{run.evaluatedAt && <When at={run.evaluatedAt} />}{run.model && <> · <span translate="no">{run.model}</span></>}{earlier > 0 && <> · {plural(earlier, '{n} earlier', '{n} earlier')}</>}</p>
      </section>
      {run.status === 'graded' && run.results.map((result) => <Criterion key={result.criterionKey} result={result} mark={marks[result.criterionKey]} change={may ? change : null} />)}
      {may && run.status === 'graded' && (
        <section>
          {save.error && <ErrorNote error={save.error} />}
          <div className="row"><Button kind={changed ? 'primary' : 'plain'} isPending={save.isPending} onPress={() => { if (changed) save.mutate({ path: { id: run.id }, body: { marks: Object.values(marks) } }); }}>{t('Keep your marks')}</Button>{!changed && mine.length > 0 && <span className="meta" role="status">{t('Kept')}</span>}{!changed && mine.length === 0 && <span className="meta">{t('Mark a criterion first.')}</span>}</div>
        </section>
      )}
    </>
  );
}

function Criterion({ result, mark, change }: { result: Schemas['EvaluationResult']; mark: Mark | undefined; change: ((mark: Mark) => void) | null }) {
  return (
    <section className="criterion">
      <div className="row"><h3 className="grow"><Name>{result.name}</Name></h3><State tone={TONE[result.verdict]}>{result.score === null ? verdictName(result.verdict) : `${verdictName(result.verdict)}, ${result.score}`}</State></div>
      {result.reasoning !== '' && <p className="mid" dir="auto" translate="no">{result.reasoning}</p>}
      {result.quotes.map((quote, at) => <blockquote key={at} dir="auto" translate="no">{quote.text}</blockquote>)}
      {change && (
        <>
          <Segment full label={t('Your mark of {name}', { name: result.name })} value={mark?.verdict ?? ('' as Verdict)} onChange={(verdict) => change({ criterionKey: result.criterionKey, verdict, note: mark?.note ?? null })} items={[['pass', t('Passed')], ['fail', t('Failed')], ['na', t('Does not apply')]]} />
          {mark && <TextInput label={t('Why, for your colleagues')} value={mark.note ?? ''} maxLength={500} onChange={(note) => change({ ...mark, note: note === '' ? null : note })} />}
        </>
      )}
    </section>
  );
}
