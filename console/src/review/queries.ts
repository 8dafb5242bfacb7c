import { useRead, type Schemas } from '../api/index.ts';
import { dayBegin, dayEnd, type DayRange } from '../parts/index.ts';

export type Criterion = Schemas['NewEvaluationCriterion'];
export type Kind = Schemas['GradedConversation'];
export const MOST_CRITERIA = 20;
export const MOST_TRIED = 10;

/** Finished conversations in which the customer said something come first in what can be tried. */
export interface Candidate { readonly id: string; readonly name: string | null; readonly at: string; readonly outcome: string | null }

export function useCandidates(agentId: string, kind: Kind): { list: readonly Candidate[]; loading: boolean } {
  const calls = useRead('listCalls', { query: { agentId, state: 'ended', limit: 50 } }, { enabled: kind === 'call' });
  const chats = useRead('listInbox', { query: { view: 'ended', limit: 100 } }, { enabled: kind === 'chat' });
  if (kind === 'call') return { loading: calls.isPending, list: (calls.data?.data ?? []).filter((call) => call.answered).map((call) => ({ id: call.id, name: call.contactName, at: call.startedAt, outcome: call.outcome })) };
  return { loading: chats.isPending, list: (chats.data?.data ?? []).filter((chat) => chat.agentId === agentId).map((chat) => ({ id: chat.id, name: chat.customer?.name ?? null, at: chat.startedAt, outcome: null })) };
}

export const rangeOf = ({ start, end }: DayRange): { from: string; to: string } => ({ from: dayBegin(start), to: dayEnd(end) });

/** `Was it polite?` becomes `was_it_polite`. */
export function keyFrom(name: string, taken: readonly string[]): string {
  const base = name.normalize('NFKD').toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^[^a-z]+|_+$/g, '').slice(0, 60) || 'criterion';
  let key = base;
  for (let n = 2; taken.includes(key); n += 1) key = `${base}_${n}`;
  return key;
}
