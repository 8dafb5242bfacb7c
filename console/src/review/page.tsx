import { useLocation } from 'wouter';
import { currentScope, useRead, type Schemas } from '../api/index.ts';
import { Body, Empty, Grid, Head, Name, Shown, State, fixedRows, percent, plural, t, type Column } from '../parts/index.ts';
import './page.css';

type Agent = Schemas['Agent'];

/** The agents, and how each is graded. */
export function Page() {
  const [, go] = useLocation();
  const agents = useRead('listAgents', {});
  const test = currentScope()?.test ?? false;
  return (
    <>
      <Head back={{ href: '/calls', text: t('Calls') }} title={t('Evaluation')} />
      {test ? <Body><Empty title={t('Test mode grades nothing')}>{t('Evaluations are of real conversations. Switch to live to see them.')}</Empty></Body> : (
        <Shown of={agents} what={t('The agents could not be read.')}>
          {({ data }) => data.length === 0 ? <Body><Empty title={t('No agent yet')}>{t('Criteria belong to an agent. Make one first.')}</Empty></Body>
            : <Grid label={t('Agents')} rows={fixedRows(data)} columns={columns()} id={(agent) => agent.id} open={(agent) => go(`/evaluation/${agent.id}`)} thin={(agent) => <Thin agent={agent} />} least={720} />}
        </Shown>
      )}
    </>
  );
}

const useEvaluation = (id: string) => useRead('getAgentEvaluation', { path: { id } }, { fresh: 60_000 }).data?.data;
const channelText = (agent: Agent): string => (agent.channel === 'call' ? t('Calls') : t('Chats'));

function Switched({ id }: { id: string }) {
  const found = useEvaluation(id);
  if (!found) return <span className="skel" />;
  return found.enabled ? <State tone="ok">{t('On')}</State> : <State tone="mute">{found.criteria.length === 0 ? t('No criteria') : t('Off')}</State>;
}
function Count({ id }: { id: string }) {
  const found = useEvaluation(id);
  return <span className="mid">{found && found.criteria.length > 0 ? plural(found.criteria.length, '{n} criterion', '{n} criteria') : ''}</span>;
}
function Share({ agent }: { agent: Agent }) {
  const found = useEvaluation(agent.id);
  if (!found?.enabled) return <span className="dim">–</span>;
  return <span className="mid">{percent(agent.channel === 'call' ? found.callSamplingRate : found.samplingRate, 0)}</span>;
}

const columns = (): readonly Column<Agent>[] => [
  { key: 'name', head: t('Agent'), width: 'minmax(220px, 2fr)', cell: (agent) => <span className="medium"><Name>{agent.name}</Name></span> },
  { key: 'channel', head: t('Talks by'), width: '120px', cell: (agent) => <span className="mid">{channelText(agent)}</span> },
  { key: 'criteria', head: t('Criteria'), width: '140px', cell: (agent) => <Count id={agent.id} /> },
  { key: 'on', head: t('By itself'), width: '140px', cell: (agent) => <Switched id={agent.id} /> },
  { key: 'share', head: t('Share graded'), width: '120px', right: true, cell: (agent) => <Share agent={agent} /> },
];
const Thin = ({ agent }: { agent: Agent }) => (
  <div className="thinrow"><div className="row"><span className="medium grow cut"><Name>{agent.name}</Name></span><Switched id={agent.id} /></div><div className="row"><span className="dim grow">{channelText(agent)}</span><Count id={agent.id} /></div></div>
);
