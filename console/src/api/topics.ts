// Which topics of the stream make an answer old. The first that fits the path of an operation decides.
import { OPERATIONS, type OperationId } from './operations.ts';

const TOPICS: readonly (readonly [beginning: string, topics: readonly string[]])[] = [
  ['/v1/calls/live', ['live', 'calls']],
  ['/v1/calls', ['calls']],
  ['/v1/recordings', ['calls']],
  ['/v1/agents/{id}/board', ['boards', 'cards']],
  ['/v1/agents/{id}/flow', ['flows', 'agents']],
  ['/v1/agents', ['agents', 'flows']],
  ['/v1/campaigns/{id}/board', ['boards', 'cards']],
  ['/v1/campaigns', ['campaigns']],
  ['/v1/campaign-runs', ['campaigns']],
  ['/v1/inbox', ['chats', 'conversations', 'messages']],
  ['/v1/chats', ['chats']],
  ['/v1/chat/', ['chats']],
  ['/v1/saved-answers', ['settings']],
  ['/v1/chatapp/templates', ['templates']],
  ['/v1/chatapp/numbers', ['numbers']],
  ['/v1/chatapp', ['conversations', 'messages']],
  ['/v1/contacts', ['contacts']],
  ['/v1/dnc', ['do_not_call']],
  ['/v1/nudges', ['nudges']],
  ['/v1/scheduled-calls', ['scheduled_calls']],
  ['/v1/knowledge-bases', ['knowledge']],
  ['/v1/tools', ['tools']],
  ['/v1/data-streams', ['streams']],
  ['/v1/numbers', ['numbers']],
  ['/v1/wallet', ['wallet']],
  ['/v1/webhooks', ['webhooks']],
  ['/v1/members', ['members']],
  ['/v1/workspace', ['settings']],
  ['/v1/attention', ['attention']],
  ['/v1/notifications', ['bell']],
];

/** Every topic that a page is told of without asking. */
export const BASE_TOPICS: readonly string[] = [
  'agents', 'flows', 'calls', 'campaigns', 'boards', 'cards', 'chats', 'conversations', 'messages', 'contacts', 'do_not_call', 'nudges', 'scheduled_calls',
  'documents', 'knowledge', 'templates', 'tools', 'streams', 'integrations', 'numbers', 'wallet', 'webhooks', 'keys', 'members', 'settings', 'attention', 'bell',
];

export function topicsOf(operation: string): readonly string[] {
  const path = OPERATIONS[operation as OperationId]?.[1];
  return path ? TOPICS.find(([beginning]) => path.startsWith(beginning))?.[1] ?? [] : [];
}
