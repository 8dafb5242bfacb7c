// What the service refused, in words: who has the chat, or why its agent cannot take it now.
import { CircleAlert } from 'lucide-react';
import type { ApiError } from '../api/index.ts';
import { ErrorNote, Icon, clock, t } from '../parts/index.ts';

export function refusal(error: ApiError): string | null {
  const { name, since } = error.meta;
  switch (error.code) {
    case 'held_by_teammate': return typeof since === 'string' ? t('{name} has it since {time}.', { name: String(name ?? t('A teammate')), time: clock(since) }) : t('{name} has it.', { name: String(name ?? t('A teammate')) });
    case 'held_by_helpdesk': return t('A helpdesk has this chat.');
    case 'session_ended': case 'conversation_ended': return t('The chat is over.');
    case 'window_closed': return t('24 hours over: only a template can be sent');
    case 'contact_opted_out': return t('The customer asked for no more messages. Nothing can be sent.');
    case 'agent_offline': return t('The agent is outside its business hours. The chat stays with you.');
    case 'agent_unavailable': return t('The agent is not published. The chat stays with you.');
    case 'insufficient_balance': return t('The wallet does not cover this.');
    case 'brain_unavailable': return t('The agent’s flow cannot run now. The chat stays with you.');
    case 'feature_disabled': case 'chatapp_disabled': case 'chatapp_agents_off': return t('This is switched off for the workspace.');
    case 'assignee_not_allowed': return t('This member may not answer chats.');
    default: return null;
  }
}

export function Refusal({ error }: { error: ApiError }) {
  const words = refusal(error);
  if (words === null) return <ErrorNote error={error} />;
  return <div className="note" data-tone={error.code === 'held_by_teammate' ? 'team' : 'bad'} role="alert" data-code={error.code}><Icon of={CircleAlert} /><p className="grow" dir="auto">{words}</p></div>;
}
