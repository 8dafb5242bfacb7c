// Criteria are edited here and tried on past conversations; saving makes a new version, switching on is a step of its own.
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useHasRole, useMay, useRead, useSend, type Schemas } from '../api/index.ts';
import { Box, Button, Confirm, ErrorNote, SelectInput, SwitchInput, TextInput, When, count, percent, plural, rupees, t, toast, useKeys } from '../parts/index.ts';
import { ReadOnlyNote } from '../shell/index.ts';
import { MOST_CRITERIA, keyFrom, type Criterion, type Kind } from './queries.ts';
import { Trial } from './trial.tsx';

type Evaluation = Schemas['AgentEvaluation'];
const RATES = [0, 0.05, 0.1, 0.25, 0.5, 1] as const;

/** What is missing of a criterion, by its field. */
function faultsOf(one: Criterion): Partial<Record<keyof Criterion, string>> {
  const faults: Partial<Record<keyof Criterion, string>> = {};
  if (one.name.trim() === '') faults.name = t('Give it a name.');
  if (one.prompt.trim() === '') faults.prompt = t('Say what the model looks for.');
  if (one.kind === 'score' && !(Number.isInteger(one.passThreshold) && (one.passThreshold ?? -1) >= 0 && (one.passThreshold ?? 101) <= 100)) faults.passThreshold = t('A whole number from 0 to 100.');
  return faults;
}

export function Criteria({ evaluation, kind }: { evaluation: Evaluation; kind: Kind }) {
  const may = useMay('setAgentEvaluation');
  const [draft, setDraft] = useState<readonly Criterion[]>(evaluation.criteria);
  const [checked, check] = useState(false);
  const editor = useHasRole('editor');
  const changed = JSON.stringify(draft) !== JSON.stringify(evaluation.criteria);
  const faulty = draft.some((one) => Object.keys(faultsOf(one)).length > 0);
  const send = useSend('setAgentEvaluation', { alters: ['getAgentEvaluation'], done: () => toast(t('Saved')) });
  const save = (): void => { check(true); if (!faulty) send.mutate({ path: { id: evaluation.agentId }, body: { criteria: [...draft], enabled: evaluation.enabled, samplingRate: evaluation.samplingRate, callSamplingRate: evaluation.callSamplingRate } }); };
  const add = (): void => setDraft((before) => [...before, { key: '', name: '', kind: 'pass_fail', passThreshold: null, prompt: '' }].map((one) => one as Criterion));
  const set = (at: number, change: Partial<Criterion>): void => setDraft((before) => before.map((one, place) => (place === at ? named({ ...one, ...change }, before, at, evaluation.criteria) : one)));
  const swap = (at: number, by: number): void => setDraft((before) => { const next = [...before]; const [one] = next.splice(at, 1); if (one) next.splice(at + by, 0, one); return next; });
  const remove = (at: number): void => { const gone = draft; setDraft(gone.filter((_, place) => place !== at)); toast(t('Criterion removed'), { undo: () => setDraft(gone) }); };
  useKeys(may ? [{ key: 'n', text: t('Add a criterion'), act: add }] : []);
  return (
    <div className="evcols">
      <div className="evstack">
        {!may && <ReadOnlyNote role="editor" />}
        <Box title={t('What is looked for')} count={draft.length > 0 ? count(draft.length) : undefined} extra={<Version evaluation={evaluation} load={may ? setDraft : undefined} />}>
          {draft.length === 0 && <p className="mid">{t('No criterion yet. One asks a single thing: “Did the agent say why it calls?”')}</p>}
          <ol className="evlist">
            {draft.map((one, at) => <Editor key={at} place={at} criterion={one} faults={checked ? faultsOf(one) : {}} may={may} set={(change) => set(at, change)} first={at === 0} last={at === draft.length - 1} move={(by) => swap(at, by)} remove={() => remove(at)} />)}
          </ol>
          {may && <div className="row wrap">
            {draft.length < MOST_CRITERIA && <Button icon={Plus} onPress={add}>{t('Add a criterion')}</Button>}<span className="grow" />
            {changed && <Button kind="bare" onPress={() => setDraft(evaluation.criteria)}>{t('Discard changes')}</Button>}
            {changed && <Button kind="primary" onPress={save} isPending={send.isPending}>{t('Save as version {n}', { n: evaluation.version + 1 })}</Button>}
          </div>}
          {checked && faulty && <p className="fault" role="alert">{t('Something is missing above.')}</p>}
          {send.error && <ErrorNote error={send.error} />}
        </Box>
        {editor && <Trial evaluation={evaluation} kind={kind} criteria={draft} ready={() => { check(true); return draft.length > 0 && !faulty; }} />}
      </div>
      <Switch evaluation={evaluation} changed={changed} />
    </div>
  );
}

/** A new criterion takes its key from its name until it is saved; a saved key stays. */
function named(one: Criterion, all: readonly Criterion[], at: number, saved: readonly Criterion[]): Criterion {
  if (one.key !== '' && saved.some((other) => other.key === one.key)) return one;
  return { ...one, key: keyFrom(one.name, all.filter((_, place) => place !== at).map((other) => other.key)) };
}

function Editor({ place, criterion, faults, may, set, first, last, move, remove }: { place: number; criterion: Criterion; faults: Partial<Record<keyof Criterion, string>>; may: boolean; set: (change: Partial<Criterion>) => void; first: boolean; last: boolean; move: (by: number) => void; remove: () => void }) {
  if (!may) return <li><p className="medium" dir="auto">{criterion.name}</p><p className="mid" dir="auto">{criterion.prompt}</p><p className="meta">{criterion.kind === 'score' ? t('A score; passes from {n} on', { n: criterion.passThreshold ?? 0 }) : t('Pass or fail')}</p></li>;
  return (
    <li data-criterion={criterion.key} aria-label={t('Criterion {n}', { n: place + 1 })}>
      <div className="evrow">
        <TextInput label={t('Name')} value={criterion.name} onChange={(name) => set({ name })} maxLength={120} fault={faults.name} placeholder={t('Was the agent polite?')} />
        <SelectInput label={t('Says')} value={criterion.kind} onChange={(kind) => set({ kind, passThreshold: kind === 'score' ? criterion.passThreshold ?? 70 : null })} choices={[{ id: 'pass_fail', text: t('Pass or fail') }, { id: 'score', text: t('A score from 0 to 100') }]} />
        {criterion.kind === 'score' && <TextInput label={t('Passes from')} inputMode="numeric" value={criterion.passThreshold === null || criterion.passThreshold === undefined ? '' : String(criterion.passThreshold)} onChange={(text) => set({ passThreshold: /^\d{1,3}$/.test(text) ? Number(text) : null })} fault={faults.passThreshold} />}
      </div>
      <TextInput label={t('What the model looks for')} value={criterion.prompt} onChange={(prompt) => set({ prompt })} lines={3} maxLength={2_000} fault={faults.prompt} />
      <div className="row"><span className="mono dim" translate="no">{criterion.key}</span><span className="grow" />
        {!first && <Button small kind="bare" icon={ArrowUp} label={t('Move up')} onPress={() => move(-1)} />}{!last && <Button small kind="bare" icon={ArrowDown} label={t('Move down')} onPress={() => move(1)} />}
        <Button small kind="bare" icon={Trash2} label={t('Remove this criterion')} onPress={remove} /></div>
    </li>
  );
}

/** Which version this is; an earlier one can be taken up and saved again. */
function Version({ evaluation, load }: { evaluation: Evaluation; load: ((criteria: readonly Criterion[]) => void) | undefined }) {
  const [chosen, choose] = useState<number | null>(null);
  const earlier = useRead('getAgentEvaluation', { path: { id: evaluation.agentId }, query: { version: chosen ?? 1 } }, { enabled: chosen !== null && chosen !== evaluation.version });
  if (evaluation.version === 0) return null;
  const versions = Array.from({ length: Math.min(100, evaluation.version) }, (_, at) => evaluation.version - at);
  const taken = earlier.data?.data.criteria;
  return (
    <span className="row wrap">
      {evaluation.updatedAt && <span className="meta"><When at={evaluation.updatedAt} /></span>}
      {versions.length > 1 && load ? <SelectInput hideLabel label={t('Version')} value={String(chosen ?? evaluation.version)} onChange={(id) => choose(Number(id))} choices={versions.map((one) => ({ id: String(one), text: t('Version {n}', { n: one }) }))} /> : <span className="meta">{t('Version {n}', { n: evaluation.version })}</span>}
      {taken && load && chosen !== evaluation.version && <Button small onPress={() => { load(taken); choose(null); }}>{t('Take it up')}</Button>}
    </span>
  );
}

/** Grading by itself: which share, and what it costs; switching on asks first. */
function Switch({ evaluation, changed }: { evaluation: Evaluation; changed: boolean }) {
  const may = useMay('setAgentEvaluation');
  const [asking, ask] = useState(false);
  const [missing, setMissing] = useState(false);
  const [chats, setChats] = useState(evaluation.samplingRate);
  const [calls, setCalls] = useState(evaluation.callSamplingRate);
  const send = useSend('setAgentEvaluation', { alters: ['getAgentEvaluation'] });
  const price = rupees(evaluation.costPerEvaluationMinor);
  const put = (enabled: boolean) => send.mutateAsync({ path: { id: evaluation.agentId }, body: { criteria: evaluation.criteria, enabled, samplingRate: chats, callSamplingRate: calls } });
  const rates = [...new Set([...RATES, chats, calls])].sort((one, other) => one - other).map((rate) => ({ id: String(rate), text: rate === 0 ? t('none') : percent(rate, 0) }));
  const moved = chats !== evaluation.samplingRate || calls !== evaluation.callSamplingRate;
  const turn = (on: boolean): void => { setMissing(on && evaluation.criteria.length === 0); if (on && evaluation.criteria.length > 0) ask(true); if (!on) void put(false).then(() => toast(t('Switched off'), { undo: () => { void put(true); } }), () => undefined); };
  return (
    <Box title={t('By itself')} className="evside">
      <div className="stack">
        <SwitchInput value={evaluation.enabled} onChange={turn} disabled={!may}>{t('Grade finished conversations by themselves')}</SwitchInput>
        {missing && <p className="fault" role="alert">{t('Write and save a criterion first.')}</p>}
        {may ? <>
          <SelectInput label={t('Of calls')} value={String(calls)} onChange={(id) => setCalls(Number(id))} choices={rates} />
          <SelectInput label={t('Of chats')} value={String(chats)} onChange={(id) => setChats(Number(id))} choices={rates} />
          {moved && <Button onPress={() => { if (evaluation.enabled) ask(true); else void put(false).catch(() => undefined); }} isPending={send.isPending}>{t('Save the shares')}</Button>}
        </> : <p className="mid">{t('{calls} of calls, {chats} of chats', { calls: percent(calls, 0), chats: percent(chats, 0) })}</p>}
        <p className="meta">{t('{price} for each graded conversation.', { price })} {changed && t('What is not saved is not used.')}</p>
        {send.error && !asking && <ErrorNote error={send.error} />}
      </div>
      <Confirm open={asking} onClose={() => ask(false)} title={plural(evaluation.criteria.length, 'Grade by {n} criterion from now on', 'Grade by {n} criteria from now on')} action={t('Switch on, {price} each', { price })} act={() => put(true)}>
        <p className="mid">{t('{calls} of calls, {chats} of chats', { calls: percent(calls, 0), chats: percent(chats, 0) })}. {t('Each is charged when it has been graded.')}</p>
      </Confirm>
    </Box>
  );
}
