import './flow.css';
import { Plus } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { Link } from 'react-aria-components';
import { type Schemas } from '../api/index.ts';
import { Body, Button, Empty, Facet, Finder, Grid, Head, Name, NoMatch, Shown, State, Tag, count, fixedRows, millis, percent, plural, t, useFilters, useKeys, type Column } from '../parts/index.ts';
import { useCommands } from '../shell/index.ts';
import { channelName, directionName, statusName } from './agent-names.ts';
import { NewAgent } from './new-agent.tsx';
import { useAgentFigures, useAgents, useFlowState, type AgentFigures } from './queries.ts';
import { useWrites } from './writes.tsx';

type Agent = Schemas['Agent'];
const FILTERS = ['q', 'channel', 'status'];

function Issues({ id }: { id: string }) {
  const { errors, warnings } = useFlowState(id);
  if (errors === null) return <span className="skel" />;
  if (errors > 0) return <State tone="bad">{plural(errors, '{n} error', '{n} errors')}</State>;
  if (warnings) return <State tone="wait">{plural(warnings, '{n} warning', '{n} warnings')}</State>;
  return <span className="dim">{t('no issues')}</span>;
}
function Version({ id }: { id: string }) {
  const { live } = useFlowState(id);
  return live === null ? <span className="dim">–</span> : <span className="num">v{live}</span>;
}
const Status = ({ agent }: { agent: Agent }) => <State tone={agent.status === 'active' ? 'ok' : 'mute'}>{statusName(agent.status)}</State>;

function columnsOf(figures: ReadonlyMap<string, AgentFigures>): readonly Column<Agent>[] {
  const figure = (agent: Agent, shown: (one: AgentFigures) => string): React.ReactNode => {
    const one = figures.get(agent.id);
    return one && one.calls > 0 ? <span className="num">{shown(one)}</span> : <span className="dim">–</span>;
  };
  return [
    { key: 'name', head: t('Agent'), width: 'minmax(180px, 2fr)', cell: (agent) => <Link href={`/agents/${agent.id}/flow`} className="medium"><Name>{agent.name}</Name></Link> },
    { key: 'channel', head: t('Channel'), width: 'minmax(76px, .6fr)', cell: (agent) => channelName(agent.channel) },
    { key: 'direction', head: t('Direction'), width: 'minmax(104px, .8fr)', cell: (agent) => directionName(agent) },
    { key: 'status', head: t('Status'), width: 'minmax(120px, .9fr)', cell: (agent) => <Status agent={agent} /> },
    { key: 'version', head: t('Live version'), width: 'minmax(84px, .6fr)', cell: (agent) => <Version id={agent.id} /> },
    { key: 'issues', head: t('Issues of the draft'), width: 'minmax(120px, .9fr)', cell: (agent) => <Issues id={agent.id} /> },
    { key: 'calls', head: t('Calls, 7 days'), width: 'minmax(92px, .7fr)', right: true, cell: (agent) => figure(agent, (one) => count(one.calls)) },
    { key: 'answered', head: t('Answered'), width: 'minmax(76px, .6fr)', right: true, cell: (agent) => figure(agent, (one) => percent(one.answered)) },
    { key: 'reaction', head: t('Reaction'), width: 'minmax(84px, .6fr)', right: true, cell: (agent) => figure(agent, (one) => (one.p50Ms === null ? '–' : millis(one.p50Ms))) },
  ];
}

const Thin = ({ agent }: { agent: Agent }) => (
  <span className="thinrow"><span className="row"><span className="medium cut grow"><Name>{agent.name}</Name></span><Status agent={agent} /></span><span className="row meta"><span>{channelName(agent.channel)} · {directionName(agent)}</span><span className="grow" /><Issues id={agent.id} /></span></span>
);

export function Page() {
  const agents = useAgents();
  const figures = useAgentFigures();
  const filters = useFilters();
  const may = useWrites('createAgent');
  const [, navigate] = useLocation();
  const [making, setMaking] = useState(false);
  const make = { key: 'n', text: t('New agent'), act: () => setMaking(true) };
  useKeys(may ? [make] : []);
  useCommands(may ? [{ id: 'new-agent', text: t('New agent'), act: make.act }] : []);
  const columns = useMemo(() => columnsOf(figures), [figures]);
  const all = agents.data?.data ?? [];
  const [q, channel, status] = [filters.one('q').toLocaleLowerCase(), filters.all('channel'), filters.all('status')];
  const shown = all.filter((one) => one.name.toLocaleLowerCase().includes(q) && (channel.length === 0 || channel.includes(one.channel)) && (status.length === 0 || status.includes(one.status)));
  const number = (test: (one: Agent) => boolean): number => all.filter(test).length;
  return (
    <>
      <Head title={t('Agents')} mark={all.length > 0 ? <Tag>{count(all.length)}</Tag> : undefined}>
        {may && <Button kind="primary" icon={Plus} keys="N" onPress={make.act}>{t('New agent')}</Button>}
      </Head>
      {all.length > 0 && (
        <div className="toolbar">
          <Finder label={t('Find an agent')} placeholder={t('Find an agent')} value={filters.one('q')} onChange={(value) => filters.set('q', value, true)} />
          <div className="facets">
            <Facet name={t('Channel')} items={[{ id: 'call', text: t('Calls'), count: number((one) => one.channel === 'call') }, { id: 'chat', text: t('Chat'), count: number((one) => one.channel === 'chat') }]} on={channel} set={(values) => filters.set('channel', values)} />
            <Facet name={t('Status')} items={[{ id: 'active', text: t('In service'), count: number((one) => one.status === 'active') }, { id: 'draft', text: t('Not in service'), count: number((one) => one.status === 'draft') }]} on={status} set={(values) => filters.set('status', values)} />
          </div>
        </div>
      )}
      <Body pad={false}>
        <Shown of={agents} what={t('The agents could not be read.')}>
          {() => (all.length === 0
            ? <Empty title={t('No agent yet')} action={may ? <Button kind="primary" onPress={make.act}>{t('New agent')}</Button> : undefined}>{t('An agent calls people or answers them, and follows a flow that you draw and try first.')}</Empty>
            : shown.length === 0
              ? <NoMatch title={t('No agents match.')} clear={() => filters.clear(FILTERS)} />
              : <div className="fill"><Grid label={t('Agents')} rows={fixedRows(shown)} columns={columns} id={(agent) => agent.id} open={(agent) => navigate(`/agents/${agent.id}/flow`)} thin={(agent) => <Thin agent={agent} />} least={1060} rowHeight={44} /></div>)}
        </Shown>
      </Body>
      <NewAgent open={making} onClose={() => setMaking(false)} />
    </>
  );
}
