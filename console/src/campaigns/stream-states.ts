import type { Schemas } from '../api/index.ts';
import { t, type Tone } from '../parts/index.ts';

export function streamState(status: Schemas['DataStreamStatus']): { text: string; tone: Tone } {
  switch (status) {
    case 'active': return { text: t('Takes records'), tone: 'ok' };
    case 'paused': return { text: t('Paused'), tone: 'wait' };
    case 'error': return { text: t('Stopped'), tone: 'bad' };
  }
}

export function kindName(kind: Schemas['DataStreamKind']): string {
  switch (kind) {
    case 'webhook': return t('Address with a token');
    case 'api': return t('Over the API');
    case 'spreadsheet': return t('Google spreadsheet');
    case 'crm_1': return 'HubSpot';
    case 'crm_2': return 'Salesforce';
    case 'crm_3': return 'Zoho CRM';
    case 'storefront': return 'Shopify';
  }
}

export function rejectedWords(reason: Schemas['RecordReason'] | null): string {
  switch (reason) {
    case 'no_phone': return t('It has no number');
    case 'invalid_phone': return t('Its number is not a phone number');
    case 'not_indian': return t('Its number is of another country');
    case 'too_many_fields': return t('No number among its first 100 fields');
    default: return t('It cannot be called');
  }
}
