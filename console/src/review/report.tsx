// What came out: verdicts by criterion, and how often people and the model agree.
import { useState } from 'react';
import { useRead } from '../api/index.ts';
import { Box, Dates, Empty, Name, Segment, Shown, StackedBar, Tip, count, indiaDay, percent, t, type DayRange } from '../parts/index.ts';
import { useFilters } from '../parts/index.ts';
import { rangeOf, type Kind } from './queries.ts';

/** The usual words for kappa (Landis and Koch). */
function kappaWord(kappa: number): string {
  if (kappa < 0) return t('worse than chance');
  if (kappa < 0.21) return t('slight');
  if (kappa < 0.41) return t('fair');
  if (kappa < 0.61) return t('moderate');
  return kappa < 0.81 ? t('substantial') : t('almost perfect');
}

export function Report({ agentId, kind: first }: { agentId: string; kind: Kind }) {
  const filters = useFilters();
  const [kind, setKind] = useState<Kind>(first);
  const range: DayRange = { start: filters.one('from') || indiaDay(29), end: filters.one('to') || indiaDay() };
  const summary = useRead('getEvaluationSummary', { query: { agentId, kind, ...rangeOf(range) } });
  const agreement = useRead('getEvaluationAgreement', { query: { agentId, ...rangeOf(range) } });
  return (
    <div className="evstack">
      <div className="row wrap"><Segment label={t('Which')} value={kind} onChange={setKind} items={[['call', t('Calls')], ['chat', t('Chats')]]} /><Dates value={range} onChange={({ start, end }) => { filters.set('from', start); filters.set('to', end); }} /></div>
      <Box title={t('What the model found')} inside={false}>
        <Shown of={summary} what={t('The results could not be read.')} rows={3}>
          {({ data }) => data.criteria.length === 0 ? <Empty title={t('Nothing was graded in these days')}>{t('Grade past conversations, or switch grading on.')}</Empty> : (
            <div className="over" tabIndex={0} role="region" aria-label={t('What the model found')}>
              <table className="tbl"><thead><tr><th>{t('Criterion')}</th><th>{t('Passed, not passed, does not apply')}</th><th className="r">{t('Pass rate')}</th><th className="r">{t('Mean score')}</th><th className="r">{t('Graded')}</th></tr></thead>
                <tbody>{data.criteria.map((one) => (
                  <tr key={one.criterionKey}><td className="medium"><Name>{one.name ?? one.criterionKey}</Name></td>
                    <td className="evbar"><StackedBar label={one.name ?? one.criterionKey} parts={[{ name: t('Passed'), value: one.passed, tone: 'ok' }, { name: t('Not passed'), value: one.failed, tone: 'bad' }, { name: t('Does not apply'), value: one.notApplicable, tone: 'mute' }]} /></td>
                    <td className="r">{one.passRate === null ? '–' : percent(one.passRate)}</td><td className="r">{one.meanScore === null ? '–' : Math.round(one.meanScore)}</td><td className="r">{count(one.passed + one.failed + one.notApplicable)}</td></tr>
                ))}</tbody></table>
            </div>
          )}
        </Shown>
      </Box>
      <Box title={t('Where people and the model agree')} inside={false}>
        <Shown of={agreement} what={t('The agreement could not be read.')} rows={3}>
          {({ data }) => data.criteria.every((one) => one.n === 0) ? <Empty title={t('Nobody has marked a conversation yet')}>{t('Open a graded call or chat and say what you think: each mark counts here.')}</Empty> : (
            <div className="over" tabIndex={0} role="region" aria-label={t('Where people and the model agree')}>
              <table className="tbl"><thead><tr><th>{t('Criterion')}</th><th className="r">{t('Marks')}</th><th className="r">{t('Agree')}</th><th className="r">{t('Kappa')}</th></tr></thead>
                <tbody>{data.criteria.map((one) => (
                  <tr key={one.criterionKey} data-kappa={one.kappa ?? ''}><td className="medium"><Name>{one.name ?? one.criterionKey}</Name></td><td className="r">{count(one.n)}</td><td className="r">{one.n === 0 ? '–' : percent(one.agreed / one.n, 0)}</td>
                    <td className="r">{one.kappa === null ? <span className="dim">–</span> : <Tip text={t('Agreement beyond chance, from −1 to 1.')}><span className="num">{one.kappa.toFixed(2)} <span className="dim">{kappaWord(one.kappa)}</span></span></Tip>}</td></tr>
                ))}</tbody></table>
            </div>
          )}
        </Shown>
      </Box>
    </div>
  );
}
