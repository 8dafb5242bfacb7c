import './flow.css';
import { useMemo } from 'react';
import { useRead, type Schemas } from '../api/index.ts';
import { Body, Box, Empty, Head, Name, Shown, State, Tag, count, t, useRaw, More } from '../parts/index.ts';
import { Campaigns } from './agent-numbers.tsx';
import { Answerer } from './answerer.tsx';
import { campaignsFrom, capOf } from './numbers-data.ts';
import { agentName, useAgents } from './queries.ts';

type Number = Schemas['Number'];

/** Numbers of the telephone and of the messaging channel: who answers, who calls from them, their caps. */
export function Page() {
  const numbers = useRead('listNumbers', {});
  const channel = useRead('listChannelNumbers', {});
  const campaigns = useRead('listCampaigns', {});
  const raw = useRaw('listNumbers', {}, numbers.data);
  return (
    <>
      <Head title={t('Numbers')} mark={numbers.data && numbers.data.data.length > 0 ? <Tag>{count(numbers.data.data.length)}</Tag> : undefined}><More entries={raw.entries} /></Head>
      {raw.sheet}
      <Body>
        <Shown of={numbers} what={t('The numbers could not be read.')} rows={4}>{({ data }) => (data.length === 0
          ? <Empty title={t('No number yet')}>{t('The operator assigns numbers to this workspace.')}</Empty>
          : <Box title={t('Telephone')} inside={false}>
            <div className="over" tabIndex={0} role="region" aria-label={t('Telephone')}><table className="tbl numbers"><thead><tr><th scope="col">{t('Number')}</th><th scope="col">{t('Kind')}</th><th scope="col">{t('State')}</th><th scope="col">{t('Who answers')}</th><th scope="col">{t('Who calls from it')}</th><th scope="col" className="r">{t('Calls a day at most')}</th></tr></thead>
              <tbody>{data.map((one) => <Row key={one.id} number={one} campaigns={campaigns.data?.data ?? []} />)}</tbody></table></div>
          </Box>)}</Shown>
        {(channel.data?.data.length ?? 0) > 0 && channel.data && <ChannelNumbers rows={channel.data.data} />}
      </Body>
    </>
  );
}

function Row({ number, campaigns }: { number: Number; campaigns: readonly Schemas['Campaign'][] }) {
  const callers = useMemo(() => campaignsFrom(campaigns, number.number), [campaigns, number.number]);
  const cap = capOf(callers, number.number);
  return (
    <tr data-number={number.id}>
      <td className="num medium">{number.number}</td>
      <td>{number.series ? <Tag>{t('{series} series', { series: number.series })}</Tag> : number.type === 'landline' ? t('Landline') : t('Mobile')}{number.carrier && <span className="meta"> · <Name>{number.carrier}</Name></span>}</td>
      <td><State tone={number.status === 'active' ? 'ok' : 'mute'}>{number.status === 'active' ? t('Active') : t('Released')}</State></td>
      <td><Answerer number={number} /></td>
      <td><Campaigns rows={callers} /></td>
      <td className="r">{cap === null ? <span className="dim">{t('no cap')}</span> : count(cap)}</td>
    </tr>
  );
}

function ChannelNumbers({ rows }: { rows: readonly Schemas['ChannelNumber'][] }) {
  const agents = useAgents().data?.data;
  return (
    <Box title={t('Messaging channel')} inside={false}>
      <div className="over" tabIndex={0} role="region" aria-label={t('Messaging channel')}><table className="tbl"><thead><tr><th scope="col">{t('Number')}</th><th scope="col">{t('Shown as')}</th><th scope="col">{t('State')}</th><th scope="col">{t('Quality')}</th><th scope="col">{t('Limit')}</th><th scope="col">{t('Who answers')}</th></tr></thead>
        <tbody>{rows.map((one) => <tr key={one.phoneNumberId}><td className="num medium">{one.number}{one.isDefault && <> <Tag>{t('first choice')}</Tag></>}</td><td><Name>{one.displayName}</Name></td><td>{one.status}</td><td><Quality value={one.quality} /></td><td>{one.messagingTier ?? '–'}</td><td>{one.agentId === null ? <span className="dim">{t('Nobody answers')}</span> : <Name>{agentName(agents, one.agentId)}</Name>}</td></tr>)}</tbody></table></div>
    </Box>
  );
}
function Quality({ value }: { value: string | null }) {
  switch (value?.toUpperCase()) {
    case 'GREEN': case 'HIGH': return <State tone="pass">{t('good')}</State>;
    case 'YELLOW': case 'MEDIUM': return <State tone="wait">{t('falling')}</State>;
    case 'RED': case 'LOW': return <State tone="bad">{t('poor')}</State>;
    default: return <span className="dim">{t('not known yet')}</span>;
  }
}
