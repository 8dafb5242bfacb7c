import './page.css';
import { currentScope } from '../api/index.ts';
import { Body, Box, Button, ButtonLink, Dates, Empty, Facet, Figure, Figures, Head, More, NoMatch, Shown, causeWord, count, dayName, millis, percent, plural, rangeName, rupees, rupeesWhole, span, t, useRaw, type FacetItem } from '../parts/index.ts';
import { exists } from '../shell/index.ts';
import { Columns, Legend, Rows, type Row } from './bars.tsx';
import { HourSheet } from './hour-sheet.tsx';
import { HoursBox, WeekBox } from './hours.tsx';
import { AgentReactions, ProviderReactions } from './reactions.tsx';
import { callsBehind, outcomeName, useAgents, useAsked, useCampaigns, useReport, type Asked, type Report } from './queries.ts';

export function Page() {
  const asked = useAsked();
  const report = useReport(asked);
  const raw = useRaw('getCallAnalytics', { query: { groupBy: 'hour' } }, report.data);
  const scope = currentScope();
  if (scope?.test) return <><Head title={t('Analytics')} /><Empty title={t('Analytics counts live calls')} action={<ButtonLink href={`~/console/${scope.workspace}/analytics`}>{t('Open analytics of live mode')}</ButtonLink>}>{t('Calls of test mode are in no figure.')}</Empty></>;
  const locked = report.error?.code === 'plan_feature_locked' || report.error?.code === 'feature_disabled';
  return (
    <>
      <Head title={t('Analytics')} sub={<span className="dim wide">{rangeName(asked.range)}, {t('days of India (IST)')}</span>}><More entries={raw.entries} /></Head>
      <FilterBar asked={asked} />
      <Body>
        {locked ? <Empty title={t('Analytics is switched off')}>{t('The operator of this installation can switch it on for the workspace.')}</Empty> : (
          <Shown of={report} what={t('The figures could not be read.')}>{(answer) => (
            <>{answer.data.totals.calls === 0 ? <NoCalls asked={asked} /> : <Plots report={answer.data} asked={asked} />}<HourSheet report={answer.data} asked={asked} /></>
          )}</Shown>
        )}
      </Body>
      {raw.sheet}
    </>
  );
}

function NoCalls({ asked }: { asked: Asked }) {
  if (asked.agentId || asked.campaignId) return <NoMatch title={t('No calls match.')} clear={() => asked.filters.clear(['agentId', 'campaignId'])} />;
  return <Empty title={t('No call in these days')} action={<Button onPress={() => asked.filters.clear(['from', 'to'])}>{t('Show the last 7 days')}</Button>}>{t('Live calls that rang stand here, whether they were answered or not.')}</Empty>;
}

function FilterBar({ asked }: { asked: Asked }) {
  const agents = useAgents().data?.data ?? [];
  const campaigns = useCampaigns().data?.data ?? [];
  const { filters } = asked;
  const items = (all: readonly { id: string; name: string }[], on: string): FacetItem[] => [...all.map((one) => ({ id: one.id, text: one.name })), ...(on && !all.some((one) => one.id === on) ? [{ id: on, text: on }] : [])];
  const change = (range: { start: string; end: string }): void => { filters.set('from', range.start); filters.set('to', range.end); };
  return (
    <div className="toolbar"><div className="facets">
      <Dates value={asked.range} onChange={change} />
      <Facet name={t('Agent')} single items={items(agents.filter((one) => one.channel === 'call'), asked.agentId)} on={asked.agentId ? [asked.agentId] : []} set={([id]) => filters.set('agentId', id ?? null)} />
      <Facet name={t('Campaign')} single items={items(campaigns, asked.campaignId)} on={asked.campaignId ? [asked.campaignId] : []} set={([id]) => filters.set('campaignId', id ?? null)} />
      {filters.any(['from', 'to', 'agentId', 'campaignId']) && <Button small kind="bare" onPress={() => filters.clear(['from', 'to', 'agentId', 'campaignId'])}>{t('Clear filters')}</Button>}
    </div></div>
  );
}

function Plots({ report, asked }: { report: Report; asked: Asked }) {
  const { totals, reaction, costs } = report;
  return (
    <>
      <Figures>
        <Figure name={t('Calls')} value={count(totals.calls)} under={plural(totals.contactsTargeted, 'to {n} person', 'to {n} people')} />
        <Figure name={t('Answered')} value={percent(totals.connectRate)} under={plural(totals.peopleReached, '{n} person reached', '{n} people reached')} />
        <Figure name={t('Talk, median')} value={span(totals.talkSecondsP50)} under={t('9 of 10 within {time}', { time: span(totals.talkSecondsP90) })} />
        <Figure name={t('Reaction, median')} value={reaction.p50Ms === null ? '–' : count(reaction.p50Ms)} unit={reaction.p50Ms === null ? undefined : t('ms')} under={reaction.p95Ms === null ? t('no answer was measured') : t('95% within {time}', { time: millis(reaction.p95Ms) })} />
        <Figure name={t('Spent')} value={rupeesWhole(costs.chargedMinor)} under={totals.answered === 0 ? t('nobody answered') : t('{money} an answered call', { money: rupees(costs.chargedMinor / totals.answered) })} />
      </Figures>
      <div className="plots">
        <HoursBox report={report} asked={asked} />
        {report.perDay.length > 1 ? <DaysBox report={report} asked={asked} /> : <OutcomeBox report={report} asked={asked} />}
        <div className="whole"><WeekBox report={report} /></div>
        {report.perDay.length > 1 && <OutcomeBox report={report} asked={asked} />}
        <CauseBox report={report} asked={asked} />
        <AgentReactions report={report} asked={asked} />
        <ProviderReactions report={report} />
      </div>
    </>
  );
}

const behind = (asked: Asked, more: Readonly<Record<string, string>>): string | null => (exists('calls') ? callsBehind(asked, more) : null);

function DaysBox({ report, asked }: { report: Report; asked: Asked }) {
  const columns = report.perDay.slice(-62).map((one) => ({
    id: one.day, name: dayName(one.day), calls: one.calls, answered: one.answered, href: behind(asked, { from: one.day, to: one.day }),
    says: `${dayName(one.day)}: ${plural(one.calls, '{n} call', '{n} calls')}, ${t('{share} answered', { share: percent(one.calls === 0 ? 0 : one.answered / one.calls) })}`,
  }));
  return <Box title={t('Calls and answers by day')} extra={<Legend usual={false} />}><Columns label={t('Calls and answers by day')} columns={columns} every={Math.ceil(columns.length / 5)} /></Box>;
}

/** Outcomes with what one of each costs. */
function OutcomeBox({ report, asked }: { report: Report; asked: Asked }) {
  const rows: Row[] = [...report.costs.byOutcome].sort((a, b) => b.calls - a.calls).map((one) => ({
    id: one.outcome ?? '', value: one.calls, figure: count(one.calls), under: t('{money} each', { money: rupees(one.calls === 0 ? 0 : one.chargedMinor / one.calls) }),
    name: one.outcome === null ? <span className="dim">{t('no outcome')}</span> : outcomeName(one.outcome), href: one.outcome === null ? null : behind(asked, { outcome: one.outcome }),
  }));
  return <Box title={t('Outcomes, and what one costs')}>{rows.length === 0 ? <p className="mid">{t('No call has an outcome yet.')}</p> : <Rows label={t('Outcomes')} rows={rows} />}</Box>;
}

function CauseBox({ report, asked }: { report: Report; asked: Asked }) {
  const all = Object.entries(report.byEndCause).sort((a, b) => b[1] - a[1]);
  const sum = all.reduce((total, [, n]) => total + n, 0);
  const rows: Row[] = all.map(([cause, n]) => ({ id: cause, name: causeWord(cause), value: n, figure: count(n), under: percent(sum === 0 ? 0 : n / sum), href: behind(asked, { endCause: cause }) }));
  return <Box title={t('How calls end')}>{rows.length === 0 ? <p className="mid">{t('No call has ended yet.')}</p> : <Rows label={t('How calls end')} rows={rows} />}</Box>;
}
