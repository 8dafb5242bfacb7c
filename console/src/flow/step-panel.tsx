import { CircleAlert, Plus, Trash2, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { Schemas } from '../api/index.ts';
import { Button, Fact, Facts, Icon, Json, More, Name, SwitchInput, Tag, TextInput, t } from '../parts/index.ts';
import { changeStep, edgesOf, stepOf, textOf, withAt, type Graph, type Step, type Variable } from './graph.ts';
import { GoesTo, StepPicker } from './picker.tsx';
import { StepForm } from './step-forms.tsx';
import { edgeName, iconOf, kindName, nameIn, stepName } from './words.tsx';
import { gist } from './layout.ts';

export interface PanelProps {
  graph: Graph;
  chosen: string | null;
  choose: (id: string | null) => void;
  change: (to: (graph: Graph) => Graph, tag?: string) => void;
  issues: readonly Schemas['FlowIssue'][];
  agent: Schemas['AgentDetail'];
  tools: readonly Schemas['Tool'][];
  languages: readonly Schemas['Language'][];
  edits: boolean;
  share: (from: string | null, path: string) => string | null;
  visits: (id: string) => { share: string; words: string } | null;
  remove: (id: string) => void;
  add: (after: string, path?: string) => void;
  /** What the service refused of the draft, if it is about this step. */
  refused: (id: string) => string | null;
}

export const IssueNote = ({ issue }: { issue: Schemas['FlowIssue'] }) => (
  <div className="note" data-tone={issue.level === 'error' ? 'bad' : 'wait'}><Icon of={issue.level === 'error' ? CircleAlert : TriangleAlert} /><p dir="auto">{issue.message}</p></div>
);

export function StepPanel(props: PanelProps) {
  const step = stepOf(props.graph, props.chosen);
  return step ? <OneStep key={step.id} {...props} step={step} /> : <WholeFlow {...props} />;
}

function OneStep({ step, ...props }: PanelProps & { step: Step }) {
  const { graph, change, choose, edits } = props;
  const edit = (path: string, value: unknown): void => change((before) => changeStep(before, step.id, (one) => withAt(one, path, value)), `${step.id} ${path}`);
  const visits = props.visits(step.id);
  const refused = props.refused(step.id);
  return (
    <div className="insp" data-step={step.id}>
      <div className="row"><span className="kico"><Icon of={iconOf(step.type)} /></span><div className="grow"><p className="meta">{kindName(step.type)}</p><h2 className="cut"><Name>{stepName(step)}</Name></h2></div>
        {visits && <Tag>{visits.share}</Tag>}
        {edits && <More small label={t('More about this step')} entries={[
          graph.startNodeId !== step.id && { text: t('Begin the conversation here'), act: () => change((before) => ({ ...before, startNodeId: step.id })) },
          { text: t('Show the whole flow'), act: () => choose(null) }, '-', { text: t('Delete the step'), hint: 'Del', danger: true, act: () => props.remove(step.id) },
        ]} />}
      </div>
      {refused && <div className="note" data-tone="bad" role="alert"><Icon of={CircleAlert} /><p dir="auto">{refused}</p></div>}
      {props.issues.filter((issue) => issue.nodeId === step.id).map((issue, at) => <IssueNote key={at} issue={issue} />)}
      {edits
        ? <>
          <TextInput label={t('Name')} value={step.name ?? ''} onChange={(name) => edit('name', name === '' ? undefined : name)} placeholder={stepName(step)} maxLength={200} data-first-field />
          <StepForm step={step} graph={graph} agent={props.agent} tools={props.tools} languages={props.languages} set={edit} change={(to) => change((before) => changeStep(before, step.id, to))} />
          <GoesTo step={step} graph={graph} connect={(path, to) => change((before) => changeStep(before, step.id, (one) => withAt(one, path, to ?? undefined)))} shares={(path) => props.share(step.id, path)} />
          {edgesOf(step).length > 0 && <div><Button small icon={Plus} onPress={() => props.add(step.id)}>{t('Add a step after this')}</Button></div>}
        </>
        : <Reading step={step} graph={graph} />}
      {visits && <p className="meta">{visits.words}</p>}
      {edits && <div><Button kind="danger" small icon={Trash2} onPress={() => props.remove(step.id)}>{t('Delete the step')}</Button></div>}
    </div>
  );
}

function Reading({ step, graph }: { step: Step; graph: Graph }) {
  const { id: _, type: __, name: ___, position: ____, ...rest } = step;
  return (
    <>
      <p className="reading" dir="auto">{textOf(step, 'text') || gist(step)}</p>
      <Facts>{edgesOf(step).map(({ path, to }) => <Fact key={path} name={<Name>{edgeName(step, path)}</Name>}>{to === null ? '–' : nameIn(graph, to)}</Fact>)}</Facts>
      <Json value={rest} />
    </>
  );
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
function VariableRow({ one, put, remove }: { one: Variable; put: (change: Partial<Variable>) => void; remove: () => void }) {
  const [name, setName] = useState(one.name);
  const wrong = !NAME.test(name);
  return (
    <fieldset className="case"><legend className="meta mono" dir="auto">{one.name}</legend>
      <div className="two">
        <TextInput label={t('Variable')} mono dir="ltr" value={name} onChange={(next) => { setName(next); if (NAME.test(next)) put({ name: next }); }} maxLength={64} fault={wrong ? t('A letter or _, then letters, digits and _.') : null} />
        <TextInput label={t('Value if none is given')} value={one.default === undefined ? '' : String(one.default)} onChange={(text) => put({ default: text === '' ? undefined : text } as Partial<Variable>)} maxLength={1_000} />
      </div>
      <TextInput label={t('What it is')} value={one.description ?? ''} onChange={(description) => put({ description })} maxLength={1_000} />
      <div className="row"><SwitchInput value={one.required === true} onChange={(on) => put({ required: on })}>{t('A call must have it')}</SwitchInput><span className="grow" /><Button kind="bare" small icon={Trash2} label={t('Take out {name}', { name: one.name })} onPress={remove} /></div>
    </fieldset>
  );
}

/** While no step is chosen: the first step, the variables, and what is wrong with the flow as a whole. */
function WholeFlow({ graph, change, edits, issues, choose }: PanelProps) {
  const variables = graph.variables ?? [];
  const add = (): void => change((before) => {
    const taken = new Set((before.variables ?? []).map((one) => one.name));
    let n = 1;
    while (taken.has(`variable_${n}`)) n += 1;
    return { ...before, variables: [...(before.variables ?? []), { name: `variable_${n}` }] };
  });
  const put = (at: number, to: Partial<Variable>): void => change((before) => ({ ...before, variables: (before.variables ?? []).map((one, index) => (index === at ? { ...one, ...to } : one)) }), `variable ${at}`);
  return (
    <div className="insp" data-step="">
      <div><h2>{t('The whole flow')}</h2><p className="meta">{t('Choose a step to see or change it.')}</p></div>
      {issues.filter((issue) => issue.nodeId === null).map((issue, at) => <IssueNote key={at} issue={issue} />)}
      <div className="exits"><div className="row"><span className="grow">{t('Begins with')}</span>{edits ? <StepPicker label={t('Begins with')} graph={graph} value={graph.startNodeId ?? null} onPick={(id) => { if (id) change((before) => ({ ...before, startNodeId: id })); }} /> : <Button small onPress={() => choose(graph.startNodeId ?? null)}>{nameIn(graph, graph.startNodeId)}</Button>}</div></div>
      <div className="field" role="group" aria-label={t('Variables')}><span className="lab">{t('Variables')}</span><p className="hint">{t('What a list or the one who places the call gives. Texts say them as {example}.', { example: '{{name}}' })}</p>
        {edits
          ? variables.map((one, at) => <VariableRow key={at} one={one} put={(to) => put(at, to)} remove={() => change((before) => ({ ...before, variables: (before.variables ?? []).filter((_, index) => index !== at) }))} />)
          : <Facts>{variables.map((one) => <Fact key={one.name} name={<code className="mono">{one.name}</code>}>{one.description ?? (one.required ? t('A call must have it') : '–')}</Fact>)}</Facts>}
        {edits && <div><Button small icon={Plus} onPress={add}>{t('Add a variable')}</Button></div>}
      </div>
    </div>
  );
}
