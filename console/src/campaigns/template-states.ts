import type { Schemas } from '../api/index.ts';
import { t, type Tone } from '../parts/index.ts';

export const TEMPLATE_STATUSES: readonly Schemas['TemplateStatus'][] = ['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED', 'IN_APPEAL', 'LIMIT_EXCEEDED', 'ARCHIVED', 'PENDING_DELETION', 'DELETED'];
export function templateState(status: Schemas['TemplateStatus']): { text: string; tone: Tone } {
  switch (status) {
    case 'APPROVED': return { text: t('Can be sent'), tone: 'ok' };
    case 'PENDING': return { text: t('Provider reviews it'), tone: 'info' };
    case 'IN_APPEAL': return { text: t('Appeal under review'), tone: 'info' };
    case 'REJECTED': return { text: t('Refused'), tone: 'bad' };
    case 'PAUSED': return { text: t('Paused by the provider'), tone: 'wait' };
    case 'DISABLED': return { text: t('Switched off'), tone: 'bad' };
    case 'LIMIT_EXCEEDED': return { text: t('Limit reached'), tone: 'wait' };
    case 'ARCHIVED': return { text: t('Archived'), tone: 'mute' };
    case 'PENDING_DELETION': return { text: t('Is being deleted'), tone: 'mute' };
    case 'DELETED': return { text: t('Deleted'), tone: 'mute' };
  }
}
export function categoryName(category: Schemas['TemplateCategory']): string {
  switch (category) {
    case 'MARKETING': return t('Marketing');
    case 'UTILITY': return t('Service');
    case 'AUTHENTICATION': return t('One-time codes');
  }
}

/** What a template shows, read from the channel's own form. */
export interface Shown { readonly header: string | null; readonly headerKind: string | null; readonly body: string; readonly footer: string | null; readonly buttons: readonly string[]; readonly samples: Readonly<Record<string, string>> }
type Part = Readonly<Record<string, unknown>>;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export function shownTemplate(components: readonly Part[]): Shown {
  const part = (type: string): Part | undefined => components.find((one) => text(one.type).toUpperCase() === type);
  const [header, body, footer, buttons] = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS'].map(part);
  const format = text(header?.format).toUpperCase() || 'TEXT';
  return {
    header: header && format === 'TEXT' ? text(header.text) : null, headerKind: header && format !== 'TEXT' ? format : null,
    body: text(body?.text), footer: footer ? text(footer.text) : null,
    buttons: list(buttons?.buttons).map((one) => text((one as Part | null)?.text)).filter(Boolean), samples: samplesOf(body),
  };
}

function samplesOf(body: Part | undefined): Record<string, string> {
  const example = (body?.example ?? {}) as Part;
  const numbered = list(list(example.body_text)[0]);
  const named = list(example.body_text_named_params) as readonly Part[];
  return { ...Object.fromEntries(numbered.map((value, at) => [String(at + 1), text(value)])), ...Object.fromEntries(named.map((one) => [text(one.param_name), text(one.example)])) };
}

export const placesOf = (body: string): readonly string[] => [...new Set([...body.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name = '']) => name))];
/** The text with values in its places; a place without one stays as it is written. */
export const filledText = (body: string, values: Readonly<Record<string, string>>): string => body.replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) => values[name] || whole);
