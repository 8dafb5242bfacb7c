import { useState } from 'react';
import { Link } from 'react-aria-components';
import { Box, Button, ButtonLink, Empty, Key, Name, Shown, StackedBar, State, When, count, percent, plural, rupees, rupeesWhole, t, type BarPart, type Tone } from '../parts/index.ts';
import { exists } from '../shell/index.ts';
import { useCampaigns, useSummaries, type Campaign, type Summary } from './queries.ts';

const STATES: Record<Campaign['status'], readonly [() => string, Tone]> = {
  active: [() => t('Dialling'), 'ok'], paused: [() => t('Paused'), 'wait'], draft: [() => t('Draft'), 'mute'], completed: [() => t('Ended'), 'mute'], archived: [() => t('Archived'), 'mute'],
};
const FIRST = 12;

function partsOf({ progress }: Summary): readonly BarPart[] {
  return [
    { name: t('reached'), value: progress.reached, tone: 'ok' }, { name: t('not reached'), value: progress.unreached, tone: 'mute' }, { name: t('calling'), value: progress.inProgress, tone: 'info' },
    { name: t('held'), value: progress.held, tone: 'wait' }, { name: t('to do'), value: progress.queued, tone: 'line' },
  ];
}

function Row({ campaign, summary }: { campaign: Campaign; summary: Summary | undefined }) {
  const [name, tone] = STATES[campaign.status];
  const sum = summary?.progress.total ?? 0;
  const done = (summary?.progress.reached ?? 0) + (summary?.progress.unreached ?? 0);
  const grey = <span className="dim">–</span>;
  return (
    <tr>
      <th scope="row" className="cut">{exists('campaigns') ? <Link href={`/campaigns/${campaign.id}`} className="medium under"><Name>{campaign.name}</Name></Link> : <span className="medium"><Name>{campaign.name}</Name></span>}</th>
      <td><State tone={tone}>{name()}</State></td>
      <td className="wide progress">{summary && sum > 0 ? <StackedBar label={campaign.name} parts={partsOf(summary)} /> : null}</td>
      <td className="r">{sum > 0 ? <>{percent(done / sum, 0)} <span className="dim">{t('of {n}', { n: count(sum) })}</span></> : grey}</td>
      <td className="r wide">{summary ? <>{count(summary.winMetric.count)} <span className="dim"><Name>{summary.winMetric.label}</Name></span></> : grey}</td>
      <td className="r wide">{summary?.costPerOutcomeMinor != null ? rupees(summary.costPerOutcomeMinor) : grey}</td>
      <td className="r wide">{summary ? rupeesWhole(summary.spentMinor) : grey}</td>
      <td className="wide dim">{summary?.lifecycle.lastCallAt ? <When at={summary.lifecycle.lastCallAt} /> : grey}</td>
    </tr>
  );
}

function Table({ all }: { all: readonly Campaign[] }) {
  const [whole, setWhole] = useState(false);
  const running = all.filter((one) => one.status !== 'completed' && one.status !== 'archived');
  const hidden = all.length - Math.min(FIRST, running.length);
  const shown = whole ? all.slice(0, 60) : running.slice(0, FIRST);
  const summaries = useSummaries(shown);
  return (
    <>
      {shown.length > 0 && (
        <div className="over"><table className="tbl">
          <thead><tr><th scope="col">{t('Name')}</th><th scope="col">{t('State')}</th><th scope="col" className="wide">{t('Progress')}</th><th scope="col" className="r">{t('Done')}</th><th scope="col" className="r wide">{t('Won')}</th><th scope="col" className="r wide">{t('Cost each')}</th><th scope="col" className="r wide">{t('Spent')}</th><th scope="col" className="wide">{t('Last call')}</th></tr></thead>
          <tbody>{shown.map((campaign) => <Row key={campaign.id} campaign={campaign} summary={summaries.get(campaign.id)} />)}</tbody>
        </table></div>
      )}
      {hidden > 0 && !whole && <p className="padded"><Button kind="bare" small onPress={() => setWhole(true)}>{plural(hidden, 'Show {n} more', 'Show {n} more')}</Button></p>}
      {whole && all.length > 60 && exists('campaigns') && <p className="padded"><Link className="link" href="/campaigns">{t('All campaigns')}</Link></p>}
    </>
  );
}

/** Running and paused campaigns, each with one bar. */
export function Campaigns({ mayCreate }: { mayCreate: boolean }) {
  const campaigns = useCampaigns();
  const keys = <span className="meta row wrap wide"><Key tone="ok">{t('reached')}</Key><Key tone="mute">{t('not reached')}</Key><Key tone="info">{t('calling')}</Key><Key tone="wait">{t('held')}</Key><Key tone="line">{t('to do')}</Key></span>;
  return (
    <Box title={t('Campaigns')} count={campaigns.data?.data.length} extra={keys} inside={false}>
      <Shown of={campaigns} what={t('The campaigns could not be read.')} rows={4}>
        {(answer) => (answer.data.length === 0 ? (
          <Empty title={t('No campaigns yet')} {...(mayCreate ? { action: <ButtonLink href="/campaigns?new=1">{t('New campaign')}</ButtonLink> } : {})}>{t('A campaign calls the people of a list with one agent, within the hours that the law allows.')}</Empty>
        ) : <Table all={answer.data} />)}
      </Shown>
    </Box>
  );
}
