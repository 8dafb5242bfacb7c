// What pages are shown with: people, calls, a chat, an endpoint, and text that attacks.
import type { Service, Shape } from './service.ts';

export const ATTACKS = {
  markup: '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  long: 'long '.repeat(800).slice(0, 4_000),
  rightToLeft: '\u202eمرحبا بالعالم <b>‏(1)',
  devanagari: 'अतिदीर्घनामधेयवाचकशब्दसमूहनिर्मितवाक्यखण्ड'.repeat(3),
} as const;

export interface Fixtures { readonly contacts: readonly string[]; readonly calls: readonly string[]; readonly endpoint: string; readonly chat: string | null }

const PEOPLE = [['Sunita Devi', '+919812345001'], ['रोहित वर्मा', '+919812345002'], ['Imran Sheikh', '+919812340000'], ['Meena Pillai', '+919812341111'], [ATTACKS.markup.slice(0, 100), '+919812345003'], [ATTACKS.devanagari.slice(0, 100), '+919812345004'], [ATTACKS.rightToLeft, '+919812345005']] as const;

/** Fills the demo workspace. What a service does not take is left out of it, so that a page is shown with what there is. */
export async function fill(service: Service): Promise<Fixtures> {
  const contacts: string[] = [];
  for (const [name, phone] of PEOPLE) {
    const made = await service.api('POST', '/v1/contacts', { name, phone, externalRef: `REF-${phone.slice(-4)}` }).catch(() => null);
    if (made) contacts.push(String(made.data.id));
  }
  const calls: string[] = [];
  for (const [, toNumber] of PEOPLE.slice(0, 5)) {
    const placed = await service.api('POST', '/v1/calls', { agentId: service.agent, toNumber, variables: VARIABLES }).catch(() => null);
    if (placed) calls.push(String((placed as Shape).callId ?? (placed as Shape).interactionId));
  }
  await service.advance(30);
  const endpoint = await service.api('POST', '/v1/webhooks', { url: 'http://127.0.0.1:18998/hook', events: ['call.completed'] }).then((made) => String(made.data.id), () => '');
  const chat = await service.api('POST', '/v1/chat/sessions', { agentId: service.agent }).then((made) => String(made.data.id), () => null);
  return { contacts, calls, endpoint, chat };
}
const VARIABLES = { name: 'Sunita', amount: '4,500', due_date: '5 December' };
