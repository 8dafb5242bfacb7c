import { Link } from 'react-aria-components';
import { useRead, type Schemas } from '../api/index.ts';
import { Box, Empty, Name, Shown, Tag, t } from '../parts/index.ts';
import { exists } from '../shell/index.ts';
import { Answerer } from './answerer.tsx';
import { campaignsFrom } from './numbers-data.ts';

/** The numbers that the agent answers, and those that its campaigns call from. */
export function AgentNumbers({ agent }: { agent: Schemas['AgentDetail'] }) {
  const numbers = useRead('listNumbers', {});
  const channel = useRead('listChannelNumbers', {}, { enabled: agent.channel === 'chat' });
  const campaigns = useRead('listCampaigns', {}, { enabled: agent.direction === 'outbound' });
  if (agent.channel === 'chat') return (
    <Box title={t('Numbers of the messaging channel that it answers')} inside={false}>
      <Shown of={channel} what={t('The numbers could not be read.')} rows={2}>{({ data }) => { const own = data.filter((one) => one.agentId === agent.id); return own.length === 0 ? <Empty title={t('No number is given to it')}>{t('The operator gives a number of the channel to an agent.')}</Empty> : <ul className="plain">{own.map((one) => <li key={one.phoneNumberId} className="row"><span className="num">{one.number}</span><Name>{one.displayName}</Name>{one.quality && <Tag>{one.quality}</Tag>}</li>)}</ul>; }}</Shown>
    </Box>
  );
  return (
    <Shown of={numbers} what={t('The numbers could not be read.')}>{({ data }) => (data.length === 0
      ? <Empty title={t('No number yet')}>{t('The operator assigns numbers to this workspace.')}</Empty>
      : <Box title={agent.direction === 'inbound' ? t('Numbers that it may answer') : t('Numbers that it calls from')} inside={false}>
        <div className="over" tabIndex={0} role="region" aria-label={t('Numbers')}><table className="tbl"><thead><tr><th scope="col">{t('Number')}</th><th scope="col">{agent.direction === 'inbound' ? t('Who answers') : t('Its campaigns')}</th></tr></thead>
          <tbody>{data.map((one) => <tr key={one.id}><td className="num">{one.number} {one.series && <Tag>{one.series}</Tag>}</td><td>{agent.direction === 'inbound' ? <Answerer number={one} /> : <Campaigns rows={campaignsFrom(campaigns.data?.data ?? [], one.number).filter((campaign) => campaign.agentId === agent.id)} />}</td></tr>)}</tbody></table></div>
        {agent.direction === 'outbound' && <p className="meta pad0">{t('Without a number of its own, a call shows the first of the workspace that the rules allow.')}</p>}
      </Box>)}</Shown>
  );
}
export const Campaigns = ({ rows }: { rows: readonly Schemas['Campaign'][] }) => (rows.length === 0 ? <span className="dim">–</span> : <span className="row wrap">{rows.slice(0, 4).map((one) => (exists('campaigns') ? <Link key={one.id} href={`/campaigns/${one.id}/overview`} className="link"><Name>{one.name}</Name></Link> : <Name key={one.id}>{one.name}</Name>))}{rows.length > 4 && <span className="dim num">+{rows.length - 4}</span>}</span>);
