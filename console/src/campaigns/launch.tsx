import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components';
import { useSend } from '../api/index.ts';
import { Bars, Button, Confirm, ErrorNote, Fact, Facts, Icon, Sheet, count, plural, rupees, rupeesWhole, t, toast, when } from '../parts/index.ts';
import { usePreflight, type ChatappPreflight, type Preflight } from './queries.ts';
import { problemWords, reasonWords, type Campaign } from './states.ts';

interface Props { open: boolean; onClose: () => void; campaign: Campaign; name: string }

/** The preflight once more, then a button that names how many people and how many rupees. */
export function Launch({ open, onClose, campaign, name }: Props) {
  const preflight = usePreflight(campaign.id, { enabled: open, fresh: true });
  const start = useSend('setCampaignStatus', { alters: ['getCampaign', 'listCampaigns', 'getCampaignSummary', 'listCampaignRuns'] });
  const title = campaign.status === 'paused' ? t('Resume {name}', { name }) : t('Launch {name}', { name });
  const act = async (): Promise<void> => {
    await start.mutateAsync({ path: { id: campaign.id }, body: { status: 'active' } });
    toast(campaign.status === 'paused' ? t('Resumed') : t('Launched'));
  };
  const now = preflight.data;
  if (!now || preflight.isFetching) {
    return <Sheet open={open} onClose={onClose} label={title}><div className="form"><h2 dir="auto">{title}</h2>{preflight.error && !preflight.isFetching ? <ErrorNote error={preflight.error} /> : <Bars rows={4} />}<div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button></div></div></Sheet>;
  }
  const blocked = 'ready' in now ? !now.ready : !now.passes;
  if (blocked) return <Sheet open={open} onClose={onClose} label={title}><div className="form"><h2 dir="auto">{title}</h2><Problems preflight={now} id={campaign.id} onClose={onClose} /><div className="ends"><Button onPress={onClose}>{t('Close')}</Button></div></div></Sheet>;
  return 'ready' in now
    ? <Confirm open={open} onClose={onClose} title={title} act={act} action={plural(now.willCall, 'Call {n} person, about {money}', 'Call {n} people, about {money}', { money: rupeesWhole(now.cost.expectedMinor) })}><Calls preflight={now} id={campaign.id} /></Confirm>
    : <Confirm open={open} onClose={onClose} title={title} act={act} action={now.estimatedCharges ? plural(now.willReceive, 'Message {n} person, about {money}', 'Message {n} people, about {money}', { money: messageMoney(now) }) : plural(now.willReceive, 'Message {n} person', 'Message {n} people')}><Messages preflight={now} /></Confirm>;
}

const messageMoney = (now: ChatappPreflight): string => (now.estimatedCharges ? new Intl.NumberFormat('en-IN', { style: 'currency', currency: now.estimatedCharges.currency, maximumFractionDigits: 0 }).format(Number(now.estimatedCharges.total)) : '');

function Calls({ preflight, id }: { preflight: Preflight; id: string }) {
  const { schedule, cost } = preflight;
  return (
    <>
      <Facts>
        <Fact name={t('Would be called')}><b className="num">{count(preflight.willCall)}</b></Fact>
        {preflight.willWait > 0 && <Fact name={t('Called later')}>{t('{n}, called too often of late', { n: count(preflight.willWait) })}</Fact>}
        {preflight.willNotCall > 0 && <Fact name={t('Not called')}><Reasons preflight={preflight} /></Fact>}
        <Fact name={t('Starts')}>{schedule.insideWindow ? t('at once, hours are open') : schedule.startsAt ? when(schedule.startsAt) : t('never')}</Fact>
        {schedule.finishesAt && <Fact name={t('Done')}>{t('about {time}, at {lines} lines', { time: when(schedule.finishesAt), lines: count(schedule.lines) })}</Fact>}
        <Fact name={t('Expected')}>{rupees(cost.expectedMinor)}</Fact>
        <Fact name={t('At most')}>{rupees(cost.atMostMinor)}</Fact>
        <Fact name={t('In the wallet')}>{rupees(cost.availableMinor)}</Fact>
      </Facts>
      {preflight.warnings.map((warning) => <div key={warning.code} className="note" data-tone="wait"><Icon of={CircleAlert} /><p dir="auto">{problemWords(warning, id).text}</p></div>)}
    </>
  );
}

function Reasons({ preflight }: { preflight: Preflight }) {
  return <ul>{Object.entries(preflight.byReason).map(([code, reason]) => <li key={code}><span className="num">{count(reason.count)}</span> {reasonWords(code)}</li>)}</ul>;
}

function Messages({ preflight }: { preflight: ChatappPreflight }) {
  return (
    <>
      <Facts>
        <Fact name={t('Would be messaged')}><b className="num">{count(preflight.willReceive)}</b></Fact>
        {preflight.willNotReceive > 0 && <Fact name={t('Not messaged')}><ul>{Object.entries(preflight.byReason).map(([code, n]) => <li key={code}><span className="num">{count(n)}</span> {reasonWords(code)}</li>)}</ul></Fact>}
        <Fact name={t('Starts')}>{preflight.startsAt ? when(preflight.startsAt) : t('at once, hours are open')}</Fact>
        {preflight.finishesAt && <Fact name={t('Done')}>{when(preflight.finishesAt)}</Fact>}
      </Facts>
      {preflight.warnings.map((warning) => <div key={warning.code} className="note" data-tone="wait"><Icon of={CircleAlert} /><p dir="auto">{warning.message}</p></div>)}
    </>
  );
}

function Problems({ preflight, id, onClose }: { preflight: Preflight | ChatappPreflight; id: string; onClose: () => void }): ReactNode {
  const problems = 'ready' in preflight ? preflight.problems : preflight.blockers;
  return (
    <>
      <p>{t('Nobody can be called yet:')}</p>
      <ul className="problems">
        {problems.map((problem) => {
          const { text, href, link } = problemWords(problem, id);
          return <li key={problem.code} className="note" data-tone="bad"><Icon of={CircleAlert} /><div className="grow"><p dir="auto">{text}</p>{href && <Link href={href} className="link" onPress={onClose}>{link}</Link>}</div></li>;
        })}
      </ul>
    </>
  );
}
