// Two people on one draft: what each changed since the draft that both began with, step by step.
import { same, type Graph, type Step, type Variable } from './graph.ts';

export type Side = 'mine' | 'theirs';
/** A part of the graph: a step, a variable, or which step is the first. */
export interface PartDifference { readonly key: string; readonly kind: 'step' | 'variable' | 'start'; readonly by: 'me' | 'them' | 'both'; readonly mine: unknown; readonly theirs: unknown; readonly base: unknown }

const variablesOf = (graph: Graph): readonly Variable[] => graph.variables ?? [];
const index = (graph: Graph): Map<string, unknown> => new Map<string, unknown>([
  ['start', graph.startNodeId], ...graph.nodes.map((node) => [`step:${node.id}`, node] as const), ...variablesOf(graph).map((one) => [`variable:${one.name}`, one] as const),
]);

export function differences(base: Graph, mine: Graph, theirs: Graph): readonly PartDifference[] {
  const [b, m, o] = [index(base), index(mine), index(theirs)];
  const keys = new Set([...o.keys(), ...m.keys(), ...b.keys()]);
  const found: PartDifference[] = [];
  for (const key of keys) {
    const [was, my, their] = [b.get(key), m.get(key), o.get(key)];
    if (same(my, their)) continue;
    const by = same(my, was) ? 'them' : same(their, was) ? 'me' : 'both';
    found.push({ key, kind: key === 'start' ? 'start' : (key.split(':')[0] as 'step' | 'variable'), by, mine: my, theirs: their, base: was });
  }
  return found;
}

/** Both changes in one graph. Where both changed the same part, `pick` decides. */
export function merged(base: Graph, mine: Graph, theirs: Graph, pick: (key: string) => Side): Graph {
  const chosen = new Map(differences(base, mine, theirs).map((one) => [one.key, pick(one.key)]));
  const [m, o] = [index(mine), index(theirs)];
  const value = (key: string): unknown => (chosen.get(key) === 'mine' ? m : o).get(key);
  const order = (kind: string): readonly string[] => {
    const keys = [...o.keys()].filter((key) => key.startsWith(kind));
    let before = '';
    for (const key of [...m.keys()].filter((one) => one.startsWith(kind))) {
      if (!o.has(key)) keys.splice(before === '' ? 0 : keys.indexOf(before) + 1, 0, key);
      before = key;
    }
    return keys;
  };
  const nodes = order('step:').map(value).filter((one): one is Step => one !== undefined);
  const variables = order('variable:').map(value).filter((one): one is Variable => one !== undefined);
  const start = value('start');
  const { startNodeId: _, ...rest } = theirs;
  return { ...rest, ...(typeof start === 'string' ? { startNodeId: start } : {}), nodes, ...(variables.length > 0 || theirs.variables ? { variables } : {}) };
}
/** Where only one of both changed a part, that one's; where both did, mine. */
export const natural = (found: readonly PartDifference[]): ReadonlyMap<string, Side> => new Map(found.map((one) => [one.key, one.by === 'them' ? 'theirs' : 'mine']));
