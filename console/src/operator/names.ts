import { t, type Tone } from '../parts/index.ts';
import type { Workspace } from './types.ts';

export function stateOf(workspace: Workspace): { tone: Tone; text: string } {
  if (workspace.suspended) return { tone: 'bad', text: t('Suspended') };
  return workspace.kybVerified ? { tone: 'ok', text: t('Verified') } : { tone: 'wait', text: t('Not verified') };
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
