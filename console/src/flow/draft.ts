// The draft while somebody edits it: saved 800 ms after the last change, undone over 100 steps, and never lost when somebody else saved.
import { useCallback, useEffect, useReducer, useRef } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { ApiError, callIn, currentScope, getConnection, invalidate, useConnection, type Schemas } from '../api/index.ts';
import { asGraph, same, type Graph } from './graph.ts';
import { merged } from './merge.ts';

const PAUSE = 800;
const UNDOES = 100;
const SAME_EDIT = 1_500;

type Issues = readonly Schemas['FlowIssue'][];
export interface Conflict { readonly base: Graph; readonly theirs: Graph; readonly version: number; readonly who: string | null }
interface State {
  readonly graph: Graph;
  /** The draft that the service has, as far as is known, and its number. */
  readonly saved: Graph;
  readonly version: number;
  readonly savedAt: string | null;
  readonly issues: readonly Schemas['FlowIssue'][];
  readonly undo: readonly Graph[];
  readonly redo: readonly Graph[];
  readonly edit: { readonly tag: string; readonly at: number };
  readonly saving: boolean;
  readonly error: ApiError | null;
  readonly conflict: Conflict | null;
}
type Event =
  | { is: 'change'; graph: Graph; tag: string; at: number } | { is: 'undo' } | { is: 'redo' } | { is: 'saving' } | { is: 'free' } | { is: 'failed'; error: ApiError }
  | { is: 'saved'; graph: Graph; version: number; issues: readonly Schemas['FlowIssue'][]; at: string } | { is: 'theirs'; flow: Schemas['Flow'] } | { is: 'conflict'; flow: Schemas['Flow'] }
  | { is: 'settle'; graph: Graph } | { is: 'adopt'; flow: Schemas['Flow'] };

export const began = (flow: Schemas['Flow']): State => {
  const graph = asGraph(flow.draft);
  return { graph, saved: graph, version: flow.draftVersion, savedAt: flow.updatedAt, issues: flow.issues, undo: [], redo: [], edit: { tag: '', at: 0 }, saving: false, error: null, conflict: null };
};
const keepTheirs = (): 'theirs' => 'theirs';
const keepMine = (): 'mine' => 'mine';

/** What may be undone is what I did: the changes of somebody else stay when it is. */
const onto = (list: readonly Graph[], base: Graph, theirs: Graph): readonly Graph[] => list.map((one) => merged(base, one, theirs, keepMine));

export function reduce(state: State, event: Event): State {
  switch (event.is) {
    case 'change': {
      if (event.graph === state.graph) return state;
      const joined = event.tag !== '' && event.tag === state.edit.tag && event.at - state.edit.at < SAME_EDIT;
      return { ...state, graph: event.graph, undo: joined ? state.undo : [...state.undo, state.graph].slice(-UNDOES), redo: [], edit: { tag: event.tag, at: event.at }, error: null };
    }
    case 'undo': {
      const before = state.undo.at(-1);
      return before ? { ...state, graph: before, undo: state.undo.slice(0, -1), redo: [...state.redo, state.graph], edit: { tag: '', at: 0 }, error: null } : state;
    }
    case 'redo': {
      const next = state.redo.at(-1);
      return next ? { ...state, graph: next, redo: state.redo.slice(0, -1), undo: [...state.undo, state.graph], edit: { tag: '', at: 0 }, error: null } : state;
    }
    case 'saving': return { ...state, saving: true, error: null };
    case 'free': return { ...state, saving: false };
    case 'failed': return { ...state, saving: false, error: event.error };
    case 'saved': return { ...state, saving: false, saved: event.graph, version: event.version, issues: event.issues, savedAt: event.at };
    case 'theirs': {
      // Somebody saved while nothing of mine waited.
      if (event.flow.draftVersion <= state.version || state.saving || state.conflict) return event.flow.draftVersion === state.version ? { ...state, issues: event.flow.issues, savedAt: event.flow.updatedAt } : state;
      const theirs = asGraph(event.flow.draft);
      if (!same(state.graph, state.saved)) return state;
      return { ...state, graph: theirs, saved: theirs, version: event.flow.draftVersion, issues: event.flow.issues, savedAt: event.flow.updatedAt, undo: onto(state.undo, state.saved, theirs), redo: onto(state.redo, state.saved, theirs) };
    }
    case 'conflict': return { ...state, saving: false, conflict: { base: state.saved, theirs: asGraph(event.flow.draft), version: event.flow.draftVersion, who: event.flow.updatedByName } };
    case 'settle': {
      const conflict = state.conflict;
      if (!conflict) return state;
      return { ...state, conflict: null, graph: event.graph, saved: conflict.theirs, version: conflict.version, undo: [...onto(state.undo, conflict.base, conflict.theirs), merged(conflict.base, state.graph, conflict.theirs, keepMine)].slice(-UNDOES), redo: [], edit: { tag: '', at: 0 } };
    }
    case 'adopt': {
      const graph = asGraph(event.flow.draft);
      return { ...state, graph, saved: graph, version: event.flow.draftVersion, issues: event.flow.issues, savedAt: event.flow.updatedAt, conflict: null, error: null, saving: false, undo: [...state.undo, state.graph].slice(-UNDOES), redo: [] };
    }
  }
}

export interface Draft extends State {
  readonly dirty: boolean;
  /** Changes the draft. Changes with the same tag within a moment are undone together. */
  change: (to: (graph: Graph) => Graph, tag?: string) => void;
  undoOne: () => void;
  redoOne: () => void;
  /** Saves at once, if something waits; the issues of what the service has then, or null if it has not. */
  flush: () => Promise<Issues | null>;
  settle: (graph: Graph) => void;
  takeTheirs: () => void;
  adopt: (flow: Schemas['Flow']) => void;
  /** While a version is restored, what the stream tells of it waits. */
  hold: (on: boolean) => void;
}

export function useDraft(id: string, flow: Schemas['Flow'], may: boolean): Draft {
  const [state, dispatch] = useReducer(reduce, flow, began);
  const now = useRef(state);
  now.current = state;
  const client = useQueryClient();
  const running = useRef<Promise<Issues | null> | null>(null);
  const dirty = !same(state.graph, state.saved);
  const scope = useRef(currentScope());

  const send = useCallback(async (): Promise<Issues | null> => {
    const { graph, version, saved, conflict, issues } = now.current;
    if (conflict) return null;
    if (same(graph, saved)) return issues;
    dispatch({ is: 'saving' });
    try {
      const { data } = await callIn(scope.current, 'saveFlow', { path: { id }, body: { graph: graph as Schemas['FlowGraph'], baseVersion: version } });
      now.current = { ...now.current, saved: graph, version: data.draftVersion };
      dispatch({ is: 'saved', graph, version: data.draftVersion, issues: data.issues, at: new Date().toISOString() });
      void invalidate(client, ['flows'], id);
      return data.issues;
    } catch (cause) {
      const error = cause instanceof ApiError ? cause : new ApiError({ status: 0, code: 'failed', message: String(cause) });
      if (error.code !== 'flow_conflict') { dispatch({ is: 'failed', error }); return null; }
      try {
        const theirs = await callIn(scope.current, 'getFlow', { path: { id } });
        dispatch({ is: 'conflict', flow: theirs.data });
      } catch { dispatch({ is: 'failed', error }); }
      return null;
    }
  }, [client, id]);

  const flush = useCallback(async (): Promise<Issues | null> => {
    while (running.current) await running.current;
    running.current = send();
    try { return await running.current; } finally { running.current = null; }
  }, [send]);

  useEffect(() => {
    if (!may || !dirty || state.saving || state.conflict || state.error) return undefined;
    const timer = setTimeout(() => void flush(), PAUSE);
    return () => clearTimeout(timer);
  }, [may, dirty, state.graph, state.saving, state.conflict, state.error, flush]);
  useEffect(() => dispatch({ is: 'theirs', flow }), [flow, state.saving]);

  // What a lost connection kept from being saved is saved when it is back.
  const connection = useConnection().state;
  useEffect(() => { if (connection === 'live' && now.current.error?.status === 0) void flush(); }, [connection, flush]);
  useEffect(() => {
    const leaving = (event: BeforeUnloadEvent): void => { if (!same(now.current.graph, now.current.saved)) event.preventDefault(); };
    addEventListener('beforeunload', leaving);
    return () => { removeEventListener('beforeunload', leaving); if (may && getConnection().state !== 'lost') void flush(); };
  }, [flush, may]);

  const change = useCallback((to: (graph: Graph) => Graph, tag = ''): void => {
    const graph = to(now.current.graph);
    dispatch({ is: 'change', graph, tag, at: Date.now() });
    now.current = { ...now.current, graph };
  }, []);
  return {
    ...state, dirty, change, flush,
    undoOne: useCallback(() => dispatch({ is: 'undo' }), []),
    redoOne: useCallback(() => dispatch({ is: 'redo' }), []),
    settle: useCallback((graph: Graph) => dispatch({ is: 'settle', graph }), []),
    takeTheirs: useCallback(() => { const { conflict } = now.current; if (conflict) dispatch({ is: 'settle', graph: merged(conflict.base, now.current.graph, conflict.theirs, keepTheirs) }); }, []),
    hold: useCallback((on: boolean) => dispatch({ is: on ? 'saving' : 'free' }), []),
    adopt: useCallback((answer: Schemas['Flow']) => dispatch({ is: 'adopt', flow: answer }), []),
  };
}
