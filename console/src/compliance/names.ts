import { t, type Tone } from '../parts/index.ts';
import type { Schemas } from '../api/index.ts';

export type Chain = Schemas['LogChain'];
export type LogRecord = Schemas['LogRecord'];
export interface Gate { readonly gate: string; readonly verdict: string; readonly [evidence: string]: unknown }

/** In the order in which they are evaluated. A sixth, of the number series, stands only in records of calls that it concerns. */
export const GATES = ['dnd', 'opt_out', 'calling_window', 'frequency_cap', 'consent'] as const;

/** What a gate looks at. */
export function gateName(gate: string): string {
  switch (gate) {
    case 'dnd': return t('Registry');
    case 'opt_out': return t('Opted out');
    case 'calling_window': return t('Hours');
    case 'frequency_cap': return t('Frequency');
    case 'consent': return t('Consent');
    case 'number_series': return t('Number series');
    default: return gate;
  }
}
/** Why it refused. */
export function refusal(gate: string): string {
  switch (gate) {
    case 'dnd': return t('Registry');
    case 'opt_out': return t('Opted out');
    case 'calling_window': return t('Calling hours');
    case 'frequency_cap': return t('Frequency cap');
    case 'consent': return t('No consent');
    case 'number_series': return t('Number series');
    default: return gate;
  }
}
export function verdictWord(verdict: string): string {
  switch (verdict) {
    case 'pass': return t('passed');
    case 'refuse': return t('refused');
    case 'warn': return t('passed, to be refused later');
    default: return t('not checked');
  }
}
export function chainName(chain: Chain): string {
  switch (chain) {
    case 'audit': return t('Dials');
    case 'consent': return t('Consent');
    case 'grievances': return t('Requests');
    case 'actions': return t('Changes by people');
  }
}
export function chainHolds(chain: Chain): string {
  switch (chain) {
    case 'audit': return t('dials, recordings, disclosures');
    case 'consent': return t('given, withdrawn, restored');
    case 'grievances': return t('erasures');
    case 'actions': return t('what members, keys and the operator changed');
  }
}

export function gatesOf(record: LogRecord): readonly Gate[] {
  const { gates } = record.evidence;
  return Array.isArray(gates) ? gates.filter((one): one is Gate => typeof one === 'object' && one !== null && typeof (one as Gate).gate === 'string') : [];
}

/** What a record is about, as a state. Only what was refused has a colour. */
export function said(record: LogRecord): { tone: Tone; text: string } {
  switch (record.outcome) {
    case 'recorded': return { tone: 'pass', text: t('Recording kept') };
    case 'disclosure_kept': return { tone: 'pass', text: t('Disclosure said') };
    case 'disclosure_missed': return { tone: 'wait', text: t('Disclosure missed') };
    case 'given': return { tone: 'pass', text: t('Consent given') };
    case 'withdrawn': return { tone: 'rule', text: t('Opted out') };
    case 'restored': return { tone: 'pass', text: t('Opt-out lifted') };
    case 'erased': return { tone: 'pass', text: t('Person erased') };
    default: return record.verdict === 'allowed' ? { tone: 'pass', text: t('Allowed') } : { tone: 'rule', text: t('Refused') };
  }
}

/** The record as a sentence. */
export function sentenceOf(record: LogRecord): string {
  switch (record.outcome) {
    case 'recorded': return t('The recording of this call was kept.');
    case 'disclosure_kept': return t('The agent said what must be said at the begin of the call.');
    case 'disclosure_missed': return t('The agent did not say in time what must be said at the begin of the call.');
    case 'given': return t('This person agreed to be called.');
    case 'withdrawn': return t('This person does not want to be called. Every dial is refused from here on.');
    case 'restored': return t('The opt-out of this person was lifted.');
    case 'erased': return t('What was known of this person was erased. The record holds the id alone.');
    default:
      return record.verdict === 'allowed' ? t('The dial was allowed: no gate refused.') : t('The dial was refused by: {gate}. Nobody was called.', { gate: refusal(record.blockedBy ?? '') });
  }
}
