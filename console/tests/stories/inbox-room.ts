// Chats of both channels in the demo workspace: an agent that hands its customers to people, and a number of the sandbox's messaging channel.
import { ATTACKS } from '../fixtures.ts';
import { ROLES, send, type Service, type Shape } from '../service.ts';

export interface Room {
  readonly agent: string;
  readonly number: string;
  /** Opens a chat over the API whose customer asks for a person; its id. */
  waiting: (text: string) => Promise<string>;
  /** A chat over the API that its agent has. */
  talking: (text: string) => Promise<string>;
  says: (chat: string, text: string) => Promise<Shape>;
  /** A customer writes on the messaging channel; the id of the conversation. */
  writes: (from: string, what: Shape) => Promise<string>;
}

const collect = (id: string, next: string): Shape => ({ id, type: 'collect', text: 'नमस्ते, मैं Aarti हूँ। किस बारे में बात करनी है?', field: { key: 'topic', label: 'Topic', type: 'text' }, attempts: 2, next });
const FLOW = [
  collect('a', 'b'),
  { id: 'b', type: 'collect', text: 'समझ गई। आपका नाम क्या है?', field: { key: 'name', label: 'Name', type: 'text' }, attempts: 2, next: 'c' },
  { id: 'c', type: 'transfer', text: 'एक पल, मैं किसी साथी को बुलाती हूँ।', onFail: 'd' },
  { id: 'd', type: 'collect', text: 'मैं Aarti फिर से। और कुछ बताना है?', field: { key: 'more', label: 'More', type: 'text' }, attempts: 2, next: 'z' },
  { id: 'z', type: 'end', text: 'धन्यवाद।', outcome: 'done' },
];

export async function openRoom(service: Service): Promise<Room> {
  const operator = `/v1/workspaces/${service.workspace}`;
  // The clock stands still between the steps of a test, so a minute of limits never passes.
  await service.api('PATCH', operator, { limits: { memberRequestsPerMinute: 1_000_000, requestsPerMinute: 1_000_000, chatSessionsPerMinute: 100_000, chatMessagesPerMinute: 100_000 } }, 'operator');
  const agent = String((await service.as('owner', 'POST', '/v1/agents', { name: 'Aarti', channel: 'chat', systemPrompt: 'You answer customers of a lender.' })).data.id);
  const draft = await service.as('owner', 'GET', `/v1/agents/${agent}/flow`);
  await service.as('owner', 'PUT', `/v1/agents/${agent}/flow`, { graph: { startNodeId: 'a', nodes: FLOW, variables: [] }, baseVersion: draft.data.draftVersion });
  await service.as('owner', 'POST', `/v1/agents/${agent}/flow/publish`);
  await service.as('owner', 'POST', `/v1/agents/${agent}/status`, { status: 'active' });
  await service.api('PUT', `${operator}/chatapp/connection`, { provider: 'sandbox' }, 'operator');
  const bound = await service.api('POST', `${operator}/chatapp/numbers`, { number: '+918047110000', displayName: 'Acme', agentId: agent }, 'operator');
  const number = String(bound.data.phoneNumberId);
  for (const [name, language, text] of [['emi_due_hi', 'hi', 'नमस्ते {{1}}, आपकी किस्त {{2}} को देय है।'], ['reply_later', 'en', 'Hello {{1}}, we have an answer for you.']] as const) {
    await service.as('admin', 'POST', '/v1/chatapp/templates', { name, language, category: 'UTILITY', components: [{ type: 'BODY', text, example: { body_text: [text.includes('{{2}}') ? ['Asha', '5 December'] : ['Asha']] } }] });
  }
  await service.advance(3);
  const says: Room['says'] = async (chat, text) => (await service.api('POST', `/v1/chat/sessions/${chat}/messages`, { text })).data as Shape;
  const talking: Room['talking'] = async (text) => {
    const id = String((await service.api('POST', '/v1/chat/sessions', { agentId: agent })).data.sessionId);
    await says(id, text);
    return id;
  };
  return {
    agent, number, says, talking,
    waiting: async (text) => { const id = await talking(text); await says(id, 'Sunita'); return id; },
    writes: async (from, what) => {
      const taken = await send(`${service.url}/dev/chatapp/inbound`, 'POST', { phoneNumberId: number, from, ...what });
      if (taken.status !== 200) throw new Error(`inbound: ${taken.status} ${JSON.stringify(taken.body)}`);
      await service.advance(4);
      const listed = await service.api('GET', `/v1/chatapp/conversations?customer=${encodeURIComponent(from)}`);
      return String(listed.data[0].id);
    },
  };
}

export interface Chats { readonly room: Room; readonly taken: string; readonly closed: string; readonly waiting: string; readonly attack: string; readonly ended: string; readonly failed: string }

/** Lets hours pass without a session that ends by silence. */
async function pass(service: Service, hours: number): Promise<void> {
  for (let left = hours; left > 0; left -= 6) {
    await service.advance(Math.min(6, left) * 3_600);
    for (const role of ROLES) await service.as(role, 'GET', '/v1/inbox/counts');
  }
}

/** The inbox of a busy morning: somebody waits on each channel, one chat is taken with a note, one is over. With `old`, one is outside of its 24 hours. */
export async function fillInbox(service: Service, options: { old?: boolean } = {}): Promise<Chats> {
  const room = await openRoom(service);
  for (const role of ROLES) await service.cookie(role);
  const closed = await room.writes('+919812366601', { name: 'Bhavna Shah', text: 'Is my NOC ready?' });
  await room.writes('+919812366601', { text: 'The NOC of my car loan' });
  await room.writes('+919812366601', { text: 'Bhavna' });
  if (options.old) await pass(service, 21);
  await room.writes('+919812366605', { name: 'Harish Patil', text: 'I want to visit the branch' });
  if (options.old) await pass(service, 3.5);
  const taken = await room.writes('+919812366602', { name: 'सुनीता देवी', text: 'मेरे खाते से दो बार पैसे कट गए हैं' });
  await room.writes('+919812366602', { text: 'दो बार 3,600 कटे' });
  await room.writes('+919812366602', { text: 'सुनीता देवी' });
  await service.as('owner', 'POST', `/v1/inbox/${taken}/takeover`);
  await service.as('owner', 'POST', `/v1/inbox/${taken}/notes`, { text: 'Ledger shows two debits on 12 Nov (₹3,600 each). Refund needs the receipt.' });
  await service.as('owner', 'POST', `/v1/inbox/${taken}/messages`, { text: 'सुनीता जी, मैं Asha हूँ, Acme Finserv से। हमें दो payment दिख रहे हैं। Receipt या bank message का screenshot भेज दीजिए, refund 3 दिन में हो जाएगा।' });
  await room.writes('+919812366602', { text: 'अच्छा ठीक है, रुकिए।' });
  await room.writes('+919812366602', { media: { type: 'document', mimeType: 'application/pdf', data: Buffer.from('%PDF-1.4 receipt').toString('base64'), caption: 'जी, 12 तारीख़ की receipt है, अभी भेजती हूँ', filename: 'receipt-12-nov.pdf' } });
  await room.writes('+919812366602', { media: { type: 'audio', mimeType: 'audio/ogg; codecs=opus', data: Buffer.from('OggS').toString('base64'), voice: true } });
  await service.advance(360);
  const waiting = await room.waiting('Koi insaan hai wahan?');
  const attack = await room.writes('+919812366603', { name: ATTACKS.markup.slice(0, 100), text: ATTACKS.markup });
  await room.writes('+919812366603', { text: ATTACKS.long });
  await room.writes('+919812366604', { name: ATTACKS.rightToLeft, text: ATTACKS.rightToLeft });
  await room.writes('+919812366606', { name: ATTACKS.devanagari.slice(0, 100), text: ATTACKS.devanagari.repeat(4) });
  await room.writes('+919812366607', { name: 'Nikhil Joshi', text: 'When does my loan close?' });
  await room.writes('+919812360047', { name: 'Farhan Sheikh', text: 'Koi insaan chahiye' });
  await room.writes('+919812360047', { text: 'EMI' });
  const failed = await room.writes('+919812360047', { text: 'Farhan' });
  const held = await room.waiting('Refund');
  await service.as('editor', 'POST', `/v1/inbox/${held}/takeover`);
  const ended = await room.waiting('Bye');
  await service.as('editor', 'POST', `/v1/inbox/${ended}/takeover`);
  await service.as('editor', 'POST', `/v1/inbox/${ended}/end`);
  await service.as('owner', 'POST', '/v1/saved-answers', { shortcut: 'refund', text: '{{name}} जी, refund 3 दिन में आपके खाते में आ जाएगा।' });
  await service.as('owner', 'POST', '/v1/saved-answers', { shortcut: 'hours', text: 'We answer from 9 in the morning to 7 in the evening, Monday to Saturday.' });
  return { room, taken, closed, waiting, attack, ended, failed };
}
