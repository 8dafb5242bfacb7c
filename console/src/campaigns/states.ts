// The words of campaigns, rows and runs.
import type { Schemas } from '../api/index.ts';
import { t, type BarTone, type Tone } from '../parts/index.ts';

export type Campaign = Schemas['Campaign'];
export type RowState = Schemas['CallingListState'];
export const ROW_STATES: readonly RowState[] = ['queued', 'held', 'in_progress', 'reached', 'unreached', 'invalid'];

export function campaignState(status: Schemas['CampaignStatus']): { text: string; tone: Tone } {
  switch (status) {
    case 'draft': return { text: t('Draft'), tone: 'mute' };
    case 'active': return { text: t('Dialling'), tone: 'ok' };
    case 'paused': return { text: t('Paused'), tone: 'wait' };
    case 'completed': return { text: t('Over'), tone: 'mute' };
    case 'archived': return { text: t('Archived'), tone: 'mute' };
  }
}

export function rowState(state: RowState): { text: string; tone: Tone; bar: BarTone } {
  switch (state) {
    case 'queued': return { text: t('To be called'), tone: 'mute', bar: 'line' };
    case 'held': return { text: t('Held'), tone: 'wait', bar: 'wait' };
    case 'in_progress': return { text: t('Calling'), tone: 'info', bar: 'info' };
    case 'reached': return { text: t('Reached'), tone: 'ok', bar: 'ok' };
    case 'unreached': return { text: t('Not reached'), tone: 'mute', bar: 'mute' };
    case 'invalid': return { text: t('Never dialled'), tone: 'bad', bar: 'bad' };
  }
}

export function heldWords(reason: string): string {
  switch (reason) {
    case 'calling_window': return t('outside the calling hours');
    case 'frequency': return t('called too often of late');
    case 'caller_id_cap': return t('caller id at its daily cap');
    case 'provider_error': return t('the carrier refused, tried again in 15 minutes');
    default: return reason;
  }
}

export function invalidWords(reason: Schemas['InvalidReason'] | null): string {
  switch (reason) {
    case 'invalid_phone': return t('Not a phone number');
    case 'not_indian': return t('Not an Indian number');
    case 'duplicate': return t('The number is on an earlier row');
    case 'erased': return t('The person was erased');
    default: return t('Never dialled');
  }
}

function failureWords(reason: Schemas['RowFailure']): string {
  switch (reason) {
    case 'missing_required_variables': return t('A value that the flow needs is missing');
    case 'invalid_variables': return t('A value could not be used');
    case 'invalid_number': return t('The number could not be dialled');
    case 'provider_error': return t('The carrier refused three times');
  }
}

/** What became of the last dial, in words. A status that is newer than this page is shown as it is. */
export function dialWords(status: string): string {
  switch (status) {
    case 'completed': return t('A person answered');
    case 'no_answer': return t('No answer');
    case 'busy': return t('Busy');
    case 'rejected': return t('Rejected the call');
    case 'voicemail': return t('Voicemail answered');
    case 'invalid_number': case 'no_such_number': return t('The number does not exist');
    case 'failed': return t('The call failed');
    case 'blocked': return t('A rule said no');
    case 'not_connected': return t('The agent could not start');
    case 'possibly_placed': return t('Unknown whether it rang');
    case 'ringing': return t('Ringing');
    case 'in_progress': return t('Talking');
    case 'opted_out': return t('Asked not to be called again');
    default: return status.replaceAll('_', ' ');
  }
}

/** Last result of a row, or its next step. `at` writes a moment. */
export function rowStep(row: Schemas['CallingListRow'], at: (moment: string) => string): string {
  if (!row.valid || row.state === 'invalid') return invalidWords(row.invalidReason);
  if (row.failureReason) return failureWords(row.failureReason);
  const last = row.dialStatus ? dialWords(row.dialStatus) : null;
  if (row.state === 'held') {
    const why = row.heldReason ? heldWords(row.heldReason) : t('Held');
    return row.nextAttemptAt ? t('{why}, free at {time}', { why, time: at(row.nextAttemptAt) }) : why;
  }
  if (row.doNotCall && row.state !== 'reached') return t('On the do-not-call list now');
  if (row.state === 'queued') return row.nextAttemptAt ? t('First attempt at {time}', { time: at(row.nextAttemptAt) }) : t('First attempt comes next');
  if (row.state === 'unreached' && row.nextAttemptAt) return t('{last}, again at {time}', { last: last ?? t('Not reached'), time: at(row.nextAttemptAt) });
  return last ?? '–';
}

export function runState(status: Schemas['CampaignRunStatus']): { text: string; tone: Tone } {
  switch (status) {
    case 'queued': return { text: t('Waits to begin'), tone: 'info' };
    case 'running': return { text: t('Dials'), tone: 'ok' };
    case 'completed': return { text: t('Whole'), tone: 'mute' };
    case 'skipped': return { text: t('Dialled nothing'), tone: 'wait' };
    case 'failed': return { text: t('Failed'), tone: 'bad' };
  }
}

/** Why a run dialled nothing, and what helps. */
export function skippedWords(reason: string): { why: string; help: string; href?: string } {
  switch (reason) {
    case 'outside_schedule': return { why: t('Outside the calling hours'), help: t('It goes on when the hours open.') };
    case 'kyb_unverified': return { why: t('The business is not verified'), help: t('Calls start once the operator has verified it.'), href: '/settings' };
    case 'insufficient_balance': return { why: t('The wallet is empty'), help: t('Top it up, dialling goes on by itself.'), href: '/settings/wallet' };
    case 'concurrency_limit': return { why: t('All lines are taken'), help: t('It goes on when a line gets free.') };
    case 'provider_error': return { why: t('The carrier refused every dial'), help: t('Held rows are tried again after 15 minutes.') };
    case 'workspace_suspended': return { why: t('The workspace is suspended'), help: t('Ask the operator.') };
    case 'not_active': return { why: t('Paused or over before it began'), help: t('Resume the campaign to dial.') };
    case 'run_error': return { why: t('The run met an error'), help: t('The error says what.') };
    default: return { why: reason.replaceAll('_', ' '), help: '' };
  }
}

/** A problem that keeps the campaign from dialling: in words, and where it is mended. */
export function problemWords(problem: { code: string; message: string }, id: string): { text: string; href?: string; link?: string } {
  const settings = { href: `/campaigns/${id}/settings`, link: t('Settings of the campaign') };
  switch (problem.code) {
    case 'agent_missing': return { text: t('The campaign has no agent.'), ...settings };
    case 'agent_not_published': return { text: t('The agent is not published.'), href: '/agents', link: t('Agents') };
    case 'agent_not_call': return { text: t('The agent does not make calls.'), ...settings };
    case 'agent_not_outbound': return { text: t('The agent only answers calls.'), ...settings };
    case 'flow_not_ready': return { text: t('The flow of the agent cannot run yet.'), href: '/agents', link: t('Agents') };
    case 'no_phone_number': return { text: t('The workspace has no active number to call from.'), href: '/numbers', link: t('Numbers') };
    case 'from_number_not_owned': return { text: t('The number to call from is not one of this workspace.'), ...settings };
    case 'kyb_required': return { text: t('The business is not verified. The operator does that.') };
    case 'workspace_suspended': return { text: t('The workspace is suspended.') };
    case 'insufficient_balance': return { text: t('The wallet is empty.'), href: '/settings/wallet', link: t('Wallet') };
    case 'balance_too_small': return { text: t('The wallet does not cover what is expected. Calls stop when it is empty.'), href: '/settings/wallet', link: t('Wallet') };
    case 'list_empty': return { text: t('The campaign has no list.'), href: `/campaigns/${id}/list/import`, link: t('New list') };
    case 'nobody_to_call': return { text: t('Nobody on the list can be called.'), href: `/campaigns/${id}/list`, link: t('List') };
    case 'missing_required_variables': return { text: t('Some people lack a value that the flow needs. They are not called.') };
    case 'completed': return { text: t('The campaign is over.') };
    case 'past_end_date': return { text: t('Its end date has passed.'), ...settings };
    case 'not_done_by_end_date': return { text: t('It would not be done by its end date.'), ...settings };
    case 'never_open': return { text: t('Its hours and the hours of the rules never overlap.'), ...settings };
    case 'voice_unavailable': return { text: t('The voice of the agent is not available.'), href: '/agents', link: t('Agents') };
    case 'dlt_entity_required': return { text: t('Promotion needs the registered id of the business (DLT).') };
    case 'dlt_template_required': return { text: t('Promotion needs the id of a registered template (DLT).'), ...settings };
    default: return { text: problem.message };
  }
}

/** Why people on the list would not be called, by the code of the preflight. */
export function reasonWords(code: string): string {
  switch (code) {
    case 'dnd': return t('On the do-not-disturb registry');
    case 'opt_out': case 'do_not_call': return t('Asked not to be called');
    case 'consent': return t('No consent on record');
    case 'frequency': case 'frequency_cap': return t('Called too often of late');
    case 'calling_window': return t('Outside the calling hours');
    case 'caller_id_cap': return t('Caller id at its daily cap');
    case 'duplicate': return t('Twice on the list');
    case 'invalid_phone': return t('Not a phone number');
    case 'not_indian': return t('Not an Indian number');
    case 'erased': return t('The person was erased');
    case 'number_series': return t('The number that calls is not of the series that the rules want');
    case 'missing_required_variables': return t('A value that the flow needs is missing');
    default: return code.replaceAll('_', ' ');
  }
}

export function chatappPause(reason: Schemas['ChannelCampaignPause']): string {
  switch (reason) {
    case 'spam_rate_limited': return t('The provider limited the number for spam.');
    case 'template_unavailable': return t('The template cannot be sent now.');
    case 'template_recategorised': return t('The provider made the template marketing.');
    case 'quality_red': return t('The quality of the number is red.');
    case 'high_failure_rate': return t('Half of the last messages failed.');
    case 'account_restricted': return t('The provider restricted the account.');
    case 'token_invalid': return t('The provider refused the token of the account.');
    case 'not_connected': return t('The number is not connected.');
    case 'payment_issue': return t('The provider reports a problem with the payment.');
    case 'permission_denied': return t('The account lacks a permission at the provider.');
    case 'number_not_registered': return t('The number is not registered at the provider.');
  }
}

const two = (clock: string | null): string | null => clock?.slice(0, 5) ?? null;
/** The daily window of a campaign. */
export function hoursWords(settings: Schemas['CampaignSettings']): string {
  const [from, to] = [two(settings.dailyFrom), two(settings.dailyTo)];
  if (!from && !to) return t('the hours of the rules');
  return t('{from} to {to}', { from: from ?? '00:00', to: to ?? '24:00' });
}
