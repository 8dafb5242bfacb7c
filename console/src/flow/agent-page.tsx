// Everything of an agent beside its flow: settings, numbers, hours and rules, test links.
import './flow.css';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useRead, useSend, type Schemas } from '../api/index.ts';
import { Body, Button, Confirm, Head, More, Shown, State, Tabs, t, useRaw, type TabItem } from '../parts/index.ts';
import { statusName } from './agent-names.ts';
import { AgentHours } from './agent-hours.tsx';
import { AgentNumbers } from './agent-numbers.tsx';
import { AgentSettings } from './agent-settings.tsx';
import { useOwns, useWrites, WhyReadOnly } from './writes.tsx';

const TABS = ['settings', 'numbers', 'hours'] as const;
type Agent = Schemas['AgentDetail'];

export function Page({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.id ?? '';
  const agent = useRead('getAgent', { path: { id } });
  if (!agent.data) return <><Head back={{ href: '/agents', text: t('Agents') }} title={t('Agent')} /><Body><Shown of={agent} what={t('The agent could not be read.')}>{() => null}</Shown></Body></>;
  return <OneAgent key={id} agent={agent.data.data} tab={params.tab ?? 'settings'} />;
}

function OneAgent({ agent, tab }: { agent: Agent; tab: string }) {
  const may = useWrites('updateAgent');
  const status = useWrites('setAgentStatus');
  const erases = useOwns();
  const [asking, setAsking] = useState<'status' | 'delete' | null>(null);
  const [, navigate] = useLocation();
  const setStatus = useSend('setAgentStatus', { alters: ['listAgents'] });
  const erase = useSend('deleteAgent', { alters: ['listAgents'] });
  const raw = useRaw('getAgent', { path: { id: agent.id } }, agent);
  const active = agent.status === 'active';
  const shown = (TABS as readonly string[]).includes(tab) ? tab : 'settings';
  const items: TabItem[] = [
    { id: 'flow', text: t('Flow'), href: `/agents/${agent.id}/flow` }, { id: 'settings', text: t('Settings'), href: `/agents/${agent.id}/settings` },
    { id: 'numbers', text: t('Numbers'), href: `/agents/${agent.id}/numbers` }, { id: 'hours', text: t('Hours and rules'), href: `/agents/${agent.id}/hours` },
  ];
  return (
    <>
      <Head back={{ href: '/agents', text: t('Agents') }} title={agent.name} sub={<State tone={active ? 'ok' : 'mute'}>{statusName(agent.status)}</State>}>
        {status && <Button kind={active ? 'plain' : 'primary'} onPress={() => setAsking('status')}>{active ? t('Take out of service…') : t('Put in service…')}</Button>}
        <More entries={[...raw.entries, { text: t('Evaluation'), href: `/evaluation/${agent.id}` }, erases && '-', erases && { text: t('Delete the agent…'), danger: true, act: () => setAsking('delete') }]} />
      </Head>
      {raw.sheet}
      <Tabs label={t('Parts of the agent')} value={shown} items={items}>
        <Body>
          {!may && <WhyReadOnly />}
          {shown === 'settings' && <AgentSettings agent={agent} may={may} />}
          {shown === 'numbers' && <AgentNumbers agent={agent} />}
          {shown === 'hours' && <AgentHours agent={agent} may={may} />}
        </Body>
      </Tabs>
      <Confirm open={asking === 'status'} onClose={() => setAsking(null)} title={active ? t('Take {name} out of service?', { name: agent.name }) : t('Put {name} in service?', { name: agent.name })} action={active ? t('Take out of service') : t('Put in service')} act={() => setStatus.mutateAsync({ path: { id: agent.id }, body: { status: active ? 'draft' : 'active' } })}>
        <p>{active ? t('It calls nobody and answers nobody from now on. Calls that are on go on.') : agent.direction === 'inbound' ? t('It may answer from now on: calls of the numbers that are given to it, or chats.') : t('Campaigns and the API may call people with it from now on. This calls nobody yet.')}</p>
      </Confirm>
      <Confirm open={asking === 'delete'} onClose={() => setAsking(null)} danger title={t('Delete this agent for good?')} action={t('Delete the agent')} typed={{ label: t('The name of the agent'), text: agent.name.trim() }} act={async () => { await erase.mutateAsync({ path: { id: agent.id } }); navigate('/agents'); }}>
        <p>{t('Its flow and all its versions go with it. Past calls stay, and keep its name in analytics.')}</p>
      </Confirm>
    </>
  );
}
