// The settings as a form, and back. Times of India.
import type { Schemas } from '../api/index.ts';
import { t } from '../parts/index.ts';
import type { Campaign } from './states.ts';

export interface SettingsForm {
  readonly name: string; readonly agentId: string | null; readonly fromNumber: string; readonly dltTemplateRef: string;
  readonly dailyFrom: string; readonly dailyTo: string; readonly startAt: string; readonly endAt: string;
  readonly retryCount: string; readonly cooldownMinutes: string; readonly maxConcurrentCalls: string; readonly emailNotifications: string;
}

const INDIA = 330 * 60_000;
/** A moment as a field of date and time shows it: `2026-11-26T09:00` of India. */
const toField = (at: string | null): string => (at ? new Date(Date.parse(at) + INDIA).toISOString().slice(0, 16) : '');
const fromField = (written: string): string | null => (written ? new Date(`${written}:00+05:30`).toISOString() : null);

export function asForm(campaign: Campaign): SettingsForm {
  const { settings } = campaign;
  return {
    name: campaign.name, agentId: campaign.agentId, fromNumber: settings.fromNumber ?? '', dltTemplateRef: campaign.dltTemplateRef ?? '',
    dailyFrom: settings.dailyFrom?.slice(0, 5) ?? '', dailyTo: settings.dailyTo?.slice(0, 5) ?? '', startAt: toField(settings.startAt), endAt: toField(settings.endAt),
    retryCount: String(settings.retryCount), cooldownMinutes: String(settings.cooldownMinutes), maxConcurrentCalls: settings.maxConcurrentCalls === null ? '' : String(settings.maxConcurrentCalls), emailNotifications: settings.emailNotifications.join(', '),
  };
}

const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/;
const whole = (text: string, least: number, most: number): boolean => /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most;

export function faultOf(form: SettingsForm, key: keyof SettingsForm): string | null {
  switch (key) {
    case 'name': return form.name.trim() === '' ? t('Give it a name.') : form.name.trim().length > 120 ? t('At most 120 characters.') : null;
    case 'dailyFrom': return form.dailyFrom === '' || CLOCK.test(form.dailyFrom) ? null : t('A time as 09:00.');
    case 'dailyTo': return form.dailyTo === '' || form.dailyTo === '24:00' || CLOCK.test(form.dailyTo) ? (form.dailyTo !== '' && form.dailyTo === form.dailyFrom ? t('It must differ from the beginning.') : null) : t('A time as 19:00.');
    case 'endAt': return form.startAt && form.endAt && form.endAt <= form.startAt ? t('It must be after the beginning.') : null;
    case 'retryCount': return whole(form.retryCount, 0, 10) ? null : t('A whole number from 0 to 10.');
    case 'cooldownMinutes': return whole(form.cooldownMinutes, 0, 527_040) ? null : t('Whole minutes, at most 366 days.');
    case 'maxConcurrentCalls': return form.maxConcurrentCalls === '' || whole(form.maxConcurrentCalls, 1, 10_000) ? null : t('A whole number from 1 to 10,000.');
    default: return null;
  }
}
export const firstFault = (form: SettingsForm): string | null => (Object.keys(form) as (keyof SettingsForm)[]).map((key) => faultOf(form, key)).find((fault) => fault !== null) ?? null;

/** Only what was changed: what another person changed meanwhile stays. */
export function asChange(form: SettingsForm, campaign: Campaign): Schemas['CampaignChange'] {
  const before = asForm(campaign);
  const differs = (key: keyof SettingsForm): boolean => form[key] !== before[key];
  const settings: Schemas['CampaignSettingsChange'] = {
    ...(differs('fromNumber') ? { fromNumber: form.fromNumber || null } : {}),
    ...(differs('dailyFrom') ? { dailyFrom: form.dailyFrom || null } : {}),
    ...(differs('dailyTo') ? { dailyTo: form.dailyTo || null } : {}),
    ...(differs('startAt') ? { startAt: fromField(form.startAt) } : {}),
    ...(differs('endAt') ? { endAt: fromField(form.endAt) } : {}),
    ...(differs('retryCount') ? { retryCount: Number(form.retryCount) } : {}),
    ...(differs('cooldownMinutes') ? { cooldownMinutes: Number(form.cooldownMinutes) } : {}),
    ...(differs('maxConcurrentCalls') ? { maxConcurrentCalls: form.maxConcurrentCalls ? Number(form.maxConcurrentCalls) : null } : {}),
    ...(differs('emailNotifications') ? { emailNotifications: form.emailNotifications.split(',').map((one) => one.trim()).filter(Boolean) } : {}),
  };
  return {
    ...(differs('name') ? { name: form.name.trim() } : {}),
    ...(differs('agentId') ? { agentId: form.agentId } : {}),
    ...(differs('dltTemplateRef') ? { dltTemplateRef: form.dltTemplateRef.trim() || null } : {}),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
  };
}
