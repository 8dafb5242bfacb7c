// One connection a browser for each workspace and mode: the tab that holds the lock reads, and tells the others over a channel.
import type { QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { heard, setConnection } from './connection.ts';
import { events, type StreamEvent } from './events.ts';
import { currentScope, scopeKey, type Scope } from './scope.ts';
import { signedInAgain } from './sign-in-gate.ts';
import { BASE_TOPICS } from './topics.ts';
import { Changes } from './changes.ts';

/** A change that is told by value: words of a call, a step, counts. See docs/contract/live.md#deltas. */
export interface Delta { readonly topic: string; readonly kind?: string; readonly [member: string]: unknown }
type Word = { say: 'event'; event: StreamEvent } | { say: 'state'; state: 'live' | 'lost' | 'absent' } | { say: 'want'; tab: string; topics: string[] } | { say: 'who' };

const changes = new Changes();
/** Until the page that is loaded has said what it wants, so that the connection is not made twice. */
const SETTLES = 120;
const TAB = Math.random().toString(36).slice(2);
const EXTRA = 32 - BASE_TOPICS.length;
const wanted = new Map<string, number>();
const deltas = new Set<(delta: Delta) => void>();
let changed: () => void = () => undefined;

/** Follows the stream while the page is open: `call:{id}`, `chat:{id}` or `live` beside the topics that are always told. */
export function useDeltas(topics: readonly string[], listener: (delta: Delta) => void): void {
  const names = topics.join(' ');
  useEffect(() => {
    const mine = names === '' ? [] : names.split(' ');
    const hear = (delta: Delta): void => { if (mine.includes(delta.topic) || delta.topic === 'counts') listener(delta); };
    deltas.add(hear);
    for (const topic of mine) wanted.set(topic, (wanted.get(topic) ?? 0) + 1);
    changed();
    return () => {
      deltas.delete(hear);
      for (const topic of mine) { const left = (wanted.get(topic) ?? 1) - 1; if (left > 0) wanted.set(topic, left); else wanted.delete(topic); }
      changed();
    };
  }, [names, listener]);
}

/** Keeps the answers of the workspace of the address new, until the function that it returns is called. */
export function follow(client: QueryClient): () => void {
  const scope = currentScope();
  if (!scope) return () => undefined;
  const ended = new AbortController();
  const channel = new BroadcastChannel(`stream:${scopeKey(scope)}`);
  const others = new Map<string, string[]>();
  let again: AbortController | null = null;

  const take = (word: Word): void => {
    heard();
    if (word.say === 'event') apply(client, word.event);
    if (word.say === 'state') {
      setConnection(word.state);
      // Who was removed, or whose workspace was suspended, has no stream any more.
      if (word.state === 'absent') void client.invalidateQueries();
    }
  };
  const tell = (word: Word): void => { channel.postMessage(word); take(word); };
  const topics = (): string[] => [...new Set([...wanted.keys(), ...[...others.values()].flat()])].slice(-EXTRA).sort();
  const want = (): void => { channel.postMessage({ say: 'want', tab: TAB, topics: [...wanted.keys()] } satisfies Word); again?.abort('topics'); };
  channel.onmessage = ({ data }: MessageEvent<Word>) => {
    if (data.say === 'who') return want();
    if (data.say !== 'want') return take(data);
    if (topics().join() !== (others.set(data.tab, data.topics), topics().join())) again?.abort('topics');
  };
  changed = want;
  channel.postMessage({ say: 'want', tab: TAB, topics: [...wanted.keys()] } satisfies Word);
  setConnection('connecting');
  void navigator.locks.request(`stream:${scopeKey(scope)}`, { signal: ended.signal }, async () => {
    channel.postMessage({ say: 'who' } satisfies Word);
    await lead(scope, topics, tell, ended.signal, (controller) => { again = controller; });
  }).catch(() => undefined);
  return () => {
    channel.postMessage({ say: 'want', tab: TAB, topics: [] } satisfies Word);
    ended.abort();
    changed = () => undefined;
    channel.close();
  };
}

async function lead(scope: Scope, topics: () => string[], tell: (word: Word) => void, ended: AbortSignal, holds: (one: AbortController) => void): Promise<void> {
  let last: string | null = null;
  let waits = 0;
  await pause(SETTLES, ended);
  while (!ended.aborted) {
    const one = new AbortController();
    holds(one);
    const stop = (): void => one.abort('ended');
    ended.addEventListener('abort', stop);
    try {
      const address = `/console/api/${scope.workspace}/${scope.test ? 'test' : 'live'}/v1/stream?topics=${[...BASE_TOPICS, ...topics()].join(',')}`;
      const answer: Response = await fetch(address, { headers: last ? { accept: 'text/event-stream', 'last-event-id': last } : { accept: 'text/event-stream' }, signal: one.signal });
      if (answer.status === 401) { await signedInAgain(); continue; }
      if (answer.status === 404 || answer.status === 403) { tell({ say: 'state', state: 'absent' }); return; }
      if (!answer.ok || !answer.body) throw new Error(String(answer.status));
      for await (const event of events(answer.body, one)) {
        if (event.id) last = event.id;
        if (event.event === 'ready') { waits = 0; tell({ say: 'state', state: 'live' }); }
        tell({ say: 'event', event });
      }
      if (!ended.aborted) tell({ say: 'state', state: 'lost' });
    } catch {
      if (one.signal.reason === 'topics') continue;
      if (!ended.aborted) tell({ say: 'state', state: 'lost' });
    } finally {
      ended.removeEventListener('abort', stop);
    }
    if (!ended.aborted) await pause(Math.min(15_000, 500 * 2 ** waits++), ended);
  }
}

function pause(milliseconds: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => { clearTimeout(timer); removeEventListener('online', over); resolve(); };
    const timer = setTimeout(over, milliseconds);
    addEventListener('online', over);
    ended.addEventListener('abort', over, { once: true });
  });
}

function apply(client: QueryClient, { event, data }: StreamEvent): void {
  if (event === 'reset' || (event === 'ready' && data.resumed === false)) void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === scopeKey(currentScope()) });
  if (event === 'invalidate') changes.add(client, String(data.topic), typeof data.id === 'string' ? data.id : null);
  if (event === 'delta') deltas.forEach((hear) => hear(data as Delta));
}
