import { useEffect, useState } from 'react';
import { callIn, currentScope, getConnection, useMe, useMembership, type Schemas } from '../api/index.ts';

const EVERY = 20_000;

/** Says that I have the flow open while it is on the screen, and who else has. */
export function usePresence(agent: string, edits: boolean, told: readonly Schemas['FlowEditor'][]): readonly Schemas['FlowEditor'][] {
  const me = useMe().data;
  const own = useMembership()?.memberId;
  const [answered, setAnswered] = useState<readonly Schemas['FlowEditor'][] | null>(null);
  useEffect(() => setAnswered(null), [told]);
  useEffect(() => {
    if (!edits) return undefined;
    const scope = currentScope();
    let gone = false;
    const say = (open: boolean): void => {
      if (getConnection().state === 'lost') return;
      void callIn(scope, 'setFlowPresence', { path: { id: agent }, body: { open } }).then((answer) => { if (!gone && open) setAnswered(answer.data.editing); }, () => undefined);
    };
    const visible = (): void => say(document.visibilityState === 'visible');
    say(true);
    const timer = setInterval(() => { if (document.visibilityState === 'visible') say(true); }, EVERY);
    document.addEventListener('visibilitychange', visible);
    return () => { gone = true; clearInterval(timer); document.removeEventListener('visibilitychange', visible); say(false); };
  }, [agent, edits]);
  return (answered ?? told).filter((one) => one.member !== me?.id && one.member !== own);
}
