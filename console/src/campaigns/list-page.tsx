import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useRead } from '../api/index.ts';
import { Button, Empty, Facet, Finder, Grid, Head, Name, NoMatch, Shown, StackedBar, State, count, fixedRows, percent, plural, rupeesWhole, t, useFilters, useKeys, useRaw, More, When, type Column } from '../parts/index.ts';
import { useCommands } from '../shell/index.ts';
import { NewCampaignSheet } from './new-campaign.tsx';
import { isMessaging, useCampaigns, useMayEdit, useSummary } from './queries.ts';
import { progressParts, doneShare } from './progress.ts';
import { campaignState, hoursWords, type Campaign } from './states.ts';
import './page.css';

const ORDER: Readonly<Record<Campaign['status'], number>> = { active: 0, paused: 1, draft: 2, completed: 3, archived: 4 };
const STATUSES: readonly Campaign['status'][] = ['active', 'paused', 'draft', 'completed', 'archived'];
const ended = (one: Campaign): boolean => one.status === 'completed' || one.status === 'archived';

export const campaignName = (one: Campaign): string => one.name.trim() || t('Campaign without a name');

function Progress({ campaign }: { campaign: Campaign }) {
  const summary = useSummary(campaign.id, campaign.status === 'active', !isMessaging(campaign) && campaign.callingList !== null);
  const progress = summary.data?.data.progress;
  if (isMessaging(campaign) && campaign.chatapp?.stats) {
    const { total, pending } = campaign.chatapp.stats;
    return <span className="num mid">{t('{n} of {all} handled', { n: count(total - pending), all: count(total) })}</span>;
  }
  if (!campaign.callingList) return <span className="dim">{t('no list yet')}</span>;
  if (!progress) return <span className="skel" />;
  return <div className="row"><div className="grow"><StackedBar label={t('Progress')} parts={progressParts(progress)} /></div><span className="num share">{percent(doneShare(progress), 0)}</span></div>;
}

function Won({ campaign, spent }: { campaign: Campaign; spent?: boolean }) {
  const summary = useSummary(campaign.id, campaign.status === 'active', !isMessaging(campaign) && campaign.callingList !== null).data?.data;
  if (!summary || summary.lifecycle.startedAt === null) return <span className="dim">–</span>;
  return spent ? <span className="num">{rupeesWhole(summary.spentMinor)}</span> : <span className="num">{count(summary.winMetric.count)} <span className="dim" dir="auto">{summary.winMetric.label}</span></span>;
}

const useColumns = (agents: ReadonlyMap<string, string>): readonly Column<Campaign>[] => [
  { key: 'name', head: t('Campaign'), width: 'minmax(220px, 1.5fr)', cell: (one) => <span className="who"><Link href={`/campaigns/${one.id}`} className="under cut"><Name>{campaignName(one)}</Name></Link><span className="dim cut"><Name>{one.agentId ? agents.get(one.agentId) ?? '' : ''}</Name></span></span> },
  { key: 'state', head: t('State'), width: '120px', cell: (one) => { const { text, tone } = campaignState(one.status); return <State tone={tone}>{text}</State>; } },
  { key: 'progress', head: t('Done'), width: 'minmax(170px, 1fr)', cell: (one) => <Progress campaign={one} /> },
  { key: 'list', head: t('List'), width: '84px', right: true, cell: (one) => (one.callingList ? count(one.callingList.total) : '–') },
  { key: 'won', head: t('Result'), width: 'minmax(110px, .7fr)', right: true, cell: (one) => <Won campaign={one} /> },
  { key: 'spent', head: t('Spent'), width: '100px', right: true, cell: (one) => <Won campaign={one} spent /> },
  { key: 'hours', head: t('Hours'), width: 'minmax(120px, .7fr)', cell: (one) => <span className="mid">{isMessaging(one) ? t('messages') : hoursWords(one.settings)}</span> },
  { key: 'at', head: t('Changed, IST'), width: '120px', right: true, cell: (one) => <When at={one.updatedAt} /> },
];

const thin = (one: Campaign) => {
  const { text, tone } = campaignState(one.status);
  return <div className="stack tight-rows"><div className="row"><Link href={`/campaigns/${one.id}`} className="medium grow cut"><Name>{campaignName(one)}</Name></Link><span className="num dim">{one.callingList ? count(one.callingList.total) : ''}</span></div><div className="row"><State tone={tone}>{text}</State><div className="grow"><Progress campaign={one} /></div></div></div>;
};

const NAMES = ['q', 'state', 'ended'];

export function Page() {
  const campaigns = useCampaigns();
  const may = useMayEdit();
  const [creating, setCreating] = useState(false);
  const raw = useRaw('listCampaigns', {}, campaigns.data);
  const start = (): void => setCreating(true);
  useKeys(may ? [{ key: 'n', text: t('New campaign'), act: start }] : []);
  useCommands(may ? [{ id: 'new-campaign', text: t('New campaign'), act: start }] : []);
  const all = campaigns.data?.data ?? [];
  const dialling = all.filter((one) => one.status === 'active').length;
  return (
    <>
      <Head title={t('Campaigns')} sub={campaigns.data && all.length > 0 && <span className="dim num wide">{plural(all.length, '{n} campaign', '{n} campaigns')} · {t('{n} dial now', { n: count(dialling) })}</span>}>
        {may && all.length > 0 && <Button kind="primary" icon={Plus} keys="N" onPress={start}>{t('New campaign')}</Button>}
        <More entries={raw.entries} />
      </Head>
      <Shown of={campaigns} what={t('The campaigns could not be read.')}>
        {({ data }) => (data.length === 0 ? <Empty title={t('No campaign yet')} action={may && <Button kind="primary" icon={Plus} onPress={start}>{t('New campaign')}</Button>}>{t('A campaign is an agent, a list of people, and the hours in which they are called.')}</Empty> : <List all={data} />)}
      </Shown>
      {raw.sheet}
      <NewCampaignSheet open={creating} onClose={() => setCreating(false)} />
    </>
  );
}

function List({ all }: { all: readonly Campaign[] }) {
  const filters = useFilters();
  const [, navigate] = useLocation();
  const agents = useRead('listAgents', {});
  const names = new Map((agents.data?.data ?? []).map((one) => [one.id, one.name]));
  const columns = useColumns(names);
  const [q, states] = [filters.one('q').trim().toLocaleLowerCase(), filters.all('state')];
  const found = all.filter((one) => (states.length === 0 || states.includes(one.status)) && (q === '' || one.name.toLocaleLowerCase().includes(q)));
  const hidden = states.length === 0 && q === '' && filters.one('ended') === '' ? found.filter(ended).length : 0;
  const shown = (hidden > 0 && found.length > hidden ? found.filter((one) => !ended(one)) : found).toSorted((a, b) => ORDER[a.status] - ORDER[b.status]);
  return (
    <>
      <div className="toolbar">
        <Finder label={t('Find a campaign')} placeholder={t('Name')} value={filters.one('q')} onChange={(value) => filters.set('q', value, true)} />
        <div className="facets"><Facet name={t('State')} items={STATUSES.map((id) => ({ id, text: campaignState(id).text, count: all.filter((one) => one.status === id).length }))} on={states} set={(values) => filters.set('state', values)} /></div>
        <span className="grow" />
        {hidden > 0 && shown.length < found.length && <Button kind="bare" small onPress={() => filters.set('ended', '1')}>{plural(hidden, 'Show {n} that is over', 'Show {n} that are over')}</Button>}
      </div>
      {shown.length === 0 ? <NoMatch title={t('No campaigns match.')} clear={() => filters.clear(NAMES)} /> : <Grid label={t('Campaigns')} rows={fixedRows(shown)} columns={columns} id={(one) => one.id} open={(one) => navigate(`/campaigns/${one.id}`)} thin={thin} least={1040} />}
    </>
  );
}
