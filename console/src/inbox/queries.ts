// What the inbox reads and changes.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call, currentScope, invalidate, readKey, scopeKey, useMembership, useRead, useSend, type OperationId, type Schemas } from '../api/index.ts';
import { useCursorRows } from '../parts/index.ts';
import type { View } from './entries.ts';

const LISTS: readonly OperationId[] = ['listInbox', 'countInbox', 'getInboxChat'];

/** The id of the member who looks. */
export const useMyId = (): string | null => useMembership()?.memberId ?? null;
export const useChat = (id: string) => useRead('getInboxChat', { path: { id } }, { enabled: id !== '', fresh: 5_000 });
export const useCounts = (enabled: boolean) => useRead('countInbox', {}, { enabled, every: 60_000 });
export const useOldest = (enabled: boolean) => useRead('listInbox', { query: { view: 'waiting', limit: 1 } }, { enabled });
export const useTeam = () => useAll<Schemas['InboxMember']>('listInboxTeam', {});
export const useAnswers = () => useAll<Schemas['SavedAnswer']>('listSavedAnswers', {});
export const useNotes = (id: string) => useAll<Schemas['ChatNote']>('listChatNotes', { path: { id } });
/** Messages of the channel: files, ticks and faults of the chat's lines. */
export const useChannelMessages = (id: string, enabled: boolean) => useAll<Schemas['ChannelMessage']>('listChannelMessages', { query: { chatId: id } }, enabled);

/** All pages of a list that is shown whole. */
function useAll<T>(operation: OperationId, input: { path?: Record<string, string>; query?: object }, enabled = true) {
  const rows = useCursorRows<T>(operation, input, 100, { enabled });
  const { all, hasMore, want } = rows;
  useEffect(() => { if (hasMore) want(0, all.length); }, [hasMore, all.length, want]);
  return rows;
}

const alters = { alters: LISTS };
export const useTake = () => useSend('takeInboxChat', alters);
export const useAssign = () => useSend('assignInboxChat', alters);
export const useHandBack = () => useSend('handInboxChatBack', alters);
export const useEnd = () => useSend('endInboxChat', alters);
export const useWrite = () => useSend('writeInboxMessage', { alters: [...LISTS, 'listChannelMessages'] });
export const useWriteNote = () => useSend('createChatNote', { alters: ['listChatNotes'] });

/** Reads a chat again after a refusal: somebody else has changed it. */
export function useReadAgain(): () => void {
  const client = useQueryClient();
  return () => { void invalidate(client, ['chats', 'conversations', 'messages'], null); };
}

/** Moves the member's read mark to the newest message while the chat is looked at. */
export function useReadMark(chat: Schemas['InboxEntryDetail'] | undefined): void {
  const client = useQueryClient();
  const last = chat?.messages.at(-1)?.seq ?? 0;
  const id = chat?.id;
  const unread = chat?.unread ?? 0;
  useEffect(() => {
    if (!id || last === 0 || unread === 0) return;
    const mark = (): void => {
      if (document.visibilityState !== 'visible') return;
      document.removeEventListener('visibilitychange', mark);
      call('markInboxChatRead', { path: { id }, body: { upTo: last } }).then(({ data }) => {
        client.setQueryData<Schemas['InboxEntryDetailResponse']>(readKey('getInboxChat', { path: { id } }), (before) => (before ? { data: { ...before.data, unread: data.unread } } : before));
        void client.invalidateQueries({ queryKey: [scopeKey(currentScope()), 'listInbox'] });
      }, () => undefined);
    };
    mark();
    document.addEventListener('visibilitychange', mark);
    return () => document.removeEventListener('visibilitychange', mark);
  }, [id, last, unread, client]);
}

/** The time, renewed every half minute: rings and ages. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => { const timer = setInterval(() => setNow(Date.now()), 30_000); return () => clearInterval(timer); }, []);
  return now;
}

export const viewInput = (view: View) => ({ query: { view } });
