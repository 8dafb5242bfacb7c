// A hundred calls change a hundred times a second together. What they make old is read again at once, and then at most every two seconds.
import type { QueryClient } from '@tanstack/react-query';
import { ME, invalidate } from './use.ts';

const REST = 2_000;
const MANY = 20;

/** The topic of one object is told as those of its lists. */
function named(topic: string): readonly string[] {
  if (topic.startsWith('call:')) return ['calls', 'live'];
  return topic.startsWith('chat:') ? ['chats', 'conversations', 'messages'] : [topic];
}

export class Changes {
  /** By topic: the ids that changed since it was read, or null for all of them. */
  readonly #told = new Map<string, Set<string> | null>();
  readonly #resting = new Set<string>();

  add(client: QueryClient, topic: string, id: string | null): void {
    const before = this.#told.get(topic);
    if (id === null || before === null || (before && before.size >= MANY)) this.#told.set(topic, null);
    else this.#told.set(topic, (before ?? new Set()).add(id));
    if (!this.#resting.has(topic)) this.#read(client, topic);
  }

  #read(client: QueryClient, topic: string): void {
    const ids = this.#told.get(topic);
    if (ids === undefined) return;
    this.#told.delete(topic);
    // Another role takes effect with the next request: what it may is read again.
    if (topic === 'members') void client.invalidateQueries({ queryKey: ME });
    for (const id of ids === null ? [null] : ids) void invalidate(client, named(topic), id);
    this.#resting.add(topic);
    setTimeout(() => { this.#resting.delete(topic); this.#read(client, topic); }, REST);
  }
}
