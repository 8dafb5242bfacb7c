// What the service found in a staged list: in words, and what can be done.
import type { Schemas } from '../api/index.ts';
import { clock, count, plural, t, type Tone } from '../parts/index.ts';

export type Finding = Schemas['StagedFinding'];
export const keyOfFinding = (finding: { code: string; column: string | null }): string => `${finding.code}|${finding.column ?? ''}`;
/** A column as people call it: `variables.amount` is amount. */
export const columnName = (column: string | null): string => (column === null ? t('other columns') : column === 'phone' ? t('number') : column === 'name' ? t('name') : column.replace(/^variables\./, ''));

export function findingTone(finding: { harm: Schemas['StagedHarm']; code: Schemas['StagedFindingCode'] }): Tone {
  switch (finding.harm) {
    case 'stops': return 'bad';
    case 'never_dialled': return finding.code === 'invalid_phone' || finding.code === 'not_indian' ? 'bad' : finding.code === 'dnd' || finding.code === 'opt_out' ? 'rule' : 'mute';
    case 'skipped': return 'rule';
    case 'waits': return 'wait';
    case 'read_as': return 'info';
  }
}

export function findingTitle(finding: Finding): string {
  const column = columnName(finding.column);
  switch (finding.code) {
    case 'missing_required_variables': return t('No value for {column}', { column });
    case 'invalid_phone': return t('Number cannot be called');
    case 'not_indian': return t('Number of another country');
    case 'duplicate': return t('Twice in the list');
    case 'erased': return t('The person was erased');
    case 'dnd': return t('On the do-not-disturb registry');
    case 'opt_out': return t('Asked not to be called');
    case 'consent': return t('No consent on record');
    case 'number_series': return t('The number that calls is not of the series that the rules want');
    case 'calling_window': return t('The hours are closed now');
    case 'frequency_cap': return t('Called too often of late');
    case 'caller_id_cap': return t('More people than the numbers may dial today');
    case 'date_day_first': return t('{column} reads as day/month', { column });
    case 'date_month_first': return t('{column} reads as month/day', { column });
    case 'number_with_exponent': return t('{column} lost digits in a spreadsheet', { column });
  }
}

export function findingAbout(finding: Finding): string {
  const first = finding.rows[0];
  switch (finding.code) {
    case 'missing_required_variables': return t('The flow needs it. Give one value for all, map a column, or leave these people out.');
    case 'invalid_phone': return t('Too few or too many digits. They stay on the list and are never dialled.');
    case 'not_indian': return t('They stay on the list and are never dialled.');
    case 'duplicate': return t('The first row of each number counts.');
    case 'erased': return t('They are never dialled again.');
    case 'dnd': case 'opt_out': return t('They are skipped and this is logged.');
    case 'consent': case 'number_series': return t('A rule refuses the call. It is skipped and this is logged.');
    case 'calling_window': return finding.until ? t('They wait until {time} IST.', { time: clock(finding.until) }) : t('They wait until the hours open.');
    case 'frequency_cap': return finding.until ? t('They wait until the frequency cap lets them: from {time} IST.', { time: clock(finding.until) }) : t('They wait until the frequency cap lets them.');
    case 'caller_id_cap': return t('The rest is dialled on the next day.');
    case 'date_day_first': case 'date_month_first': case 'number_with_exponent':
      return first?.value && first.readAs ? t('{value} is taken as {readAs}.', { value: first.value, readAs: first.readAs }) : t('Look whether that is what was meant.');
  }
}

/** What is wrong with one row. */
export function rowFault(finding: Schemas['StagedRowFinding']): string {
  const column = columnName(finding.column);
  switch (finding.code) {
    case 'missing_required_variables': return t('{column} is empty', { column });
    case 'invalid_phone': return t('Not a phone number');
    case 'not_indian': return t('Not an Indian number');
    case 'duplicate': return t('The number is on an earlier row');
    case 'erased': return t('The person was erased');
    case 'dnd': return t('On the do-not-disturb registry');
    case 'opt_out': return t('Asked not to be called');
    case 'consent': return t('No consent on record');
    case 'number_series': return t('Not from this number');
    case 'calling_window': return t('Waits for the hours');
    case 'frequency_cap': return t('Called too often of late');
    case 'caller_id_cap': return t('Waits for the next day');
    case 'date_day_first': case 'date_month_first': case 'number_with_exponent': return finding.readAs ? t('{column} read as {readAs}', { column, readAs: finding.readAs }) : column;
  }
}

export const wouldNot = (verdict: Schemas['StagedListPreflight']): string => {
  const stops = verdict.findings.filter((finding) => finding.harm === 'stops').reduce((sum, finding) => sum + finding.count, 0);
  const not = verdict.willNotCall > 0 ? plural(verdict.willNotCall, '{n} would not.', '{n} would not.') : t('Nobody is left out.');
  const wait = verdict.willWait > 0 ? t('{n} wait first.', { n: count(verdict.willWait) }) : '';
  const stop = stops > 0 ? plural(stops, '{n} stops the list until you decide.', '{n} stop the list until you decide.') : '';
  return [not, wait, stop].filter(Boolean).join(' ');
};
