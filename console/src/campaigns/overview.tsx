import { Link } from 'react-aria-components';
import { useRead, type Schemas } from '../api/index.ts';
import { Box, ErrorBlock, Figure, Figures, Key, Name, Shown, StackedBar, clock, count, day, dayOf, percent, plural, rupees, rupeesWhole, span, t, type BarTone } from '../parts/index.ts';
import { CallingListBox } from './calling-list.tsx';
import { doneShare, ofState, progressParts } from './progress.ts';
import { usePreflight, useSummary } from './queries.ts';
import { ROW_STATES, heldWords, rowState, type Campaign, type RowState } from './states.ts';

type Summary = Schemas['CampaignSummary'];

export function Overview({ campaign }: { campaign: Campaign }) {
  const active = campaign.status === 'active';
  const summary = useSummary(campaign.id, active);
  return (
    <div className="camp">
      <div className="pad tight">
        <Shown of={summary} what={t('The figures of the campaign could not be read.')} rows={6}>
          {({ data }) => (
            <>
              <div className="cgrid"><Where campaign={campaign} summary={data} /><HowFar campaign={campaign} summary={data} /></div>
              <Money campaign={campaign} summary={data} />
            </>
          )}
        </Shown>
      </div>
      <CallingListBox campaign={campaign} />
    </div>
  );
}

function Where({ campaign, summary }: { campaign: Campaign; summary: Summary }) {
  const { progress } = summary;
  return (
    <Box title={t('Where the list is')} extra={<span className="dim num">{plural(progress.total, '{n} person', '{n} people')} · {t('{share} done', { share: percent(doneShare(progress), 0) })}</span>}>
      <StackedBar large label={t('Progress')} parts={progressParts(progress)} />
      <dl className="prog">
        {ROW_STATES.map((state) => (
          <div key={state}><dt><Key tone={rowState(state).bar}><Link href={`/campaigns/${campaign.id}/list?state=${state}`} className="under">{rowState(state).text}</Link></Key></dt><dd className="num"><b data-count={state}>{count(ofState(progress, state))}</b></dd><dd className="dim cut"><About state={state} campaign={campaign} summary={summary} /></dd></div>
        ))}
      </dl>
    </Box>
  );
}

function About({ state, campaign, summary }: { state: RowState; campaign: Campaign; summary: Summary }) {
  const { progress } = summary;
  const preflight = usePreflight(campaign.id, { enabled: campaign.status === 'active' }).data;
  const schedule = preflight && 'schedule' in preflight ? preflight.schedule : null;
  switch (state) {
    case 'queued': return progress.queued > 0 && schedule && !schedule.insideWindow && schedule.startsAt ? <>{t('from {time}', { time: near(schedule.startsAt) })}</> : null;
    case 'held': return progress.held > 0 ? <Held campaign={campaign} summary={summary} /> : null;
    case 'in_progress': return progress.inProgress > 0 && schedule ? <>{plural(schedule.lines, 'of {n} line', 'of {n} lines')}</> : null;
    case 'reached': return progress.reached > 0 ? <>{t('a person answered')}</> : null;
    case 'unreached': return <>{[progress.retryable > 0 ? plural(progress.retryable, '{n} is tried again', '{n} are tried again') : '', progress.blocked > 0 ? t('{n} blocked by a rule', { n: count(progress.blocked) }) : ''].filter(Boolean).join(', ')}</>;
    case 'invalid': return progress.invalid > 0 ? <>{t('duplicates, bad numbers, numbers abroad')}</> : null;
  }
}

/** A moment as short as it can be: a time of today, else the day too. */
const near = (at: string): string => (dayOf(at) === dayOf(Date.now()) ? clock(at) : `${day(at)}, ${clock(at)}`);
const SEEN = 200;

/** Why rows are held, and when the first of them is free. Beyond 200 rows the moment is only said when it is the same for all that were read. */
function Held({ campaign, summary }: { campaign: Campaign; summary: Summary }) {
  const rows = useRead('listCampaignContacts', { path: { id: campaign.id }, query: { state: 'held', limit: SEEN } }, { keep: true }).data;
  const all = rows !== undefined && rows.total <= SEEN;
  const words = Object.entries(summary.heldByReason).filter(([, n]) => n > 0).map(([reason, n]) => {
    const times = (rows?.data ?? []).filter((row) => row.heldReason === reason).map((row) => row.nextAttemptAt).filter((at) => at !== null).sort();
    const [first, last] = [times[0], times.at(-1)];
    const known = first !== undefined && (all || first === last);
    return known ? t('{n} {why}, from {time}', { n: count(n), why: heldWords(reason), time: near(first) }) : t('{n} {why}', { n: count(n), why: heldWords(reason) });
  });
  return <>{words.join('; ')}</>;
}

const TONES: Readonly<Record<Schemas['ColumnType'], BarTone>> = { new: 'line', open: 'mute', advancing: 'info', won: 'ok', lost: 'mute', dnc: 'rule', no_contact: 'line' };

function HowFar({ campaign, summary }: { campaign: Campaign; summary: Summary }) {
  const board = useRead('getCampaignBoard', { path: { id: campaign.id } }, { keep: true });
  const columns = (board.data?.data.columns ?? []).filter((column) => column.type !== 'new' && column.type !== 'no_contact');
  const reached = summary.progress.reached;
  const rows = board.data ? columns.map((column) => ({ key: column.id, name: column.name, n: column.count, tone: TONES[column.type] }))
    : [{ key: 'contacted', name: t('Contacted'), n: summary.funnel.contacted, tone: 'mute' as const }, { key: 'advancing', name: t('On the way'), n: summary.funnel.advancing, tone: 'info' as const }, { key: 'won', name: summary.winMetric.label, n: summary.funnel.won, tone: 'ok' as const }, { key: 'lost', name: t('Lost'), n: summary.funnel.lost, tone: 'mute' as const }];
  const most = Math.max(1, reached, ...rows.map((row) => row.n));
  if (board.error && board.error.code !== 'plan_feature_locked') return <Box title={t('How far people came')} inside={false}><ErrorBlock what={t('The board could not be read.')} error={board.error} again={() => { void board.refetch(); }} /></Box>;
  const sorted = rows.reduce((sum, row) => sum + row.n, 0);
  return (
    <Box title={t('How far people came')} extra={board.data && <Link href={`/boards/${campaign.id}`} className="link">{t('Board')}</Link>}>
      <Bar name={t('Reached')} n={reached} most={most} tone="ok" />
      {rows.map((row) => <Bar key={row.key} name={<Name>{row.name}</Name>} n={row.n} most={most} tone={row.tone} share={reached > 0 ? row.n / reached : null} />)}
      <p className="meta">{t('Shares are of the people reached.')} {board.data && reached > sorted && plural(reached - sorted, '{n} is talked to now or not sorted yet.', '{n} are talked to now or not sorted yet.')}</p>
    </Box>
  );
}

const Bar = ({ name, n, most, tone, share }: { name: React.ReactNode; n: number; most: number; tone: BarTone; share?: number | null }) => (
  <div className="frow"><span className="cut">{name}</span><div className="fb" aria-hidden><i data-tone={tone} style={{ width: `${(n / most) * 100}%` }} /></div><b className="num right">{count(n)}</b><span className="dim num">{share === null || share === undefined ? '' : percent(share)}</span></div>
);

function Money({ campaign, summary }: { campaign: Campaign; summary: Summary }) {
  const open = campaign.status !== 'completed' && campaign.status !== 'archived';
  const preflight = usePreflight(campaign.id, { enabled: open && campaign.callingList !== null }).data;
  const calls = preflight && 'cost' in preflight ? preflight : null;
  const dials = useRead('getCallAnalytics', { query: { campaignId: campaign.id } }).data?.data;
  const finishes = open ? calls?.schedule.finishesAt ?? null : summary.lifecycle.completedAt;
  const [share, unit] = summary.connectRate === null ? ['–', undefined] : [percent(summary.connectRate).replace('%', ''), '%'];
  return (
    <Figures>
      <Figure name={t('Answered')} value={share} unit={unit} under={dials ? plural(dials.totals.calls, 'of {n} dial', 'of {n} dials') : t('of all dials')} />
      <Figure name={t('Talk, mean')} value={summary.avgCallSeconds === null ? '–' : span(summary.avgCallSeconds)} under={t('of answered calls')} />
      <Figure name={t('Spent')} value={rupeesWhole(summary.spentMinor)} under={calls ? t('of about {money} expected', { money: rupeesWhole(summary.spentMinor + calls.cost.expectedMinor) }) : t('by its calls')} />
      <Figure name={t('One result costs')} value={summary.costPerOutcomeMinor === null ? '–' : rupees(summary.costPerOutcomeMinor)} under={<span dir="auto">{t('{n} in “{column}”', { n: count(summary.winMetric.count), column: summary.winMetric.label })}</span>} />
      <Figure name={open ? t('Finishes') : t('Finished')} value={finishes ? clock(finishes) : '–'} unit={finishes ? (dayOf(finishes) === dayOf(Date.now()) ? t('today') : day(finishes)) : undefined} under={calls && open ? plural(calls.schedule.lines, 'at {n} line, with second attempts', 'at {n} lines, with second attempts') : campaign.status === 'draft' ? t('known with a list') : undefined} />
    </Figures>
  );
}
