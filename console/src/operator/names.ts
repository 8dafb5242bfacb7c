import { t, type Tone } from '../parts/index.ts';
import type { Entity, Workspace } from './types.ts';

export function stateOf(workspace: Workspace): { tone: Tone; text: string } {
  if (workspace.suspended) return { tone: 'bad', text: t('Suspended') };
  return workspace.kybVerified ? { tone: 'ok', text: t('Verified') } : { tone: 'wait', text: t('Not verified') };
}
export function featureName(feature: string): string {
  switch (feature) {
    case 'analytics': return t('Analytics');
    case 'boards': return t('Boards');
    case 'knowledge': return t('Knowledge');
    case 'crmIntegrations': return t('Connected systems');
    case 'chat': return t('Chats');
    case 'chatappChannel': return t('Messaging channel');
    case 'chatappAgents': return t('Agents on the messaging channel');
    case 'chatappCampaigns': return t('Campaigns on the messaging channel');
    case 'fullTranscript': return t('Whole transcripts');
    case 'recording': return t('Recordings');
    case 'evaluation': return t('Grading of conversations');
    default: return feature;
  }
}
export function limitName(limit: string): string {
  switch (limit) {
    case 'requestsPerMinute': return t('Requests with keys a minute');
    case 'memberRequestsPerMinute': return t('Requests of a member a minute');
    case 'callsPerMinute': return t('Calls placed over the API a minute');
    case 'campaignWritesPerMinute': return t('Changes of campaigns a minute');
    case 'nudgesPerMinute': return t('New nudges a minute');
    case 'chatMessagesPerMinute': return t('Messages of customers a minute');
    case 'chatSessionsPerMinute': return t('New chats a minute');
    case 'channelMessagesPerMinute': return t('Messages on the channel a minute');
    case 'handOversPerMinute': return t('Takeovers and handbacks a minute');
    case 'flowTriesPerMinute': return t('Tries of flows a minute');
    case 'pendingNudges': return t('Nudges that wait');
    case 'concurrentCalls': return t('Calls at the same time');
    default: return limit;
  }
}
export function entityName(entity: Entity): string {
  switch (entity) {
    case 'undeclared': return t('Not declared');
    case 'unregulated': return t('Not regulated');
    case 'bank': return t('Bank');
    case 'payments_bank': return t('Payments bank');
    case 'small_finance_bank': return t('Small finance bank');
    case 'cooperative_bank': return t('Cooperative bank');
    case 'regional_rural_bank': return t('Regional rural bank');
    case 'large_nbfc': return t('Large NBFC');
    case 'nbfc': return t('NBFC');
    case 'asset_manager': return t('Asset manager');
    case 'pension_manager': return t('Pension manager');
    case 'insurer': return t('Insurer');
    case 'stock_broker': return t('Stock broker');
  }
}
export function kindSaid(kind: string): string {
  switch (kind) {
    case 'signup_grant': return t('First balance');
    case 'topup': return t('Top-up');
    case 'adjustment': return t('Correction');
    case 'call_charge': return t('Call');
    case 'chat_charge': return t('Chat');
    case 'evaluation_charge': return t('Grading');
    default: return kind;
  }
}

/** Paise of an amount in rupees as people write it, or null. */
export function paise(text: string): number | null {
  const plain = text.replaceAll(/[,₹\s]/g, '').replace('−', '-');
  const value = Number(plain);
  return plain === '' || !Number.isFinite(value) ? null : Math.round(value * 100);
}
