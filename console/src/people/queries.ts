import { useRead, type Schemas } from '../api/index.ts';
import { t } from '../parts/index.ts';

export type Contact = Schemas['Contact'];
export type Person = Schemas['ContactDetail'];
export const usePerson = (id: string) => useRead('getContact', { path: { id } });
export const useCalls = (id: string) => useRead('listCalls', { query: { contactId: id, limit: 20 } });
export const useChats = (id: string) => useRead('listConversations', { query: { contactId: id, limit: 20 } });
/** People by a name, the beginning of a reference, or a whole number. */
export const useFound = (q: string) => useRead('search', { query: { q } }, { enabled: q !== '', keep: true, fresh: 0 });

export function languageName(code: string): string {
  return code === 'hi' ? 'हिन्दी' : code === 'en' ? 'English' : code;
}

/** Where a consent or an opt-out came from. */
export function sourceName(source: string): string {
  switch (source) {
    case 'web_form': return t('a form on the web');
    case 'app': return t('the app');
    case 'call': return t('a call');
    case 'sms': return t('an SMS');
    case 'email': return t('an e-mail');
    case 'chatapp': return t('the messaging channel');
    case 'paper': return t('paper');
    case 'branch': return t('a branch');
    case 'import': return t('an import');
    case 'api': return t('the API');
    case 'console': return t('the console');
    case 'provider': return t('the channel’s provider');
    case 'other': return t('another way');
    default: return source;
  }
}
