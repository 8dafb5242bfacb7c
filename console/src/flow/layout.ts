// Where steps lie on the canvas: where somebody put them, else in columns by their way from the first one.
import { edgesOf, inOrder, listOf, textOf, type Case, type Exit, type Graph, type Step } from './graph.ts';

export interface Place { readonly x: number; readonly y: number }
export const WIDTH = 204;
const COLUMN = 268;
const GAP = 44;
export const ONE_LINE = new Set(['tool', 'transfer', 'message', 'document', 'end']);

/** Heights are known without measuring, so that what is not on the screen needs no elements. */
export function heightOf(step: Step): number {
  const words = step.type === 'branch' ? 0 : ONE_LINE.has(step.type) ? 24 : 41;
  const exits = edgesOf(step).length;
  return 34 + words + (exits > 0 ? 7 + exits * 20 : 0);
}
/** The middle of an edge's end, from the top of its step. */
export const exitTop = (step: Step, at: number): number => heightOf(step) - 4 - edgesOf(step).length * 20 + at * 20 + 10;

export function placeOf(step: Step): Place | null {
  const place = step.position as Partial<Place> | undefined;
  return typeof place?.x === 'number' && typeof place.y === 'number' ? { x: place.x, y: place.y } : null;
}

/** The longest way from the first step, without edges that lead back: so edges point to the right. */
function depths(graph: Graph): Map<string, number> {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const open = new Set<string>();
  const finished: Step[] = [];
  const forward = new Map<string, string[]>();
  const done = new Set<string>();
  for (const root of inOrder(graph)) {
    if (done.has(root.id)) continue;
    const stack = [{ step: root, edges: edgesOf(root), at: 0 }];
    open.add(root.id);
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const edge = top.edges[top.at];
      top.at += 1;
      if (edge === undefined) { stack.pop(); open.delete(top.step.id); done.add(top.step.id); finished.push(top.step); continue; }
      const next = edge.to === null ? undefined : byId.get(edge.to);
      if (!next || open.has(next.id)) continue;
      forward.set(top.step.id, [...(forward.get(top.step.id) ?? []), next.id]);
      if (!done.has(next.id)) { open.add(next.id); stack.push({ step: next, edges: edgesOf(next), at: 0 }); }
    }
  }
  const depth = new Map<string, number>();
  for (const step of finished.reverse()) {
    const own = depth.get(step.id) ?? 0;
    depth.set(step.id, own);
    for (const to of forward.get(step.id) ?? []) depth.set(to, Math.max(depth.get(to) ?? 0, own + 1));
  }
  return depth;
}

export function layout(graph: Graph): ReadonlyMap<string, Place> {
  const depth = depths(graph);
  const columns: Step[][] = [];
  for (const step of inOrder(graph)) (columns[depth.get(step.id) ?? 0] ??= []).push(step);
  const places = new Map<string, Place>();
  columns.forEach((steps, column) => {
    const tall = steps.reduce((sum, step) => sum + heightOf(step) + GAP, -GAP);
    let y = -tall / 2;
    for (const step of steps) {
      places.set(step.id, placeOf(step) ?? { x: column * COLUMN, y: Math.round(y) });
      y += heightOf(step) + GAP;
    }
  });
  return places;
}

/** The step that an arrow key leads to: along an edge to the right or left, to a neighbour up or down. */
export function neighbour(graph: Graph, from: string, arrow: 'ArrowRight' | 'ArrowLeft' | 'ArrowUp' | 'ArrowDown'): string | null {
  const step = graph.nodes.find((node) => node.id === from);
  if (!step) return null;
  if (arrow === 'ArrowRight') return edgesOf(step).find(({ to }) => to !== null)?.to ?? null;
  if (arrow === 'ArrowLeft') return graph.nodes.find((node) => node.id !== from && edgesOf(node).some(({ to }) => to === from))?.id ?? null;
  const before = graph.nodes.filter((node) => edgesOf(node).some(({ to }) => to === from));
  const beside = [...new Set(before.flatMap((node) => edgesOf(node).map(({ to }) => to)).filter((to): to is string => to !== null))];
  const places = layout(graph);
  const own = places.get(from);
  const near = [...new Set([...beside, ...graph.nodes.filter((node) => Math.abs((places.get(node.id)?.x ?? 0) - (own?.x ?? 0)) < WIDTH / 2).map((node) => node.id)])]
    .filter((id) => id !== from && places.has(id))
    .map((id) => ({ id, dy: (places.get(id)?.y ?? 0) - (own?.y ?? 0) }))
    .filter(({ dy }) => (arrow === 'ArrowDown' ? dy > 0 : dy < 0))
    .sort((one, other) => Math.abs(one.dy) - Math.abs(other.dy));
  return near[0]?.id ?? null;
}

/** One or two lines that say what a step does. */
export function gist(step: Step): string {
  switch (step.type) {
    case 'converse': return textOf(step, 'prompt');
    case 'tool': return textOf(step, 'toolId');
    case 'transfer': return listOf<string>(step, 'transferNumbers').length > 0 ? listOf<string>(step, 'transferNumbers').map(maskedNumber).join(', ') : textOf(step, 'text');
    case 'message': return typeof step.template === 'string' ? step.template : textOf(step, 'text');
    case 'document': return textOf(step, 'label');
    case 'end': return textOf(step, 'outcome') || textOf(step, 'text');
    case 'branch': return listOf<Case>(step, 'cases').map((one) => one.variable ?? '').join(', ');
    default: return textOf(step, 'text');
  }
}
const maskedNumber = (number: string): string => (number.length > 6 ? `${number.slice(0, 5)}•••${number.slice(-3)}` : number);
export const exitWord = (step: Step, at: number): string => (listOf<Exit>(step, 'exits')[at]?.when ?? '');
