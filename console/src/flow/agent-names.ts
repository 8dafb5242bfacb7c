import type { Schemas } from '../api/index.ts';
import { t } from '../parts/index.ts';
import type { Outcome } from './outcomes.ts';

type Agent = Schemas['Agent'];
export const channelName = (channel: Agent['channel']): string => (channel === 'chat' ? t('Chat') : t('Calls'));
export const directionName = (agent: Pick<Agent, 'channel' | 'direction'>): string => (agent.direction === 'inbound' ? t('Answers') : t('Calls people'));
export const statusName = (status: Agent['status']): string => (status === 'active' ? t('In service') : t('Not in service'));

export function outcomeName(outcome: Outcome): string {
  switch (outcome) {
    case 'remind': return t('Remind');
    case 'verify': return t('Verify');
    case 'answer': return t('Answer questions');
    case 'survey': return t('Survey');
  }
}
export function outcomeHint(outcome: Outcome): string {
  switch (outcome) {
    case 'remind': return t('Reminds people of a payment and asks for a date.');
    case 'verify': return t('Checks that it is the right person, by a PIN code on record.');
    case 'answer': return t('Answers from a knowledge base, by phone or chat.');
    case 'survey': return t('Asks for a score, and for the reason of a low one.');
  }
}
export function verticalName(vertical: Schemas['Vertical']): string {
  switch (vertical) {
    case 'general': return t('General');
    case 'collections': return t('Collections');
    case 'lending': return t('Lending');
    case 'financial_services': return t('Financial services');
    case 'debt_recovery': return t('Debt recovery');
  }
}
export function communicationName(kind: Schemas['Communication']): string {
  switch (kind) {
    case 'transactional': return t('Transactional');
    case 'service': return t('Service');
    case 'promotional': return t('Promotional');
  }
}
export function workflowName(template: Schemas['WorkflowTemplate']): string {
  switch (template) {
    case 'collections': return t('Collections');
    case 'onboarding': return t('Onboarding');
    case 'prompt-driven': return t('Free');
  }
}
