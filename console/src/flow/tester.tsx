// The draft, run in writing: what the agent says, where it is, what it has captured. Any turn can be said otherwise.
import { CircleAlert, CornerUpLeft, RotateCcw, Send } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button, CheckInput, ErrorNote, Fact, Facts, Icon, Tag, TextInput, t } from '../parts/index.ts';
import { Form, Input, TextField } from 'react-aria-components';
import { stepOf, textOf, type Graph } from './graph.ts';
import { nameIn, shortValue } from './words.tsx';
import type { Try } from './use-try.ts';

export function Tester({ graph, run, choose, fix }: { graph: Graph; run: Try; choose: (id: string) => void; fix: (step: string | null) => void }) {
  return run.view ? <Running graph={graph} run={run} choose={choose} fix={fix} /> : <Begin graph={graph} run={run} />;
}

/** What a call would bring: values of the variables, and what tools answer. */
function Begin({ graph, run }: { graph: Graph; run: Try }) {
  const variables = graph.variables ?? [];
  const tools = [...new Set(graph.nodes.filter((step) => step.type === 'tool' && textOf(step, 'toolId') !== '').map((step) => textOf(step, 'toolId')))];
  return (
    <Form className="tester insp" data-own-undo onSubmit={(event) => { event.preventDefault(); run.begin(); }}>
      <div><h2>{t('Test in writing')}</h2><p className="meta">{t('Runs the draft. Nothing is dialled, sent or charged.')}</p></div>
      {variables.map((one) => <TextInput key={one.name} label={one.name} value={run.values[one.name] ?? ''} onChange={(value) => run.setValue(one.name, value)} placeholder={one.default === undefined ? '' : String(one.default)} hint={one.description} />)}
      {tools.map((id) => <TextInput key={id} label={t('What {tool} answers', { tool: id })} mono dir="ltr" value={run.answers[id] ?? ''} onChange={(value) => run.setAnswer(id, value)} placeholder={'{"sample": true}'} hint={t('JSON, or empty for a sample.')} fault={run.wrongAnswer === id ? t('This is no JSON object.') : null} />)}
      {graph.nodes.some((step) => step.type === 'transfer') && <CheckInput value={run.nobodyFree} onChange={run.setNobodyFree}>{t('Nobody is free when it transfers')}</CheckInput>}
      {run.error && <ErrorNote error={run.error} />}
      <div><Button type="submit" kind="primary">{t('Begin')}</Button></div>
    </Form>
  );
}

function Running({ graph, run, choose, fix }: { graph: Graph; run: Try; choose: (id: string) => void; fix: (step: string | null) => void }) {
  const [text, setText] = useState('');
  const end = useRef<HTMLLIElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const { view, turns } = run;
  useEffect(() => { end.current?.scrollIntoView({ block: 'nearest' }); }, [turns]);
  if (!view) return null;
  const at = view.stepId === null ? undefined : stepOf(graph, view.stepId);
  const captured = Object.entries(view.extracted);
  const over = view.ended || view.stopped !== null;
  const say = (): void => { const said = text.trim(); if (said === '') { field.current?.focus(); return; } setText(''); run.say(said, () => setText(said)); };
  const otherwise = (turn: number, heard: string | null): void => run.back(turn - 1, () => { setText(heard ?? ''); field.current?.focus(); });
  return (
    <div className="tester" data-turn={view.turn.turn} data-at={view.stepId ?? ''} data-ended={over}>
      <div className="row"><span className="grow row">{at ? <><span className="nowrap">{t('Is at')}</span><Button kind="bare" small onPress={() => choose(at.id)}><span className="cut" dir="auto">{nameIn(graph, at.id)}</span></Button></> : over ? <Tag tone={view.stopped ? 'bad' : 'mute'}>{view.stopped ? t('It stopped') : t('Over')}</Tag> : null}</span><Button small kind="bare" icon={RotateCcw} onPress={run.again}>{t('Again')}</Button><Button small kind="bare" onPress={run.reset}>{t('Values')}</Button></div>
      {view.sampleVariables.length > 0 && <p className="meta">{t('Without a value, so their own names are said: {names}', { names: view.sampleVariables.join(', ') })}</p>}
      {captured.length > 0 && <div className="captured"><h3>{t('Captured')}</h3><Facts>{captured.map(([key, value]) => <Fact key={key} name={<code className="mono">{key}</code>}>{shortValue(value)}</Fact>)}</Facts></div>}
      <ol className="bubbles" tabIndex={0} aria-label={t('The conversation')} aria-live="polite">
        {turns.map((turn) => [
          turn.heard !== null && <li key={`${turn.turn}h`} data-who="customer"><p dir="auto">{turn.heard}</p><Button small kind="bare" icon={CornerUpLeft} isDisabled={run.busy} onPress={() => otherwise(turn.turn, turn.heard)}>{t('Say something else here')}</Button></li>,
          ...turn.toolCalls.map((call, index) => <li key={`${turn.turn}t${index}`} className="event"><Button small kind="bare" onPress={() => choose(call.stepId)}><span className="cut" dir="auto">{nameIn(graph, call.stepId)}</span></Button><span className="meta">{call.failed ? t('The tool {tool} failed.', { tool: call.toolId }) : call.sample ? t('Would have called {tool}; a sample was answered.', { tool: call.toolId }) : t('{tool} answered what you gave.', { tool: call.toolId })}</span></li>),
          ...turn.said.map((said, index) => <li key={`${turn.turn}s${index}`} data-who="agent">{said.stepId && <Button small kind="bare" onPress={() => choose(said.stepId ?? '')}><span className="cut" dir="auto">{nameIn(graph, said.stepId)}</span></Button>}<p dir="auto">{said.text}</p></li>),
        ])}
        {view.stopped && <li className="event"><div className="note" data-tone="bad" role="alert"><Icon of={CircleAlert} /><div className="grow stack"><p dir="auto">{t('Stopped:')} {view.stopped.message}</p><div><Button small onPress={() => fix(view.stopped?.stepId ?? null)}>{t('Go to the step')}</Button></div></div></div></li>}
        {view.ended && !view.stopped && <li className="event meta" data-ended="true">{view.outcome ? t('It is over. Outcome: {outcome}', { outcome: view.outcome }) : t('It is over, without an outcome.')}</li>}
        <li ref={end} aria-hidden />
      </ol>
      {run.error && <ErrorNote error={run.error} />}
      {!over && at?.type === 'document' && <div><Button onPress={run.handIn} isPending={run.busy}>{t('Hand a document in')}</Button></div>}
      {!over && <Form className="row" data-own-undo onSubmit={(event) => { event.preventDefault(); say(); }}>
        <TextField aria-label={t('Say as the customer')} className="ctl" value={text} onChange={setText} autoFocus maxLength={4_000}><Input ref={field} placeholder={t('Say as the customer')} dir="auto" /></TextField>
        <Button icon={Send} label={t('Send')} type="submit" />
      </Form>}
      {over && <div className="row"><Button icon={RotateCcw} onPress={run.again}>{t('Begin again')}</Button></div>}
      <p className="meta">{run.stale ? t('The flow was changed since this run began. ‘Again’ runs what is there now.') : t('Runs the draft. Nothing is dialled, sent or charged.')}</p>
    </div>
  );
}
