import { millis, t, type Tone } from '../parts/index.ts';
import type { Schemas } from '../api/index.ts';

export type Endpoint = Schemas['WebhookEndpoint'];
export type Delivery = Schemas['Delivery'];
export type EventType = Schemas['EventType'];
type Attempt = Schemas['DeliveryAttempt'];

/** Every type that can be subscribed to and sent as a sample, in the order of the guide. */
export const EVENT_TYPES: readonly EventType[] = [
  'call.started', 'call.completed', 'call.failed', 'call.transferred', 'transcript.ready', 'recording.ready', 'outcome.captured', 'nudge.scheduled', 'nudge.dialing', 'nudge.attempt_ended', 'nudge.finished',
  'scheduled_call.cancelled', 'contact.opted_out', 'campaign.finished', 'board.card_moved', 'wallet.low', 'stream.record_rejected', 'chat.started', 'chat.completed', 'chat.analyzed', 'chat.handoff_requested',
  'chat.taken_over', 'chat.handed_back', 'chat.assigned', 'chat.evaluated', 'message.received', 'message.sent', 'message.delivered', 'message.read', 'message.failed', 'document.received', 'document.updated',
  'chatapp.template.updated', 'chatapp.number_quality_changed', 'chatapp.account_restricted', 'chatapp.number_ai_paused', 'webhook.test',
];
/** These must be named: 'every event' does not include them. */
export const mustBeNamed = (type: string): boolean => type.startsWith('message.') || type === 'chat.evaluated';

export function deliveryState(delivery: Delivery): { tone: Tone; text: string } {
  switch (delivery.status) {
    case 'succeeded': return { tone: 'pass', text: t('Delivered') };
    case 'failed': return { tone: 'bad', text: t('Failed') };
    case 'pending': return delivery.attempts.length === 0 ? { tone: 'info', text: t('On the way') } : { tone: 'wait', text: t('Tried again later') };
  }
}

/** The answer of the receiver in a line: `500 in 12 ms`, or why there was none. */
export function answerOf(attempt: Attempt | undefined): string {
  if (!attempt) return '–';
  if (attempt.status !== null) return t('{status} in {time}', { status: attempt.status, time: millis(attempt.durationMs) });
  return attempt.error ?? t('No answer');
}

/** The resources of scopes with what may be done with each. */
export const SCOPES: readonly (readonly [resource: string, actions: readonly string[]])[] = [
  ['agents', ['read', 'write']], ['calls', ['read', 'write']], ['nudges', ['read', 'write']], ['campaigns', ['read', 'write']], ['contacts', ['read', 'write', 'erase']], ['numbers', ['read', 'write']],
  ['chat', ['read', 'write']], ['chatapp', ['read', 'write']], ['knowledge', ['read', 'write']], ['streams', ['read', 'write']], ['webhooks', ['read', 'write']], ['compliance', ['read']], ['billing', ['read']],
];
export function resourceName(resource: string): string {
  switch (resource) {
    case 'agents': return t('Agents');
    case 'calls': return t('Calls');
    case 'nudges': return t('Nudges');
    case 'campaigns': return t('Campaigns');
    case 'contacts': return t('Contacts');
    case 'numbers': return t('Numbers');
    case 'chat': return t('Chats');
    case 'chatapp': return t('Messaging');
    case 'knowledge': return t('Knowledge');
    case 'streams': return t('Streams');
    case 'webhooks': return t('Webhooks');
    case 'compliance': return t('Compliance');
    case 'billing': return t('Wallet');
    default: return resource;
  }
}
export function actionName(action: string): string {
  switch (action) {
    case 'read': return t('Read');
    case 'write': return t('Change');
    case 'erase': return t('Erase people');
    default: return action;
  }
}
