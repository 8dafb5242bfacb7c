// Codes of the service in the words of the page.
import type { Schemas } from '../api/index.ts';
import { currentLanguage, t, type Tone } from '../parts/index.ts';

export type Entry = Schemas['InboxEntry'];
export type Detail = Schemas['InboxEntryDetail'];
export type View = 'waiting' | 'mine' | 'open' | 'ended';
export const VIEWS: readonly View[] = ['waiting', 'mine', 'open', 'ended'];
export const isView = (text: string): text is View => (VIEWS as readonly string[]).includes(text);

export function viewName(view: View): string {
  switch (view) {
    case 'waiting': return t('Waiting');
    case 'mine': return t('Yours');
    case 'open': return t('All open');
    case 'ended': return t('Ended');
  }
}

/** Why a chat waits for a person. */
export function handoffWords(reason: string | null): string {
  switch (reason) {
    case null: return t('Asked for a person');
    case 'ai_error': return t('The agent could not answer');
    case 'window_closed': return t('The 24 hours are over');
    case 'number_unavailable': return t('The number cannot send');
    case 'template_unavailable': case 'template_not_found': return t('A template cannot be sent');
    case 'opt_in_required': return t('The opt-in is missing');
    case 'recipient_unsupported': return t('The customer cannot get this message');
    case 'invalid_message': return t('A message could not be sent');
    case 'agent_unavailable': return t('The agent is not published');
    case 'outside_business_hours': return t('Outside business hours');
    case 'insufficient_balance': return t('The wallet does not cover it');
    default: return reason;
  }
}

export function endWords(cause: Schemas['ChatEndCause'] | null): string {
  switch (cause) {
    case 'completed': return t('Ended over the API');
    case 'agent_ended': return t('The agent ended it');
    case 'human_ended': return t('A teammate ended it');
    case 'idle_timeout': return t('Nobody wrote any more');
    case 'no_reply': return t('The customer never wrote');
    case 'max_duration': return t('It reached its longest duration');
    case 'opted_out': return t('The customer asked for no more messages');
    case 'template_failed': return t('Its first message did not arrive');
    case 'ai_unavailable': return t('The agent could not take it');
    case 'erased': return t('The person was erased');
    case 'abandoned': return t('The workspace was suspended');
    case null: return t('Ended');
  }
}

/** Who has the chat, as a state. */
export function holder(entry: Entry, me: string | null): { tone: Tone; text: string; name: boolean } {
  if (entry.state === 'ended') return { tone: 'mute', text: endWords(entry.endCause), name: false };
  if (entry.helpdesk !== null) return { tone: 'team', text: entry.helpdesk, name: true };
  if (entry.state === 'awaiting_human') return { tone: 'wait', text: handoffWords(entry.handoffReason), name: false };
  if (entry.state === 'human' && entry.assignedTo) return entry.assignedTo.userId === me ? { tone: 'team', text: t('You'), name: false } : { tone: 'team', text: entry.assignedTo.name, name: true };
  if (entry.state === 'human') return { tone: 'team', text: t('A teammate'), name: false };
  return { tone: 'accent', text: entry.agentName, name: true };
}

/** The customer's name, or what else is known of them. */
export function customerName(entry: Entry): { text: string; known: boolean } {
  const name = entry.customer?.name ?? entry.customer?.username;
  if (name) return { text: name, known: true };
  if (entry.externalRef) return { text: entry.externalRef, known: true };
  return { text: t('Visitor {code}', { code: entry.id.slice(-4).toUpperCase() }), known: false };
}

const unit = (n: number, name: 'minute' | 'hour' | 'day'): string =>
  new Intl.NumberFormat(currentLanguage() === 'hi' ? 'hi-IN' : 'en-IN', { style: 'unit', unit: name, unitDisplay: 'short', numberingSystem: 'latn' } as Intl.NumberFormatOptions).format(n);

/** `6 min`, `2 hr`: how long ago, without a direction. */
export function ago(at: string, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(at)) / 60_000));
  if (minutes < 1) return t('now');
  if (minutes < 60) return unit(minutes, 'minute');
  return minutes < 48 * 60 ? unit(Math.floor(minutes / 60), 'hour') : unit(Math.floor(minutes / 1_440), 'day');
}

/** `22 hr 54 min` */
export function hoursLeft(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  const hours = Math.floor(minutes / 60);
  return hours > 0 ? `${unit(hours, 'hour')} ${unit(minutes % 60, 'minute')}` : unit(minutes, 'minute');
}
