import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { ApiError, callIn, currentScope, type Schemas } from '../api/index.ts';
import type { Graph } from './graph.ts';
import { edgeKey } from './words.tsx';

type View = Schemas['FlowTryView'];
type Turn = Schemas['TryTurn'];
export interface Try {
  readonly view: View | null;
  readonly turns: readonly Turn[];
  readonly busy: boolean;
  readonly error: ApiError | null;
  readonly values: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<string, string>>;
  readonly wrongAnswer: string | null;
  readonly nobodyFree: boolean;
  /** Whether the flow is another one than the run began with. */
  readonly stale: boolean;
  /** The step that the run is at and those that it has been at; the edges that it took. */
  readonly marks: ReadonlyMap<string, 'at' | 'been'>;
  readonly taken: ReadonlySet<string>;
  setValue: (name: string, value: string) => void;
  setAnswer: (tool: string, value: string) => void;
  setNobodyFree: (on: boolean) => void;
  begin: () => void;
  again: () => void;
  reset: () => void;
  say: (text: string, failed: () => void) => void;
  handIn: () => void;
  back: (turn: number, done: () => void) => void;
}

function toolResults(answers: Readonly<Record<string, string>>): { given: Schemas['TryToolResult'][]; wrong: string | null } {
  const given: Schemas['TryToolResult'][] = [];
  for (const [toolId, text] of Object.entries(answers)) {
    if (text.trim() === '') continue;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return { given, wrong: toolId };
      given.push({ toolId, value: value as Record<string, unknown> });
    } catch { return { given, wrong: toolId }; }
  }
  return { given, wrong: null };
}

export function useTry(agent: string, graph: Graph): Try {
  const [view, setView] = useState<View | null>(null);
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [answers, setAnswers] = useState<Readonly<Record<string, string>>>({});
  const [wrongAnswer, setWrong] = useState<string | null>(null);
  const [nobodyFree, setNobodyFree] = useState(false);
  const [ran, setRan] = useState<Graph | null>(null);
  const open = useRef<string | null>(null);
  const scope = useRef(currentScope());

  const close = useCallback((): void => {
    const id = open.current;
    open.current = null;
    if (id) void callIn(scope.current, 'endFlowTry', { path: { id: agent, try: id } }).catch(() => undefined);
  }, [agent]);
  useEffect(() => close, [close]);

  const working = useRef(false);
  const act = async (work: () => Promise<View>, add: (before: readonly Turn[], next: View) => readonly Turn[], failed?: () => void): Promise<void> => {
    if (working.current) { failed?.(); return; }
    working.current = true;
    setBusy(true);
    setError(null);
    try {
      const next = await work();
      open.current = next.id;
      setView(next);
      setTurns((before) => add(before, next));
    } catch (cause) {
      setError(cause instanceof ApiError ? cause : new ApiError({ status: 0, code: 'failed', message: String(cause) }));
      failed?.();
    } finally {
      working.current = false;
      setBusy(false);
    }
  };
  const path = { id: agent, try: view?.id ?? '' };
  const more = (): { toolResults?: Schemas['TryToolResult'][]; transfer?: boolean } => {
    const { given } = toolResults(answers);
    return { ...(given.length > 0 ? { toolResults: given } : {}), ...(nobodyFree ? { transfer: false } : {}) };
  };
  const begin = (): void => {
    const { wrong } = toolResults(answers);
    setWrong(wrong);
    if (wrong !== null || busy) return;
    close();
    setRan(graph);
    const variables = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
    void act(async () => (await callIn(scope.current, 'tryFlow', { path: { id: agent }, body: { graph: graph as Schemas['FlowGraph'], variables, ...more() } })).data, (_, next) => [next.turn]);
  };
  const marks = useMemo(() => {
    const found = new Map<string, 'at' | 'been'>();
    for (const turn of turns) for (const edge of turn.edges) { if (edge.from) found.set(edge.from, 'been'); found.set(edge.to, 'been'); }
    const at = view?.stopped?.stepId ?? view?.stepId;
    if (at) found.set(at, 'at');
    return found;
  }, [turns, view]);
  const taken = useMemo(() => new Set(turns.flatMap((turn) => turn.edges.map((edge) => edgeKey(edge.from, edge.edge)))), [turns]);
  return {
    view, turns, busy, error, values, answers, wrongAnswer, nobodyFree, marks, taken, begin, stale: ran !== null && ran !== graph,
    setValue: (name, value) => setValues((before) => ({ ...before, [name]: value })),
    setAnswer: (tool, value) => { setAnswers((before) => ({ ...before, [tool]: value })); setWrong(null); },
    setNobodyFree,
    again: begin,
    reset: () => { close(); setView(null); setTurns([]); setError(null); },
    say: (text, failed) => void act(async () => (await callIn(scope.current, 'sendTryMessage', { path, body: { text, ...more() } })).data, (before, next) => [...before, next.turn], failed),
    handIn: () => void act(async () => (await callIn(scope.current, 'sendTryMessage', { path, body: { document: true, ...more() } })).data, (before, next) => [...before, next.turn]),
    back: (turn, done) => void act(async () => { const { data } = await callIn(scope.current, 'goBackInTry', { path, body: { turn } }); done(); return data; }, (before, next) => before.filter((one) => one.turn <= next.turn.turn)),
  };
}
