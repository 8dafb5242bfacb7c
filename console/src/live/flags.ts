import type { Schemas } from '../api/index.ts';
import { t, type Tone } from '../parts/index.ts';
import type { Live } from './queries.ts';

export function flagTag(flag: Schemas['CallFlag']): { text: string; tone: Tone; says: string } {
  switch (flag) {
    case 'asks_for_person': return { text: t('Asks for a person'), tone: 'bad', says: t('The agent tries to bring a person in.') };
    case 'asked_not_to_be_called': return { text: t('Wants no calls'), tone: 'rule', says: t('The person asked not to be called again. The opt-out is noted.') };
    case 'slow_reaction': return { text: t('Slow'), tone: 'wait', says: t('The agent took more than 2 seconds for an answer.') };
    case 'silent': return { text: t('Silent'), tone: 'wait', says: t('Nobody has said anything for more than 8 seconds.') };
  }
}
export const numberOf = (call: Pick<Live, 'direction' | 'fromNumber' | 'toNumber'>): string => (call.direction === 'inbound' ? call.fromNumber : call.toNumber);
/** The name, or the masked number of somebody who is not known. */
export const personOf = (call: Live): string => call.name ?? numberOf(call);
