import { Pause, Phone, Play, Send } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useRead, useSend } from '../api/index.ts';
import { Body, Button, Confirm, ErrorNote, Head, More, Shown, State, Tabs, count, clock, plural, t, toast, useKeys, useRaw, when, type MenuEntry, type TabItem } from '../parts/index.ts';
import { useCommands, type PageProps } from '../shell/index.ts';
import { Launch } from './launch.tsx';
import { CallingListBox } from './calling-list.tsx';
import { campaignName } from './list-page.tsx';
import { Overview } from './overview.tsx';
import { MessagingOverview } from './messaging.tsx';
import { isMessaging, useCampaign, useIsAdmin, useMayEdit, useMayLaunch, usePreflight, useSummary } from './queries.ts';
import { Runs } from './runs.tsx';
import { Settings } from './settings.tsx';
import { CampaignStreams } from './streams-tab.tsx';
import { StopBand } from './stop-band.tsx';
import { campaignState, type Campaign } from './states.ts';
import './page.css';

const TABS = ['overview', 'list', 'board', 'runs', 'streams', 'settings'] as const;
type TabName = (typeof TABS)[number];

export function Page({ params }: PageProps) {
  const id = params.id ?? '';
  const campaign = useCampaign(id);
  const tab = TABS.find((one) => one === params.tab) ?? 'overview';
  const [, navigate] = useLocation();
  useEffect(() => { if (tab === 'board') navigate(`/boards/${id}`, { replace: true }); }, [tab, id, navigate]);
  if (!campaign.data) return <><Head back={{ href: '/campaigns', text: t('Campaigns') }} title={t('Campaign')} /><Body pad={false}><Shown of={campaign} what={t('The campaign could not be read.')}>{() => null}</Shown></Body></>;
  return <Shell campaign={campaign.data.data} tab={tab} />;
}

function useHeadline(campaign: Campaign): { text: string; tone: 'ok' | 'wait' | 'mute'; sub: string } {
  const messaging = isMessaging(campaign);
  const active = campaign.status === 'active';
  const summary = useSummary(campaign.id, active, !messaging).data?.data;
  const preflight = usePreflight(campaign.id, { enabled: active && !messaging }).data;
  const { text, tone } = campaignState(campaign.status);
  const parts: string[] = [];
  const schedule = preflight && 'schedule' in preflight ? preflight.schedule : null;
  if (active && schedule && !schedule.insideWindow && summary?.progress.inProgress === 0) return { text: t('Waits for its hours'), tone: 'wait', sub: schedule.startsAt ? t('dials from {time}', { time: when(schedule.startsAt) }) : '' };
  if (active && summary?.lifecycle.startedAt) parts.push(t('since {time}', { time: when(summary.lifecycle.startedAt) }));
  if (active && summary) parts.push(plural(summary.progress.inProgress, '{n} call', '{n} calls'));
  if (active && campaign.settings.dailyTo) parts.push(t('rests at {time}', { time: campaign.settings.dailyTo.slice(0, 5) }));
  if (campaign.status === 'completed' && summary?.lifecycle.completedAt) parts.push(t('since {time}', { time: when(summary.lifecycle.completedAt) }));
  if (campaign.status === 'draft') parts.push(t('nobody is called before it is launched'));
  if (campaign.status === 'paused') parts.push(t('calls that go on are not ended'));
  return { text: active && messaging ? t('Sending') : text, tone: tone === 'ok' || tone === 'wait' ? tone : 'mute', sub: parts.join(' · ') };
}

function Shell({ campaign, tab }: { campaign: Campaign; tab: TabName }) {
  const { id } = campaign;
  const name = campaignName(campaign);
  const messaging = isMessaging(campaign);
  const headline = useHeadline(campaign);
  const controls = useControls(campaign, name);
  const runs = useRead('listCampaignRuns', { path: { id }, query: { limit: 200 } }, { enabled: !messaging });
  const streams = useRead('listCampaignStreams', { path: { id } }, { enabled: !messaging });
  const href = (one: TabName): string => (one === 'board' ? `/boards/${id}` : `/campaigns/${id}/${one}`);
  const runCount = runs.data?.data.length;
  const items: TabItem[] = [
    { id: 'overview', text: t('Overview'), href: href('overview') },
    { id: 'list', text: t('List'), href: href('list'), ...(campaign.callingList ? { count: count(campaign.callingList.total) } : {}) },
    { id: 'board', text: t('Board'), href: href('board') },
    ...(messaging ? [] : [
      { id: 'runs', text: t('Dialling runs'), href: href('runs'), ...(runCount ? { count: runCount === 200 ? '200+' : count(runCount) } : {}) },
      { id: 'streams', text: t('Streams'), href: href('streams'), ...(streams.data && streams.data.data.length > 0 ? { count: count(streams.data.data.length) } : {}) },
    ]),
    { id: 'settings', text: t('Settings'), href: href('settings') },
  ];
  return (
    <>
      <Head back={{ href: '/campaigns', text: t('Campaigns') }} title={name} mark={<State tone={headline.tone}>{headline.text}</State>} sub={<span className="dim num wide cut">{headline.sub}</span>}>{controls.buttons}</Head>
      <StopBand campaign={campaign} resume={controls.resume} />
      {controls.error}
      <Tabs label={t('Campaign')} value={tab} items={items}>
        {tab === 'overview' && (messaging ? <MessagingOverview campaign={campaign} /> : <Overview campaign={campaign} />)}
        {tab === 'list' && <div className="camp whole"><CallingListBox campaign={campaign} /></div>}
        {tab === 'runs' && !messaging && <Runs id={id} />}
        {tab === 'streams' && !messaging && <CampaignStreams campaign={campaign} />}
        {tab === 'settings' && <Settings campaign={campaign} />}
      </Tabs>
      {controls.sheets}
    </>
  );
}

type Asking = 'launch' | 'complete' | 'archive' | 'delete' | 'run' | 'draft' | null;

/** What can be done by state and role: one primary, the rest in '…', what destroys last. */
function useControls(campaign: Campaign, name: string): { buttons: ReactNode; sheets: ReactNode; error: ReactNode; resume: (() => void) | null } {
  const { id, status } = campaign;
  const [asking, setAsking] = useState<Asking>(null);
  const [, navigate] = useLocation();
  const [mayLaunch, mayEdit, admin] = [useMayLaunch(), useMayEdit(), useIsAdmin()];
  const setStatus = useSend('setCampaignStatus', { alters: ['getCampaign', 'listCampaigns', 'getCampaignSummary'] });
  const running = useSend('runCampaign', { alters: ['listCampaignRuns'] });
  const remove = useSend('deleteCampaign', { alters: ['listCampaigns'] });
  const raw = useRaw('getCampaign', { path: { id } }, campaign);
  const launchable = mayLaunch && (status === 'draft' || status === 'paused');
  const launch = (): void => setAsking('launch');
  const pause = (): void => setStatus.mutate({ path: { id }, body: { status: 'paused' } }, { onSuccess: () => toast(t('Paused. Calls that go on are not ended.'), mayLaunch ? { undo: launch } : {}) });
  const primary = launchable ? (status === 'draft' ? (isMessaging(campaign) ? { text: t('Launch…'), icon: Send, act: launch } : { text: t('Launch…'), icon: Phone, act: launch }) : { text: t('Resume…'), icon: Play, act: launch }) : null;
  useKeys([...(primary ? [{ key: 'l', text: primary.text, act: launch }] : []), ...(mayLaunch && status === 'active' ? [{ key: 'p', text: t('Pause'), act: pause }] : [])]);
  useCommands(mayLaunch ? [
    ...(status === 'active' ? [{ id: 'pause', text: t('Pause {name}…', { name }), act: () => setAsking('draft') }] : []),
    ...(primary ? [{ id: 'launch', text: status === 'draft' ? t('Launch {name}…', { name }) : t('Resume {name}…', { name }), act: launch }] : []),
  ] : []);
  const over = status === 'completed' || status === 'archived';
  const entries: readonly (MenuEntry | '-' | null | false)[] = [
    mayLaunch && status === 'active' && !isMessaging(campaign) && { text: t('Run now'), act: () => setAsking('run') },
    mayEdit && !over && !isMessaging(campaign) && { text: t('New list'), href: `/campaigns/${id}/list/import` },
    ...raw.entries, '-',
    mayLaunch && (status === 'active' || status === 'paused') && { text: t('Complete…'), danger: true, act: () => setAsking('complete') },
    mayLaunch && (status === 'draft' || status === 'paused' || status === 'completed') && { text: t('Archive…'), danger: true, act: () => setAsking('archive') },
    admin && status !== 'active' && { text: t('Delete…'), danger: true, act: () => setAsking('delete') },
  ];
  const to = (next: Campaign['status']) => () => setStatus.mutateAsync({ path: { id }, body: { status: next } });
  const close = (): void => setAsking(null);
  return {
    resume: launchable && status === 'paused' ? launch : null,
    buttons: <>{primary && <Button kind="primary" icon={primary.icon} onPress={primary.act}>{primary.text}</Button>}{mayLaunch && status === 'active' && <Button icon={Pause} onPress={pause} isPending={setStatus.isPending}>{t('Pause')}</Button>}<More entries={entries} /></>,
    error: setStatus.error && asking === null ? <div className="band"><ErrorNote error={setStatus.error} /></div> : running.error && asking === null ? <div className="band"><ErrorNote error={running.error} /></div> : null,
    sheets: (
      <>
        {raw.sheet}
        <Launch open={asking === 'launch'} onClose={close} campaign={campaign} name={name} />
        <Confirm open={asking === 'draft'} onClose={close} title={t('Pause {name}', { name })} action={t('Pause')} act={to('paused')}><p>{t('No new call begins. Calls that go on are not ended.')}</p></Confirm>
        <Confirm open={asking === 'run'} onClose={close} title={t('Run now')} action={t('Dial now')} act={async () => { await running.mutateAsync({ path: { id } }); toast(t('A run began at {time}', { time: clock(Date.now()) })); }}><p>{t('Dials at once who is due, within the hours. Held and tried people keep their time.')}</p></Confirm>
        <Confirm open={asking === 'complete'} onClose={close} danger title={t('Complete {name}', { name })} action={t('End the campaign')} act={to('completed')}><p>{plural(campaign.callingList?.valid ?? 0, 'Nobody of its {n} person is dialled again. This cannot be taken back.', 'Nobody of its {n} people is dialled again. This cannot be taken back.')}</p></Confirm>
        <Confirm open={asking === 'archive'} onClose={close} danger title={t('Archive {name}', { name })} action={t('Archive the campaign')} act={to('archived')}><p>{t('It stays readable, and dials nobody again. This cannot be taken back.')}</p></Confirm>
        <Confirm open={asking === 'delete'} onClose={close} danger title={t('Delete {name}', { name })} typed={{ label: t('Last four characters of its id: {four}', { four: id.slice(-4) }), text: id.slice(-4) }} action={plural(campaign.callingList?.total ?? 0, 'Delete it with {n} row', 'Delete it with {n} rows')} act={async () => { await remove.mutateAsync({ path: { id } }); navigate('/campaigns', { replace: true }); }}><p>{t('Its list and its board go. Calls and the log stay.')}</p></Confirm>
      </>
    ),
  };
}
