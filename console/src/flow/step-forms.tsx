// The fields of each kind of step, as docs/contract/flows.md has them.
import { Plus, Trash2 } from 'lucide-react';
import { useId, useState } from 'react';
import type { Schemas } from '../api/index.ts';
import { Button, CheckInput, Segment, SelectInput, SwitchInput, TextInput, t } from '../parts/index.ts';
import { fieldOf, listOf, namesOf, textOf, withAt, type Case, type Exit, type Graph, type Step } from './graph.ts';
import { ANSWERS, READ_BACK, answerName, languageName, opWord } from './words.tsx';

export interface FormProps {
  step: Step;
  graph: Graph;
  agent: Schemas['AgentDetail'];
  tools: readonly Schemas['Tool'][];
  languages: readonly Schemas['Language'][];
  /** Sets the field at a path; `undefined` takes it away. */
  set: (path: string, value: unknown) => void;
  change: (to: (step: Step) => Step) => void;
}
const MOST_TEXT = 16_000;
const MOST_LINE = 1_000;

/** About how long a text takes to say: a little over two words a second. */
function Spoken({ text }: { text: string }) {
  const words = text.trim().split(/\s+/).filter(Boolean).length;
  return words > 0 ? <>{t('About {n} s spoken.', { n: Math.max(1, Math.round(words / 2.3)) })} </> : null;
}
function Names({ graph }: { graph: Graph }) {
  const names = namesOf(graph);
  return names.length > 0 ? <>{t('Can say:')} {names.slice(0, 8).map((name) => <span key={name} className="mono name">{`{{${name}}}`}</span>)}</> : null;
}

function Texts({ label, props, lines = 3 }: { label: string; props: FormProps; lines?: number }) {
  const { step, agent, graph, languages, set } = props;
  const texts = (step.texts ?? {}) as Readonly<Record<string, string>>;
  const others = [...new Set([...agent.languages.filter((code) => code !== agent.language), ...Object.keys(texts)])];
  return (
    <>
      <TextInput label={label} lines={lines} value={textOf(step, 'text')} onChange={(text) => set('text', text)} maxLength={MOST_TEXT} hint={<><Spoken text={textOf(step, 'text')} /><Names graph={graph} /></>} />
      {others.map((code) => <TextInput key={code} label={t('{text} in {language}', { text: label, language: languageName(code, languages) })} lines={2} value={texts[code] ?? ''} onChange={(text) => set(`texts.${code}`, text === '' ? undefined : text)} maxLength={MOST_TEXT} />)}
    </>
  );
}

function NumberText({ label, value, most, first, onChange, hint }: { label: string; value: unknown; most: number; first: number; onChange: (n: number) => void; hint?: string }) {
  const shown = typeof value === 'number' ? value : first;
  const [text, setText] = useState(String(shown));
  const number = Number(text);
  const wrong = !Number.isInteger(number) || number < 1 || number > most;
  return <TextInput label={label} value={wrong || number !== shown ? text : String(shown)} inputMode="numeric" onChange={(typed) => { setText(typed); const n = Number(typed); if (Number.isInteger(n) && n >= 1 && n <= most) onChange(n); }} onBlur={() => setText(String(shown))} fault={wrong ? t('A whole number from 1 to {most}.', { most }) : null} hint={hint} />;
}

/** Rows of texts that can be added and taken out. */
function Lines({ label, item, add, values, onChange, inputMode, hint }: { label: string; item: (n: number) => string; add: string; values: readonly string[]; onChange: (values: readonly string[]) => void; inputMode?: 'tel'; hint?: string }) {
  const id = useId();
  const put = (at: number, value: string): void => onChange(values.map((one, index) => (index === at ? value : one)));
  return (
    <div className="field" role="group" aria-labelledby={id}><span className="lab" id={id}>{label}</span>
      {values.map((value, at) => <div key={at} className="row lines"><TextInput label={item(at + 1)} value={value} onChange={(text) => put(at, text)} maxLength={MOST_LINE} {...(inputMode ? { inputMode } : {})} /><Button kind="bare" small icon={Trash2} label={t('Take out {name}', { name: item(at + 1) })} onPress={() => onChange(values.filter((_, index) => index !== at))} /></div>)}
      {hint && <p className="hint">{hint}</p>}
      {values.length < 50 && <div><Button small icon={Plus} onPress={() => onChange([...values, ''])}>{add}</Button></div>}
    </div>
  );
}

function Collect(props: FormProps) {
  const { step, set, change } = props;
  const field = fieldOf(step);
  const type = field.type ?? 'text';
  const become = (next: string): void => change((before) => {
    const { confirm: _, secret: __, choices, ...rest } = fieldOf(before);
    return { ...before, field: { ...rest, type: next, ...(next === 'choice' ? { choices: choices ?? ['', ''] } : {}), ...(READ_BACK.has(next) && field.confirm ? { confirm: true } : {}) } };
  });
  return (
    <>
      <Texts label={t('Question')} props={props} />
      <div className="two">
        <TextInput label={t('Saved as')} mono dir="ltr" value={field.key ?? ''} onChange={(key) => set('field.key', key)} maxLength={64} />
        <SelectInput label={t('Answer is')} value={type} onChange={become} choices={ANSWERS.map((one) => ({ id: one, text: answerName(one) }))} />
      </div>
      <TextInput label={t('Label')} value={field.label ?? ''} onChange={(label) => set('field.label', label)} maxLength={MOST_LINE} hint={t('How the answer is called in results.')} />
      {type === 'choice' && <Lines label={t('Choices')} item={(n) => t('Choice {n}', { n })} add={t('Add a choice')} values={field.choices ?? []} onChange={(choices) => set('field.choices', choices)} />}
      {READ_BACK.has(type) && <SwitchInput value={field.confirm === true} onChange={(on) => set('field.confirm', on ? true : undefined)}>{t('Read the answer back and ask whether it is right')}</SwitchInput>}
      {(type === 'text' || type === 'number') && <SwitchInput value={field.secret === true} onChange={(on) => set('field.secret', on ? true : undefined)}>{t('Secret: kept nowhere, given to one tool')}</SwitchInput>}
      <NumberText key={step.id} label={t('Attempts before giving up')} value={step.attempts} most={10} first={3} onChange={(attempts) => set('attempts', attempts)} />
    </>
  );
}

function Converse(props: FormProps) {
  const { step, graph, set, tools, agent, change } = props;
  const exits = listOf<Exit>(step, 'exits');
  const chosen = listOf<string>(step, 'toolIds');
  return (
    <>
      <TextInput label={t('What the model is told')} lines={6} value={textOf(step, 'prompt')} onChange={(prompt) => set('prompt', prompt)} maxLength={MOST_TEXT} hint={<Names graph={graph} />} />
      <div className="field" role="group" aria-label={t('Exits')}><span className="lab">{t('Exits')}</span>
        <p className="hint">{t('The model leaves by the first one that applies.')}</p>
        {exits.map((exit, at) => <div key={at} className="row lines"><TextInput label={t('Exit {n}: when', { n: at + 1 })} value={exit.when ?? ''} onChange={(when) => set(`exits[${at}].when`, when)} maxLength={MOST_LINE} /><Button kind="bare" small icon={Trash2} label={t('Take out {name}', { name: t('exit {n}', { n: at + 1 }) })} onPress={() => set('exits', exits.filter((_, index) => index !== at))} /></div>)}
        {exits.length < 50 && <div><Button small icon={Plus} onPress={() => change((before) => ({ ...before, exits: [...listOf<Exit>(before, 'exits'), { when: '' }] }))}>{t('Add an exit')}</Button></div>}
      </div>
      {tools.length > 0 && <div className="field" role="group" aria-label={t('Tools that the model may call')}><span className="lab">{t('Tools that the model may call')}</span>
        {tools.filter((tool) => tool.id !== 'end_call').map((tool) => <CheckInput key={tool.id} value={chosen.includes(tool.id)} onChange={(on) => set('toolIds', on ? [...chosen, tool.id] : chosen.filter((id) => id !== tool.id))}><span dir="auto">{tool.name}</span></CheckInput>)}
      </div>}
      <SwitchInput value={step.useKnowledge === true} onChange={(on) => set('useKnowledge', on)}>{t('Answers from the knowledge base')}</SwitchInput>
      {step.useKnowledge === true && agent.knowledgeBaseId === null && <p className="hint">{t('The agent has no knowledge base yet. Choose one in its settings.')}</p>}
      <NumberText key={step.id} label={t('Replies at most')} value={step.maxTurns} most={200} first={20} onChange={(turns) => set('maxTurns', turns)} hint={t('Then the first exit is taken.')} />
    </>
  );
}

const OPS = ['eq', 'ne', 'lt', 'gt', 'in', 'exists'] as const;
function CaseRow({ one, at, props, remove }: { one: Case; at: number; props: FormProps; remove: () => void }) {
  const { graph, set } = props;
  const op = one.op ?? 'eq';
  const yesNo = graph.nodes.some((node) => fieldOf(node).key === one.variable && fieldOf(node).type === 'boolean') && (op === 'eq' || op === 'ne');
  const put = (name: string, value: unknown): void => set(`cases[${at}].${name}`, value);
  const become = (next: string): void => { put('op', next); put('value', next === 'exists' ? undefined : typeof one.value === 'boolean' && !yesNo ? undefined : one.value); };
  return (
    <fieldset className="case"><legend className="meta">{t('Case {n}', { n: at + 1 })}</legend>
      <div className="two">
        <TextInput label={t('Variable')} mono dir="ltr" value={one.variable ?? ''} onChange={(variable) => put('variable', variable)} maxLength={MOST_LINE} />
        <SelectInput label={t('Compares')} value={op} onChange={become} choices={OPS.map((id) => ({ id, text: opWord(id) }))} />
      </div>
      {op === 'exists'
        ? <Segment label={t('Value')} value={one.value === false ? 'no' : 'yes'} onChange={(value) => put('value', value === 'no' ? false : undefined)} items={[['yes', t('is known')], ['no', t('is not known')]]} />
        : yesNo
          ? <Segment label={t('Value')} value={one.value === true || one.value === 'true' ? 'yes' : one.value === false || one.value === 'false' ? 'no' : 'open'} onChange={(value) => put('value', value === 'yes')} items={[['yes', t('yes')], ['no', t('no')]]} />
          : <TextInput label={t('Value')} value={one.value === undefined || one.value === null ? '' : typeof one.value === 'string' ? one.value : JSON.stringify(one.value)} onChange={(value) => put('value', value === '' ? undefined : value)} maxLength={MOST_LINE} hint={op === 'in' ? t('Several, with commas between them.') : undefined} />}
      <div className="row"><span className="grow" /><Button kind="bare" small icon={Trash2} onPress={remove}>{t('Take the case out')}</Button></div>
    </fieldset>
  );
}
function BranchForm(props: FormProps) {
  const cases = listOf<Case>(props.step, 'cases');
  const names = namesOf(props.graph);
  return (
    <div className="field" role="group" aria-label={t('Cases')}><span className="lab">{t('Cases')}</span>
      <p className="hint">{t('The first case that holds is taken.')} {names.length > 0 && <>{t('Known:')} {names.slice(0, 12).map((name) => <span key={name} className="mono name">{name}</span>)}</>}</p>
      {cases.map((one, at) => <CaseRow key={at} one={one} at={at} props={props} remove={() => props.set('cases', cases.filter((_, index) => index !== at))} />)}
      {cases.length < 50 && <div><Button small icon={Plus} onPress={() => props.change((before) => ({ ...before, cases: [...listOf<Case>(before, 'cases'), { variable: '', op: 'eq' }] }))}>{t('Add a case')}</Button></div>}
    </div>
  );
}

const shownArgument = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
function argument(text: string): unknown {
  if (!/^\s*[[{](?!\{)/.test(text)) return text;
  try { return JSON.parse(text) as unknown; } catch { return text; }
}
function Arguments({ step, set }: FormProps) {
  const given = Object.entries((step.arguments ?? {}) as Readonly<Record<string, unknown>>);
  const put = (rows: readonly (readonly [string, unknown])[]): void => set('arguments', Object.fromEntries(rows));
  const taken = (name: string, but: number): boolean => given.some(([other], at) => at !== but && other === name);
  return (
    <div className="field" role="group" aria-label={t('Arguments')}><span className="lab">{t('Arguments')}</span>
      {given.map(([name, value], at) => (
        <div key={at} className="row lines arg">
          <TextInput label={t('Argument {n}', { n: at + 1 })} mono dir="ltr" value={name} onChange={(next) => { if (!taken(next, at)) put(given.map((one, index) => (index === at ? [next, value] : one))); }} maxLength={64} />
          <TextInput label={t('Value {n}', { n: at + 1 })} value={shownArgument(value)} onChange={(text) => put(given.map((one, index) => (index === at ? [name, argument(text)] : one)))} maxLength={MOST_TEXT} />
          <Button kind="bare" small icon={Trash2} label={t('Take out {name}', { name })} onPress={() => put(given.filter((_, index) => index !== at))} />
        </div>
      ))}
      <div><Button small icon={Plus} onPress={() => { let n = given.length + 1; while (taken(`argument_${n}`, -1)) n += 1; put([...given, [`argument_${n}`, '']]); }}>{t('Add an argument')}</Button></div>
    </div>
  );
}
function ToolForm(props: FormProps) {
  const { step, set, tools } = props;
  const id = textOf(step, 'toolId');
  const known = tools.find((tool) => tool.id === id);
  const choices = [...tools.filter((tool) => tool.id !== 'end_call' && tool.id !== 'transfer_to_human').map((tool) => ({ id: tool.id, text: tool.name })), ...(id !== '' && !known ? [{ id, text: id }] : [])];
  return (
    <>
      <SelectInput label={t('Tool')} value={id === '' ? null : id} onChange={(tool) => set('toolId', tool)} choices={choices} placeholder={t('Choose a tool')} hint={known?.description || undefined} />
      <Arguments {...props} />
      <TextInput label={t('Saved as')} mono dir="ltr" value={textOf(step, 'saveAs')} onChange={(name) => set('saveAs', name === '' ? undefined : name)} maxLength={64} hint={t('The answer can be used under this name afterwards.')} />
    </>
  );
}

function TransferForm(props: FormProps) {
  const { step, set, agent } = props;
  return (
    <>
      <Texts label={t('Said before')} props={props} lines={2} />
      {agent.channel === 'call' && <Lines label={t('Numbers')} item={(n) => t('Number {n}', { n })} add={t('Add a number')} inputMode="tel" values={listOf<string>(step, 'transferNumbers')} onChange={(numbers) => set('transferNumbers', numbers)} hint={t('Called one after the other. Written as +91 and ten digits.')} />}
      <div className="field"><span className="lab">{t('How it is handed over')}</span><Segment label={t('How it is handed over')} value={textOf(step, 'mode') || 'warm'} onChange={(mode) => set('mode', mode)} items={[['warm', t('Warm')], ['cold', t('Cold')]]} /><p className="hint">{textOf(step, 'mode') === 'cold' ? t('The person is put through at once.') : t('Your colleague hears first what it is about.')}</p></div>
    </>
  );
}

function MessageForm(props: FormProps) {
  const { step, set, change } = props;
  const by = step.template === undefined ? 'text' : 'template';
  const [raw, setRaw] = useState<string | null>(null);
  const become = (next: string): void => change((before) => { const { template: _, text: __, texts: ___, ...rest } = before; return (next === 'text' ? { ...rest, text: '' } : { ...rest, template: '' }) as Step; });
  const object = typeof step.template === 'object' && step.template !== null;
  const typed = (text: string): void => { setRaw(text); try { const value: unknown = JSON.parse(text); if (typeof value === 'object' && value !== null && !Array.isArray(value)) { set('template', value); setRaw(null); } } catch { /* Not JSON yet: kept in the field only. */ } };
  return (
    <>
      <div className="field"><span className="lab">{t('What is sent')}</span><Segment label={t('What is sent')} value={by} onChange={become} items={[['text', t('A text')], ['template', t('A template')]]} /></div>
      {by === 'text' && <Texts label={t('Text')} props={props} />}
      {by === 'template' && !object && <TextInput label={t('Name of the template')} mono dir="ltr" value={typeof step.template === 'string' ? step.template : ''} onChange={(name) => set('template', name)} maxLength={MOST_LINE} />}
      {by === 'template' && object && <TextInput label={t('Template with its values, as JSON')} lines={6} mono dir="ltr" value={raw ?? JSON.stringify(step.template, null, 2)} onChange={typed} fault={raw === null ? null : t('This is no JSON object yet; what is stored is unchanged.')} data-own-undo />}
    </>
  );
}

function DocumentForm({ step, set }: FormProps) {
  const fields = listOf<string | { key: string }>(step, 'fields');
  const put = (keys: readonly string[]): void => set('fields', keys.map((key, at) => { const before = fields[at]; return typeof before === 'object' ? { ...before, key } : key; }));
  return (
    <>
      <TextInput label={t('Which document')} value={textOf(step, 'label')} onChange={(label) => set('label', label)} maxLength={MOST_LINE} />
      <Lines label={t('Fields')} item={(n) => t('Field {n}', { n })} add={t('Add a field')} values={fields.map((one) => (typeof one === 'string' ? one : one.key))} onChange={put} hint={t('What is read from it, each under its own name.')} />
      <NumberText key={step.id} label={t('Attempts before giving up')} value={step.attempts} most={10} first={3} onChange={(attempts) => set('attempts', attempts)} />
    </>
  );
}

export function StepForm(props: FormProps) {
  switch (props.step.type) {
    case 'say': return <Texts label={t('Text')} props={props} />;
    case 'collect': return <Collect {...props} />;
    case 'converse': return <Converse {...props} />;
    case 'branch': return <BranchForm {...props} />;
    case 'tool': return <ToolForm {...props} />;
    case 'transfer': return <TransferForm {...props} />;
    case 'message': return <MessageForm {...props} />;
    case 'document': return <DocumentForm {...props} />;
    case 'end': return <><Texts label={t('Said at the end')} props={props} /><TextInput label={t('Outcome')} mono dir="ltr" value={textOf(props.step, 'outcome')} onChange={(outcome) => props.set('outcome', outcome === '' ? undefined : outcome)} maxLength={64} hint={t('A word that results are counted by.')} /></>;
    default: return null;
  }
}
export const setOn = (step: Step, path: string, value: unknown): Step => withAt(step, path, value);
