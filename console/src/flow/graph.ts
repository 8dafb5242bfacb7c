// The graph of a flow as it is stored. Fields that the console does not know are kept as they are.

export const KINDS = ['say', 'collect', 'converse', 'branch', 'tool', 'transfer', 'message', 'document', 'end'] as const;
export type Kind = (typeof KINDS)[number];
export interface Step { readonly id: string; readonly type: Kind; readonly name?: string; readonly [member: string]: unknown }
export interface Variable { readonly name: string; readonly required?: boolean; readonly default?: string | number | boolean; readonly description?: string; readonly [member: string]: unknown }
export interface Graph { readonly startNodeId?: string; readonly nodes: readonly Step[]; readonly variables?: readonly Variable[]; readonly [member: string]: unknown }
export interface Exit { readonly when?: string; readonly next?: string; readonly [member: string]: unknown }
export interface Case { readonly variable?: string; readonly op?: string; readonly value?: unknown; readonly next?: string; readonly [member: string]: unknown }
export interface Field { readonly key?: string; readonly label?: string; readonly type?: string; readonly choices?: readonly string[]; readonly confirm?: boolean; readonly secret?: boolean; readonly [member: string]: unknown }
/** An edge that a step has or may have: `path` is the field that holds it. */
export interface StepEdge { readonly path: string; readonly to: string | null; readonly needed: boolean }

export function asGraph(stored: Readonly<Record<string, unknown>>): Graph {
  const nodes = Array.isArray(stored.nodes) ? (stored.nodes as Step[]).filter((node) => typeof node?.id === 'string') : [];
  return { ...stored, nodes };
}

export const textOf = (step: Step, member: string): string => (typeof step[member] === 'string' ? step[member] : '');
export const listOf = <T,>(step: Step, member: string): readonly T[] => (Array.isArray(step[member]) ? (step[member] as T[]) : []);
export const fieldOf = (step: Step): Field => (typeof step.field === 'object' && step.field !== null ? (step.field as Field) : {});
export const same = (one: unknown, other: unknown): boolean => one === other || JSON.stringify(one) === JSON.stringify(other);

const named = (step: Step, path: string, needed: boolean): StepEdge => ({ path, to: textOf(step, path) || null, needed });

export function edgesOf(step: Step): readonly StepEdge[] {
  switch (step.type) {
    case 'say': case 'message': return [named(step, 'next', true)];
    case 'collect': case 'document': return [named(step, 'next', true), named(step, 'onFail', false)];
    case 'converse': return listOf<Exit>(step, 'exits').map((exit, at) => ({ path: `exits[${at}].next`, to: exit.next || null, needed: true }));
    case 'branch': return [...listOf<Case>(step, 'cases').map((one, at) => ({ path: `cases[${at}].next`, to: one.next || null, needed: true })), named(step, 'otherwise', false)];
    case 'tool': return [named(step, 'next', true), named(step, 'onError', false)];
    case 'transfer': return [named(step, 'onFail', false)];
    default: return [];
  }
}

/** The same value with another one at a path such as `exits[0].next`; `undefined` takes it away. */
export function withAt<T>(value: T, path: string, to: unknown): T {
  return placed(value, path.split(/[.[\]]+/).filter(Boolean), to) as T;
}
function placed(value: unknown, [key, ...rest]: readonly string[], to: unknown): unknown {
  if (key === undefined) return to;
  if (Array.isArray(value)) return value.map((one: unknown, at) => (at === Number(key) ? placed(one, rest, to) : one));
  const record = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const next = placed(record[key], rest, to);
  if (next !== undefined) return { ...record, [key]: next };
  const { [key]: _, ...left } = record;
  return left;
}

export const stepOf = (graph: Graph, id: string | null): Step | undefined => graph.nodes.find((node) => node.id === id);
export const changeStep = (graph: Graph, id: string, change: (step: Step) => Step): Graph => ({ ...graph, nodes: graph.nodes.map((node) => (node.id === id ? change(node) : node)) });

function freeId(graph: Graph, beginning: string): string {
  const taken = new Set(graph.nodes.map((node) => node.id));
  for (let n = 1; ; n += 1) if (!taken.has(`${beginning}_${n}`)) return `${beginning}_${n}`;
}

function blank(kind: Kind, id: string): Step {
  switch (kind) {
    case 'collect': return { id, type: kind, text: '', field: { key: id.replace('collect', 'answer'), label: '', type: 'text' }, attempts: 3 };
    case 'converse': return { id, type: kind, prompt: '', exits: [{ when: '' }], maxTurns: 20 };
    case 'branch': return { id, type: kind, cases: [{ variable: '', op: 'eq' }] };
    case 'tool': return { id, type: kind, arguments: {} };
    case 'transfer': return { id, type: kind, transferNumbers: [], mode: 'warm' };
    case 'document': return { id, type: kind, label: '', fields: [], attempts: 3 };
    default: return { id, type: kind, text: '' };
  }
}

/** Adds a step behind another one: on its first edge that leads nowhere, else between it and the step after it. */
export function addStep(graph: Graph, kind: Kind, after: string | null, at?: string): { graph: Graph; id: string } {
  const id = freeId(graph, kind);
  const from = stepOf(graph, after);
  let step = blank(kind, id);
  if (!from) return { graph: { ...graph, startNodeId: graph.startNodeId || id, nodes: [...graph.nodes, step] }, id };
  const edges = edgesOf(from);
  const edge = edges.find(({ path }) => path === at) ?? edges.find(({ to, needed }) => to === null && needed) ?? edges[0];
  const own = edgesOf(step)[0];
  if (edge?.to && own) step = withAt(step, own.path, edge.to);
  const nodes = graph.nodes.flatMap((node) => (node.id === from.id ? [edge ? withAt(node, edge.path, id) : node, step] : [node]));
  return { graph: { ...graph, nodes }, id };
}

/** Takes a step out; edges that led to it lead to the one after it, if it had only that. */
export function removeStep(graph: Graph, id: string): Graph {
  const gone = stepOf(graph, id);
  if (!gone) return graph;
  const first = edgesOf(gone).find(({ to }) => to !== null && to !== id)?.to ?? undefined;
  const nodes = graph.nodes.filter((node) => node.id !== id).map((node) => edgesOf(node).reduce((step, edge) => (edge.to === id ? withAt(step, edge.path, first === node.id ? undefined : first) : step), node));
  const start = graph.startNodeId === id ? (first ?? nodes[0]?.id) : graph.startNodeId;
  const { startNodeId: _, ...rest } = graph;
  return { ...rest, ...(start ? { startNodeId: start } : {}), nodes };
}

/** Steps as they are reached from the first one, then those that are not. */
export function inOrder(graph: Graph): readonly Step[] {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const seen = new Set<string>();
  const order: Step[] = [];
  const visit = (first: string | null | undefined): void => {
    const queue = [first];
    while (queue.length > 0) {
      const step = byId.get(queue.shift() ?? '');
      if (!step || seen.has(step.id)) continue;
      seen.add(step.id);
      order.push(step);
      queue.push(...edgesOf(step).map(({ to }) => to));
    }
  };
  visit(graph.startNodeId);
  for (const node of graph.nodes) if (!seen.has(node.id)) visit(node.id);
  return order;
}

/** Names that texts may use: declared variables, captured answers, saved tool answers. */
export function namesOf(graph: Graph): readonly string[] {
  const names = new Set((graph.variables ?? []).map((one) => one.name));
  for (const step of graph.nodes) {
    if (step.type === 'collect' && fieldOf(step).key) names.add(String(fieldOf(step).key));
    if (step.type === 'tool' && textOf(step, 'saveAs')) names.add(textOf(step, 'saveAs'));
  }
  return [...names].filter(Boolean);
}
