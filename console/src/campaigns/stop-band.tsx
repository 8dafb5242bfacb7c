import { TriangleAlert } from 'lucide-react';
import { Link } from 'react-aria-components';
import { useRead } from '../api/index.ts';
import { Button, Icon, t, when } from '../parts/index.ts';
import { isMessaging } from './queries.ts';
import { chatappPause, skippedWords, type Campaign } from './states.ts';

/** Reasons for which a campaign stands still until a person acts. */
const STANDS = new Set(['kyb_unverified', 'insufficient_balance', 'workspace_suspended', 'provider_error', 'run_error']);

/** The red band: the service stopped the campaign by itself. Says the cause, since when, and offers what helps. */
export function StopBand({ campaign, resume }: { campaign: Campaign; resume: (() => void) | null }) {
  return isMessaging(campaign) ? <Paused campaign={campaign} resume={resume} /> : <Standing campaign={campaign} />;
}

function Paused({ campaign, resume }: { campaign: Campaign; resume: (() => void) | null }) {
  const reason = campaign.chatapp?.pausedReason;
  const attention = useRead('listAttention', {}, { enabled: Boolean(reason) });
  if (!reason || campaign.status !== 'paused') return null;
  const since = attention.data?.data.find((one) => one.kind === 'campaign_paused' && one.subject.id === campaign.id)?.since;
  return <Band text={chatappPause(reason)} since={since ?? null}>{resume && <Button small onPress={resume}>{t('Resume…')}</Button>}</Band>;
}

function Standing({ campaign }: { campaign: Campaign }) {
  const active = campaign.status === 'active';
  const runs = useRead('listCampaignRuns', { path: { id: campaign.id }, query: { limit: 1 } }, { enabled: active });
  const last = runs.data?.data[0];
  if (!active || !last || last.status !== 'skipped' || !last.skippedReason || !STANDS.has(last.skippedReason)) return null;
  const { why, help, href } = skippedWords(last.skippedReason);
  return <Band text={`${why}. ${last.error ?? help}`} since={last.createdAt}>{href && <Link href={href} className="link">{t('Go there')}</Link>}</Band>;
}

function Band({ text, since, children }: { text: string; since: string | null; children: React.ReactNode }) {
  return <div className="band" role="alert" data-band="stopped"><div className="note" data-tone="bad"><Icon of={TriangleAlert} /><div className="grow"><p className="medium" dir="auto">{t('The service stopped dialling.')} {text}</p>{since && <p className="mid num">{t('Since {time} IST', { time: when(since) })}</p>}</div>{children}</div></div>;
}
