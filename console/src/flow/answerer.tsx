import { useState } from 'react';
import { Link } from 'react-aria-components';
import { useSend, type Schemas } from '../api/index.ts';
import { Button, Confirm, Name, SelectInput, t } from '../parts/index.ts';
import { agentName, useAgents } from './queries.ts';
import { useWrites } from './writes.tsx';

const NOBODY = 'nobody';

/** Who answers a number, and the way to change it. It is asked first: people who call meet somebody else from then on. */
export function Answerer({ number }: { number: Schemas['Number'] }) {
  const agents = useAgents().data?.data;
  const may = useWrites('setInboundAgent');
  const [asking, setAsking] = useState(false);
  const [next, setNext] = useState<string>(NOBODY);
  const send = useSend('setInboundAgent', { alters: ['listNumbers'] });
  const name = number.inboundAgentId === null ? null : agentName(agents, number.inboundAgentId);
  const fit = (agents ?? []).filter((one) => one.channel === 'call' && one.direction === 'inbound' && one.status === 'active');
  const begin = (): void => { setNext(number.inboundAgentId ?? fit[0]?.id ?? NOBODY); setAsking(true); };
  return (
    <span className="row">
      <span className="grow cut">{name === null ? <span className="dim">{t('Nobody answers')}</span> : <Link href={`/agents/${number.inboundAgentId}/flow`} className="link"><Name>{name}</Name></Link>}</span>
      {may && <Button small kind="bare" onPress={begin}>{t('Change…')}</Button>}
      <Confirm open={asking} onClose={() => setAsking(false)} title={t('Who answers {number}?', { number: number.number })} action={next === NOBODY ? t('Let nobody answer') : t('Let {name} answer', { name: agentName(agents, next) })} act={() => send.mutateAsync({ path: { id: number.id }, body: { agentId: next === NOBODY ? null : next } })}>
        <SelectInput label={t('Agent')} value={next} onChange={setNext} choices={[{ id: NOBODY, text: t('Nobody answers') }, ...fit.map((one) => ({ id: one.id, text: one.name }))]} hint={fit.length === 0 ? t('No agent that answers calls is in service.') : undefined} />
        <p className="meta">{t('It holds for the next call. Calls that are on go on.')}</p>
      </Confirm>
    </span>
  );
}
