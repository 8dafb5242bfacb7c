// What changed between two versions, in words.
import type { ReactNode } from 'react';
import { Name, plural, rich, t } from '../parts/index.ts';
import type { Schemas } from '../api/index.ts';
import { edgeName, fieldName, kindName, shortValue, stepName } from './words.tsx';
import { stepOf, type Graph, type Step } from './graph.ts';

type Change = Schemas['FlowChange'];
const quiet = (change: Change): boolean => change.code === 'step_changed' && /^position(\.|$)/.test(change.path ?? '');

/** How many changes a person would count: where steps lie on the canvas is none. */
export const counted = (changes: readonly Change[]): number => changes.filter((one) => !quiet(one)).length;

export function DiffWords({ diff, graph }: { diff: Schemas['FlowDiff']; graph: Graph }) {
  const moved = new Set(diff.changes.filter(quiet).map((one) => one.stepId)).size;
  const gone = new Map(diff.changes.filter((one) => one.code === 'step_removed').map((one) => [one.stepId, one.before as Step]));
  // What leaves a step that is gone is gone with it.
  const shown = diff.changes.filter((one) => !quiet(one) && !paired(diff.changes, one) && !(one.code === 'edge_removed' && gone.has(one.stepId)));
  const named = (id: string | null): string => { const step = stepOf(graph, id) ?? gone.get(id); return step ? stepName(step) : (id ?? ''); };
  return (
    <ul className="diff" data-changes={shown.length}>
      {shown.map((change, at) => <li key={at} data-code={change.code}><Change change={change} graph={graph} all={diff.changes} named={named} /></li>)}
      {moved > 0 && <li className="dim">{plural(moved, '{n} step lies elsewhere on the canvas.', '{n} steps lie elsewhere on the canvas.')}</li>}
      {shown.length === 0 && moved === 0 && <li className="dim">{t('Nothing is different.')}</li>}
      {diff.more && <li className="dim">{t('There are more changes than are shown.')}</li>}
    </ul>
  );
}

/** An edge that led elsewhere before is said once, with the edge that it has now. */
const paired = (all: readonly Change[], one: Change): boolean => one.code === 'edge_removed' && all.some((other) => other.code === 'edge_added' && other.stepId === one.stepId && other.path === one.path);

function Change({ change, graph, all, named }: { change: Change; graph: Graph; all: readonly Change[]; named: (id: string | null) => string }): ReactNode {
  const step = stepOf(graph, change.stepId);
  const name = <b><Name>{step ? stepName(step) : change.stepName || named(change.stepId)}</Name></b>;
  const target = (value: unknown): ReactNode => <b><Name>{named(typeof value === 'string' ? value : null)}</Name></b>;
  const edge = <i><Name>{edgeName(step, change.path ?? '')}</Name></i>;
  switch (change.code) {
    case 'start_changed': return rich('The conversation begins with {to}, not with {from}.', { to: target(change.after), from: target(change.before) });
    case 'step_added': return rich('{name} is new ({kind}).', { name: <b><Name>{stepName(change.after as Step)}</Name></b>, kind: kindName(change.stepType ?? '') });
    case 'step_removed': return rich('{name} is gone ({kind}).', { name: <b><Name>{stepName(change.before as Step)}</Name></b>, kind: kindName(change.stepType ?? '') });
    case 'edge_added': {
      const before = all.find((other) => other.code === 'edge_removed' && other.stepId === change.stepId && other.path === change.path);
      return before ? rich('{name}: {edge} leads to {to}, not to {from} any more.', { name, edge, to: target(change.after), from: target(before.before) }) : rich('{name}: {edge} leads to {to}.', { name, edge, to: target(change.after) });
    }
    case 'edge_removed': return rich('{name}: {edge} does not lead to {from} any more.', { name, edge, from: target(change.before) });
    case 'variable_added': return rich('The variable {name} is new.', { name: <code className="mono">{change.variable}</code> });
    case 'variable_removed': return rich('The variable {name} is gone.', { name: <code className="mono">{change.variable}</code> });
    case 'variable_changed': return <>{rich('The variable {name} is different.', { name: <code className="mono">{change.variable}</code> })}<BeforeAfter before={change.before} after={change.after} /></>;
    case 'graph_changed': return t('A field of the flow that is not shown here: {path}', { path: change.path ?? '' });
    default: return <>{rich('{name}: {field} is different.', { name, field: fieldName(change.path ?? '') })}<BeforeAfter before={change.before} after={change.after} /></>;
  }
}

export const BeforeAfter = ({ before, after }: { before: unknown; after: unknown }) => (
  <span className="ba"><del dir="auto"><span className="vh">{t('before:')} </span>{shortValue(before)}</del><ins dir="auto"><span className="vh">{t('now:')} </span>{shortValue(after)}</ins></span>
);
