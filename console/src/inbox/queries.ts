// What the inbox reads and changes.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call, currentScope, invalidate, readKey, scopeKey, useMembership, useRead, useSend, type OperationId, type Schemas } from '../api/index.ts';
import type { View } from './words.ts';

const LISTS: readonly OperationId[] = ['listInbox', 'countInbox', 'getInboxChat'];

/** The id of the member who looks. */
export const useMyId = (): string | null => useMembership()?.memberId ?? null;
export const useChat = (id: string) => useRead('getInboxChat', { path: { id } }, { enabled: id !== '', fresh: 5_000 });
export const useCounts = (enabled: boolean) => useRead('countInbox', {}, { enabled, every: 60_000 });
export const useOldest = (enabled: boolean) => useRead('listInbox', { query: { view: 'waiting', limit: 1 } }, { enabled });
export const useNotes = (id: string) => useRead('listChatNotes', { path: { id }, query: { limit: 100 } });
export const useTeam = (enabled = true) => useRead('listInboxTeam', { query: { limit: 200 } }, { enabled });
export const useAnswers = () => useRead('listSavedAnswers', { query: { limit: 200 } }, { fresh: 60_000 });
/** Messages of the channel: files, ticks and faults of the chat's lines. */
export const useChannelMessages = (id: string, enabled: boolean) => useRead('listChannelMessages', { query: { chatId: id, limit: 200 } }, { enabled, fresh: 5_000 });

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
