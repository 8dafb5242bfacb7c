// States, causes, gates and events of calls in words. Keys that the service does not name here are a customer's own: shown as they are.
import type { Schemas } from '../api/index.ts';
import { spelled, t, type Tone } from '../parts/index.ts';

type Call = Schemas['Call'];
export interface StateWord { readonly text: string; readonly tone: Tone }

export function stateWord(call: Pick<Call, 'state' | 'status' | 'endCause'>): StateWord {
  if (call.state === 'blocked') return { text: t('Blocked'), tone: 'rule' };
  if (call.state === 'ringing') return { text: t('Ringing'), tone: 'info' };
  if (call.state === 'in_progress') return { text: t('Talking'), tone: 'ok' };
  switch (call.status) {
    case 'no_answer': return { text: t('No answer'), tone: 'mute' };
    case 'busy': return { text: t('Busy'), tone: 'mute' };
    case 'cancelled': return { text: t('Hung up early'), tone: 'mute' };
    case 'failed': return { text: t('Failed'), tone: 'bad' };
    default: return call.endCause === 'voicemail' ? { text: t('Voicemail'), tone: 'mute' } : call.endCause === 'error' ? { text: t('Broke off'), tone: 'bad' } : { text: t('Ended'), tone: 'mute' };
  }
}

export function outcomeWord(outcome: string): StateWord {
  switch (outcome) {
    case 'opted_out': return { text: t('Asked not to be called'), tone: 'rule' };
    case 'transferred': return { text: t('Transferred'), tone: 'team' };
    case 'simulated': return { text: t('Simulated'), tone: 'mute' };
    default: return { text: spelled(outcome), tone: 'mute' };
  }
}

/** Why a call ended, as a sentence. */
export function causeText(cause: string): string {
  switch (cause) {
    case 'agent_ended': return t('The agent said goodbye, and it was heard.');
    case 'caller_hangup': return t('The other side hung up.');
    case 'silence_timeout': return t('Nobody spoke.');
    case 'max_duration': return t('The longest time was reached, or the wallet had no further minute.');
    case 'transfer_handoff': return t('A person took over.');
    case 'api_hangup': return t('It was ended from the console or by the API.');
    case 'error': return t('The service failed, or the workspace was suspended.');
    case 'no_answer': return t('Nobody picked up.');
    case 'busy': return t('The line was busy.');
    case 'voicemail': return t('A machine picked up.');
    case 'rejected': return t('The call was rejected.');
    case 'invalid_number': return t('There is no such number.');
    case 'not_connected': return t('Somebody picked up, but the agent could not start. Not charged.');
    case 'provider_error': return t('The carrier refused before a ring.');
    case 'possibly_placed': return t('The carrier’s answer was lost: the phone may have rung. It is never repeated.');
    default: return /^sip_\d+$/.test(cause) ? t('The carrier answered {code}.', { code: cause.slice(4) }) : spelled(cause);
  }
}

export function gateName(gate: string): string {
  switch (gate) {
    case 'dnd': return t('Do-not-call registry');
    case 'opt_out': return t('Opted out');
    case 'calling_window': return t('Calling hours');
    case 'frequency_cap': return t('Frequency');
    case 'consent': return t('Consent');
    case 'number_series': return t('Number series');
    default: return spelled(gate);
  }
}

export function directionText(direction: Schemas['Direction']): string {
  return direction === 'inbound' ? t('Incoming') : t('Outgoing');
}

export function answeredByText(who: Schemas['AnsweredBy']): string {
  switch (who) {
    case 'person': return t('a person');
    case 'voicemail': return t('a machine that takes messages');
    case 'screener': return t('an assistant that screens calls');
    case 'announcement': return t('an announcement of the operator');
    default: return spelled(who);
  }
}

export const isLive = (call: Pick<Call, 'state'>): boolean => call.state === 'ringing' || call.state === 'in_progress';
export const isErased = (call: Pick<Call, 'toNumber' | 'fromNumber' | 'direction'>): boolean => personNumber(call) === '[erased]';
/** The number of the person on the other side. */
export const personNumber = (call: Pick<Call, 'toNumber' | 'fromNumber' | 'direction'>): string => (call.direction === 'inbound' ? call.fromNumber : call.toNumber);
/** How the person is called: a name, or nothing that tells who it is. */
export const personName = (call: Pick<Call, 'contactName' | 'toNumber' | 'fromNumber' | 'direction'>): string => call.contactName ?? (isErased(call) ? t('Erased person') : t('Unknown person'));
