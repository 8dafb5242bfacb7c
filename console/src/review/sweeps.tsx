// Many past conversations graded at once: how many and what it costs is said before it begins.
import { useMemo, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { callIn, currentScope, readKey, useHasRole, useMay, useRead, useSend, type ApiError, type Schemas } from '../api/index.ts';
import { Box, Button, CheckInput, Confirm, Dates, ErrorBlock, ErrorNote, Name, Segment, StackedBar, State, TextInput, When, count, dayName, dayOf, indiaDay, plural, rupees, t, toast, type DayRange, type Tone } from '../parts/index.ts';
import { ReadOnlyNote } from '../shell/index.ts';
import { rangeOf, type Kind } from './queries.ts';

type Sweep = Schemas['EvaluationSweep'];

export function Sweeps({ evaluation, kind }: { evaluation: Schemas['AgentEvaluation']; kind: Kind }) {
  const list = useRead('listEvaluationSweeps', { query: { limit: 100 } }, { every: 5_000 });
  const mine = (list.data?.data ?? []).filter((one) => one.agentId === evaluation.agentId);
  const begins = useHasRole('admin');
  return (
    <div className="evstack">
      {begins ? <NewSweep evaluation={evaluation} first={kind} running={mine.some((one) => one.status === 'running')} done={() => { void list.refetch(); }} /> : <ReadOnlyNote role="admin" />}
      {list.error ? <ErrorBlock what={t('The gradings of the past could not be read.')} error={list.error} again={() => { void list.refetch(); }} /> : (
        <Box title={t('Gradings of the past')} count={count(mine.length)} inside={false}>
          {mine.length === 0 ? <p className="mid evpad">{t('None so far.')}</p> : <ul className="evsweeps">{mine.map((one) => <SweepRow key={one.id} sweep={one} changed={() => { void list.refetch(); }} />)}</ul>}
        </Box>
      )}
    </div>
  );
}

function NewSweep({ evaluation, first, running, done }: { evaluation: Schemas['AgentEvaluation']; first: Kind; running: boolean; done: () => void }) {
  const [kind, setKind] = useState<Kind>(first);
  const [range, setRange] = useState<DayRange>({ start: indiaDay(6), end: indiaDay() });
  const [outcome, setOutcome] = useState('');
  const [onlyUngraded, setOnly] = useState(true);
  const [asking, ask] = useState(false);
  const [missing, setMissing] = useState<string | null>(null);
  const body = useMemo<Schemas['NewEvaluationSweep']>(() => ({ agentId: evaluation.agentId, kind, ...rangeOf(range), filters: { onlyUngraded, ...(outcome.trim() ? { outcome: outcome.trim() } : {}) } }), [evaluation.agentId, kind, range, onlyUngraded, outcome]);
  const scope = currentScope();
  const preview = useQuery<Schemas['SweepPreview'], ApiError>({ queryKey: readKey('previewEvaluationSweep', { body }), queryFn: async ({ signal }) => (await callIn(scope, 'previewEvaluationSweep', { body, signal })).data, enabled: evaluation.criteria.length > 0, retry: 0, staleTime: 10_000 });
  const send = useSend('startEvaluationSweep', { alters: ['listEvaluationSweeps'], done: () => { toast(t('The grading has begun')); done(); } });
  const seen = preview.data;
  const press = (): void => {
    const says = evaluation.criteria.length === 0 ? t('Write and save a criterion first.') : running ? t('One grading of this agent at a time: wait for it, or stop it.') : !seen ? t('How many there are is still being counted.') : seen.conversations === 0 ? t('No conversation matches.') : null;
    setMissing(says);
    if (!says) ask(true);
  };
  return (
    <Box title={t('Grade past conversations')}>
      <div className="stack">
        <div className="row wrap"><Segment label={t('Which')} value={kind} onChange={setKind} items={[['call', t('Calls')], ['chat', t('Chats')]]} /><Dates value={range} onChange={setRange} /></div>
        <div className="evrow"><TextInput label={t('With this outcome only')} value={outcome} onChange={setOutcome} placeholder={t('any')} mono autoComplete="off" /></div>
        <CheckInput value={onlyUngraded} onChange={setOnly}>{t('Only those without a grade')}</CheckInput>
        <p className="row wrap" role="status" data-preview={seen?.conversations ?? ''}>
          {seen ? <><b className="num">{plural(seen.conversations, '{n} conversation', '{n} conversations')}</b><span className="mid">{t('{total} at {price} each; {available} is there.', { total: rupees(seen.totalMinor), price: rupees(seen.priceMinor), available: rupees(seen.availableMinor) })}</span></> : preview.isFetching ? <span className="dim">{t('Counting…')}</span> : null}
        </p>
        {seen?.obstacle && <p className="fault">{obstacleText(seen.obstacle)}</p>}
        {preview.error && <ErrorNote error={preview.error} />}
        <div className="row"><Button kind="primary" onPress={press}>{seen && seen.conversations > 0 ? plural(seen.conversations, 'Grade {n} conversation…', 'Grade {n} conversations…') : t('Grade…')}</Button></div>
        {missing && <p className="fault" role="alert">{missing}</p>}
      </div>
      {seen && <Confirm open={asking} onClose={() => ask(false)} title={t('Grade by version {n} of the criteria', { n: seen.criteriaVersion })} action={plural(seen.conversations, 'Grade {n} conversation for {price}', 'Grade {n} conversations for {price}', { price: rupees(seen.totalMinor) })} act={() => send.mutateAsync({ body })}>
        <p className="mid">{t('Each is charged when it has been graded. It can be stopped; what was graded stays.')}</p>
      </Confirm>}
    </Box>
  );
}

function obstacleText(obstacle: string): string {
  switch (obstacle) {
    case 'insufficient_balance': return t('The wallet does not cover all of them.');
    case 'no_model': return t('No language model is set up.');
    case 'no_criteria': return t('Write and save a criterion first.');
    default: return obstacle.replaceAll('_', ' ');
  }
}
function stateOf(sweep: Sweep): { text: string; tone: Tone } {
  switch (sweep.status) {
    case 'running': return { text: t('Going on'), tone: 'info' };
    case 'finished': return { text: t('Finished'), tone: 'pass' };
    case 'cancelled': return { text: t('Stopped by you'), tone: 'mute' };
    case 'stopped': return { text: sweep.cause ? t('Stopped: {cause}', { cause: obstacleText(sweep.cause) }) : t('Stopped'), tone: 'wait' };
  }
}

function SweepRow({ sweep, changed }: { sweep: Sweep; changed: () => void }) {
  const may = useMay('cancelEvaluationSweep');
  const [asking, ask] = useState(false);
  const send = useSend('cancelEvaluationSweep', { alters: ['listEvaluationSweeps'], done: changed });
  const { text, tone } = stateOf(sweep);
  const last = dayOf(new Date(Date.parse(sweep.to) - 1));
  const left = Math.max(0, sweep.conversations - sweep.graded - sweep.failed - sweep.skipped);
  return (
    <li data-sweep={sweep.status}>
      <div className="row wrap"><State tone={tone}>{text}</State><span className="medium">{sweep.kind === 'call' ? t('Calls') : t('Chats')}, {dayName(dayOf(sweep.from))} – {dayName(last)}</span>{sweep.outcome && <Name>{sweep.outcome}</Name>}<span className="grow" /><span className="num dim">{rupees(sweep.chargedMinor)}</span>{sweep.status === 'running' && may && <Button small onPress={() => ask(true)}>{t('Stop…')}</Button>}</div>
      <StackedBar label={t('Progress')} parts={[{ name: t('graded'), value: sweep.graded, tone: 'accent' }, { name: t('failed'), value: sweep.failed, tone: 'bad' }, { name: t('left out'), value: sweep.skipped, tone: 'mute' }, { name: t('to come'), value: left, tone: 'line' }]} />
      <p className="meta num">{t('{graded} of {all} graded', { graded: count(sweep.graded), all: count(sweep.conversations) })} · {t('criteria version {n}', { n: sweep.criteriaVersion })} · <When at={sweep.createdAt} /></p>
      {send.error && <ErrorNote error={send.error} />}
      <Confirm open={asking} onClose={() => ask(false)} title={t('Stop this grading')} action={plural(left, 'Leave {n} conversation ungraded', 'Leave {n} conversations ungraded')} act={() => send.mutateAsync({ path: { id: sweep.id } })}><p className="mid">{t('What was graded stays and was charged. What is under way is neither stored nor charged.')}</p></Confirm>
    </li>
  );
}
