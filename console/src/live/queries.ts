// The live calls: read once, then changed by what the stream tells. Reading again is for calls that came or went.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { callIn, currentScope, scopeKey, useDeltas, type ApiError, type Delta, type Schemas } from '../api/index.ts';

type Speaker = Schemas['LiveSpeaker'];
export type Live = Schemas['LiveCall'] & { readonly name: string | null };
export interface LiveList { readonly calls: readonly Live[] }

const EVERY = 5_000;
const GATHER = 200;
const KEEP_TURNS = 200;

async function readAll(scope: ReturnType<typeof currentScope>, signal: AbortSignal): Promise<LiveList> {
  const calls: Schemas['LiveCall'][] = [];
  let cursor: string | undefined;
  do {
    const page = await callIn(scope, 'listLiveCalls', { query: { limit: 100, ...(cursor ? { cursor } : {}) }, signal });
    calls.push(...page.data);
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  const names = calls.length === 0 ? [] : (await Promise.all((['ringing', 'in_progress'] as const).map((state) => callIn(scope, 'listCalls', { query: { state, limit: 200 }, signal })))).flatMap((page) => page.data);
  const named = new Map(names.map((one) => [one.id, one.contactName]));
  return { calls: calls.map((one) => ({ ...one, name: named.get(one.id) ?? null })) };
}

/** All live calls. `opened` is the one whose unfinished words are shown, too. */
export function useLiveCalls(opened: string | null) {
  const client = useQueryClient();
  const scope = currentScope();
  const key = useRef<readonly unknown[]>([]);
  key.current = [scopeKey(scope), 'live:calls'];
  const read = useQuery<LiveList, ApiError>({
    queryKey: key.current, refetchInterval: EVERY, staleTime: 0, retry: 1, refetchOnWindowFocus: false,
    queryFn: async ({ signal }) => {
      const fresh = await readAll(scope, signal);
      const before = client.getQueryData<LiveList>(key.current)?.calls ?? [];
      return { calls: fresh.calls.map((one) => newer(one, before.find((other) => other.id === one.id))) };
    },
  });
  const gathered = useRef<Delta[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const flush = useCallback((): void => {
    timer.current = null;
    const deltas = gathered.current.splice(0);
    let again = false;
    client.setQueryData<LiveList>(key.current, (list) => {
      if (!list) return list;
      const byId = new Map(list.calls.map((one) => [one.id, one]));
      for (const delta of deltas) {
        const id = delta.topic.slice('call:'.length);
        const call = byId.get(id);
        if (!call) { again ||= delta.state !== 'ended'; continue; }
        if (delta.kind === 'state' && delta.state === 'ended') { byId.delete(id); continue; }
        byId.set(id, applied(call, delta));
      }
      return { calls: [...byId.values()] };
    });
    if (again) void client.invalidateQueries({ queryKey: key.current });
  }, [client]);
  useDeltas(opened ? ['live', `call:${opened}`] : ['live'], useCallback((delta: Delta) => {
    if (delta.topic === 'counts') return;
    gathered.current.push(delta);
    timer.current ??= setTimeout(flush, GATHER);
  }, [flush]));
  useEffect(() => () => { if (timer.current) clearTimeout(timer.current); }, []);
  return read;
}

/** An answer that is older than what was told meanwhile does not take it back. */
const newer = (read: Live, told: Live | undefined): Live => (told && told.seq > read.seq ? { ...told, state: read.state, since: read.since, costSoFarMinor: read.costSoFarMinor, name: read.name } : keepTurns(read, told));
/** The service sends the newest 40 turns; the page keeps those that it has seen. */
const keepTurns = (read: Live, told: Live | undefined): Live => {
  const first = read.turns[0]?.turn ?? 0;
  return { ...read, turns: [...(told?.turns ?? []).filter((turn) => turn.turn < first), ...read.turns].slice(-KEEP_TURNS) };
};

function applied(call: Live, delta: Delta): Live {
  const seq = Number(delta.seq ?? 0);
  if (delta.kind === 'state') return { ...call, state: delta.state as Live['state'] };
  if (seq !== 0 && seq <= call.seq) return call;
  const at = new Date().toISOString();
  switch (delta.kind) {
    case 'words': {
      const said = { turn: Number(delta.turn), who: delta.who as Speaker, text: String(delta.text), complete: delta.complete === true, at };
      const turns = [...call.turns.filter((one) => one.turn !== said.turn), { ...said, at: call.turns.find((one) => one.turn === said.turn)?.at ?? at }].sort((one, other) => one.turn - other.turn).slice(-KEEP_TURNS);
      return { ...call, seq, turns, flags: call.flags.filter((flag) => flag !== 'silent'), lastWords: said.complete ? { who: said.who, text: said.text, at } : call.lastWords };
    }
    case 'step': return { ...call, seq, step: delta.step as Live['step'] };
    case 'captured': return { ...call, seq, captured: { ...call.captured, [String(delta.field)]: delta.value } };
    case 'flag': return { ...call, seq, flags: [...new Set([...call.flags, delta.flag as Schemas['CallFlag']])] };
    default: return call;
  }
}
