import { useState } from 'react';
import { useSend, type ApiError, type Schemas } from '../api/index.ts';
import { t, toast } from '../parts/index.ts';

type Agent = Schemas['AgentDetail'];
type Change = Schemas['AgentChange'];

/** Fields of an agent that wait to be saved: only what was changed is sent. */
export function useAgentForm(agent: Agent) {
  const [changed, setChanged] = useState<Change>({});
  const send = useSend('updateAgent', { alters: ['listAgents', 'getFlow'], done: () => { setChanged({}); toast(t('Saved')); } });
  const value = <K extends keyof Agent & keyof Change>(field: K): Agent[K] => (field in changed ? (changed[field] as Agent[K]) : agent[field]);
  const set = <K extends keyof Change>(field: K, to: Change[K]): void => setChanged((before) => {
    const { [field]: _, ...rest } = before;
    return JSON.stringify((agent as Change)[field]) === JSON.stringify(to) ? rest : { ...rest, [field]: to };
  });
  const fault = (field: string): string | null => (send.error?.field?.split(/[.[]/)[0] === field ? send.error.message : null);
  return {
    value, set, fault, dirty: Object.keys(changed).length > 0, busy: send.isPending,
    error: send.error as ApiError | null,
    save: () => send.mutate({ path: { id: agent.id }, body: changed }),
    drop: () => { setChanged({}); send.reset(); },
  };
}
export type AgentForm = ReturnType<typeof useAgentForm>;
