// Words of the service that several modules show. A key that is not named here is a customer's own, or newer than this console: shown as it is.
import type { Schemas } from '../api/index.ts';
import { t } from './words.ts';

/** `callback_requested` as people write it. */
export function spelled(key: string): string {
  const words = key.replaceAll('_', ' ').trim();
  return words.charAt(0).toLocaleUpperCase('en') + words.slice(1);
}

/** Why a call ended, in a word or two. */
export function causeWord(cause: string): string {
  switch (cause) {
    case 'agent_ended': return t('Agent said goodbye');
    case 'caller_hangup': return t('Other side hung up');
    case 'silence_timeout': return t('Silence');
    case 'max_duration': return t('Longest time');
    case 'transfer_handoff': return t('A person took over');
    case 'api_hangup': return t('Ended by us');
    case 'error': return t('Failure of the service');
    case 'no_answer': return t('No answer');
    case 'busy': return t('Busy');
    case 'voicemail': return t('Voicemail');
    case 'rejected': return t('Rejected');
    case 'invalid_number': return t('No such number');
    case 'not_connected': return t('Agent could not start');
    case 'provider_error': return t('Carrier refused');
    case 'possibly_placed': return t('May have rung');
    default: return /^sip_\d+$/.test(cause) ? t('Carrier {code}', { code: cause.slice(4) }) : spelled(cause);
  }
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

export function entityName(entity: Schemas['EntityClass']): string {
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
