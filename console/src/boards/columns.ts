// The words of columns, moves and automations.
import type { Schemas } from '../api/index.ts';
import { plural, t, type BarTone } from '../parts/index.ts';
import type { Automation, Card, ColumnType } from './queries.ts';

const TONES: Readonly<Record<ColumnType, BarTone>> = { new: 'line', open: 'mute', advancing: 'info', won: 'ok', lost: 'mute', dnc: 'rule', no_contact: 'line' };
const COLOURS: Readonly<Record<Schemas['ColumnColor'], BarTone>> = { grey: 'mute', blue: 'info', green: 'ok', amber: 'wait', red: 'bad', plum: 'rule', teal: 'team', indigo: 'accent' };
export const columnTone = (column: { type: ColumnType; color: Schemas['ColumnColor'] | null }): BarTone => (column.color ? COLOURS[column.color] : TONES[column.type]);

/** Whether a card waits for a person: the service could not say where it belongs. */
export const waits = (card: Card): boolean => card.status === 'needs_review';

export const TYPES: readonly ColumnType[] = ['new', 'open', 'advancing', 'won', 'lost', 'dnc', 'no_contact'];
export function typeName(type: ColumnType): string {
  switch (type) {
    case 'new': return t('cards begin here');
    case 'open': return t('talked to, nothing decided');
    case 'advancing': return t('on the way to the goal');
    case 'won': return t('the goal is reached');
    case 'lost': return t('it will not be reached');
    case 'dnc': return t('asked not to be called again');
    case 'no_contact': return t('nobody answered');
  }
}
export const COLOUR_NAMES: readonly Schemas['ColumnColor'][] = ['grey', 'blue', 'green', 'amber', 'red', 'plum', 'teal', 'indigo'];
export function colourName(colour: Schemas['ColumnColor']): string {
  switch (colour) {
    case 'grey': return t('grey');
    case 'blue': return t('blue');
    case 'green': return t('green');
    case 'amber': return t('amber');
    case 'red': return t('red');
    case 'plum': return t('plum');
    case 'teal': return t('teal');
    case 'indigo': return t('indigo');
  }
}

export function automationWords(automation: Automation): string {
  switch (automation.type) {
    case 'opt_out': return t('Marks the person as opted out');
    case 'do_not_call': return t('Puts the number on the do-not-call list');
    case 'nudge': return automation.delayMinutes ? plural(automation.delayMinutes, 'Calls again after {n} minute', 'Calls again after {n} minutes') : t('Calls again');
    case 'add_to_campaign': return t('Puts the person on the list of another campaign');
    case 'event': return t('Tells your systems: board.card_moved');
    case 'message': return t('Sends a template');
    default: return automation.type;
  }
}
