// The lines of a conversation: messages with what the channel says of them, notes, and what happened, by time.
import type { Schemas } from '../api/index.ts';
import { t } from '../parts/index.ts';
import { endWords, handoffWords, type Detail } from './entries.ts';

export type ChannelMessage = Schemas['ChannelMessage'];
export type Line =
  | { readonly kind: 'message'; readonly key: string; readonly at: string; readonly message: Schemas['InboxMessage']; readonly sent: readonly ChannelMessage[] }
  | { readonly kind: 'note'; readonly key: string; readonly at: string; readonly note: Schemas['ChatNote'] }
  | { readonly kind: 'event'; readonly key: string; readonly at: string; readonly text: string; readonly name?: string };

export function linesOf(chat: Detail, notes: readonly Schemas['ChatNote'][], channel: readonly ChannelMessage[], me: string | null): readonly Line[] {
  const sent = matched(chat.messages, channel);
  const lines: Line[] = chat.messages.map((message, at) => ({ kind: 'message', key: `m${message.seq}`, at: message.at, message, sent: sent[at] ?? [] }));
  const others: Line[] = [...notes.map((note): Line => ({ kind: 'note', key: note.id, at: note.createdAt, note })), ...events(chat, me)];
  return merged(lines, others.sort((a, b) => a.at.localeCompare(b.at)));
}

/** Messages keep the order of the service; the rest goes behind what was written before it. */
function merged(lines: readonly Line[], others: readonly Line[]): readonly Line[] {
  const all: Line[] = [];
  let at = 0;
  for (const other of others) {
    while (at < lines.length && (lines[at]?.at ?? '') <= other.at) all.push(lines[at++] as Line);
    all.push(other);
  }
  return [...all, ...lines.slice(at)];
}

function events(chat: Detail, me: string | null): Line[] {
  const found: Line[] = [];
  if (chat.waitingSince !== null) found.push({ kind: 'event', key: 'waits', at: chat.waitingSince, text: chat.handoffReason === null ? t('{name} asked for a person') : t('It waits for a person: {reason}', { reason: handoffWords(chat.handoffReason) }), name: chat.agentName });
  if (chat.state === 'human' && chat.assignedAt !== null && chat.assignedTo) found.push({ kind: 'event', key: 'has', at: chat.assignedAt, text: chat.assignedTo.userId === me ? t('You have the chat') : t('{name} has the chat'), name: chat.assignedTo.name });
  if (chat.endedAt !== null) found.push({ kind: 'event', key: 'ended', at: chat.endedAt, text: t('The chat is over: {reason}', { reason: endWords(chat.endCause) }) });
  return found;
}

/** Which messages of the channel carried each line. One line of an agent may have been several messages. */
function matched(messages: readonly Schemas['InboxMessage'][], channel: readonly ChannelMessage[]): readonly (readonly ChannelMessage[])[] {
  const queues = { inbound: [] as ChannelMessage[], outbound: [] as ChannelMessage[] };
  for (const one of [...channel].reverse()) queues[one.direction].push(one);
  return messages.map((message) => {
    const queue = queues[message.role === 'user' ? 'inbound' : 'outbound'];
    const found: ChannelMessage[] = [];
    for (let ahead = 0; ahead < Math.min(queue.length, 8) && found.length === 0; ahead += 1) {
      if (!carries(message.text, queue[ahead] as ChannelMessage)) continue;
      queue.splice(0, ahead);
      while (queue[0] && carries(message.text, queue[0]) && (found.length === 0 || message.text.includes('\n\n'))) found.push(queue.shift() as ChannelMessage);
    }
    return found;
  });
}

function carries(text: string, sent: ChannelMessage): boolean {
  if (sent.text && (text === sent.text || text.endsWith(sent.text) || text.split('\n\n').includes(sent.text))) return true;
  return sent.media !== null && text.startsWith('[');
}

/** The words of a line without the mark of its file: `[document: receipt.pdf] words` is `words`. */
export const wordsOf = (text: string, sent: readonly ChannelMessage[]): string => (sent.some((one) => one.media) ? text.replace(/^\[[^\]]*\]\s*/, '') : text);
