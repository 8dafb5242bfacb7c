// What is known about the connection to the service. While it is lost, what is shown is old and nothing is changed.
import { useSyncExternalStore } from 'react';
import { clock } from '../parts/time.ts';
import { t } from '../parts/words.ts';

export type Connection = { readonly state: 'connecting' | 'live' | 'absent' } | { readonly state: 'lost'; readonly since: number };

let connection: Connection = { state: 'connecting' };
let lastHeard = Date.now();
const listeners = new Set<() => void>();

export function setConnection(state: 'connecting' | 'live' | 'absent' | 'lost'): void {
  if (state === connection.state) return;
  connection = state === 'lost' ? { state, since: lastHeard } : { state };
  listeners.forEach((listener) => listener());
}

/** Something came from the service just now. */
export function heard(): void { lastHeard = Date.now(); }

export const getConnection = (): Connection => connection;

/** Why nothing can be changed now, or null. */
export function connectionProblem(): string | null {
  return connection.state === 'lost' ? t('The connection is lost. Nothing was changed; the data is of {time}.', { time: clock(connection.since) }) : null;
}

export function useConnection(): Connection {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, getConnection);
}
