import { CircleAlert } from 'lucide-react';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { call, useSend, type ApiError, type Schemas } from '../api/index.ts';
import { Box, Button, ErrorNote, Fact, Facts, Icon, Sheet, StackedBar, State, TextInput, count, percent, plural, rupees, rupeesWhole, span, t, useFilters, when, type BarPart, type BarTone } from '../parts/index.ts';
import { columnName, findingAbout, findingTitle, findingTone, keyOfFinding, wouldNot, type Finding } from './findings.ts';
import type { Import } from './import-state.ts';
import { problemWords, type Campaign } from './states.ts';

type Preflight = Schemas['StagedListPreflight'];

export function Verdict({ verdict }: { verdict: Preflight }) {
  return (
    <section className="verdict">
      <div><p className="big num" data-verdict>{count(verdict.willCall)} <span className="unit">{t('would be called')}</span></p><p className="mid num">{wouldNot(verdict)}</p></div>
      <StackedBar large label={t('Verdict')} parts={barParts(verdict)} />
    </section>
  );
}

/** The rows by what happens to them; those with no finding of their own among who is not called are grey. */
function barParts(verdict: Preflight): readonly BarPart[] {
  const of = (tone: BarTone): number => verdict.findings.filter((finding) => finding.harm !== 'read_as' && finding.harm !== 'waits' && findingTone(finding) === tone).reduce((sum, finding) => sum + finding.count, 0);
  const stops = verdict.findings.filter((finding) => finding.harm === 'stops').reduce((sum, finding) => sum + finding.count, 0);
  const [bad, rule] = [of('bad') - stops, of('rule')];
  return [
    { name: t('would be called'), value: verdict.willCall, tone: 'ok' }, { name: t('wait first'), value: verdict.willWait, tone: 'wait' },
    { name: t('not called'), value: Math.max(0, verdict.willNotCall - bad - rule - stops), tone: 'mute' },
    { name: t('a rule said no'), value: rule, tone: 'rule' }, { name: t('cannot be called'), value: bad + stops, tone: 'bad' },
  ];
}

export function Findings({ campaign, verdict, work, list }: { campaign: Campaign; verdict: Preflight; work: Import; list: string }) {
  const [giving, setGiving] = useState<Finding | null>(null);
  return (
    <Box title={t('What was found')} inside={false}>
      {verdict.findings.length === 0 ? <p className="in mid">{t('Nothing to decide, every row can be called.')}</p>
        : <ul className="found">{verdict.findings.map((finding) => <Found key={keyOfFinding(finding)} finding={finding} work={work} give={() => setGiving(finding)} />)}</ul>}
      <Sheet open={giving !== null} onClose={() => setGiving(null)} label={t('Give a value')}>{giving && <GiveValue campaign={campaign.id} list={list} finding={giving} work={work} onClose={() => setGiving(null)} />}</Sheet>
    </Box>
  );
}

function Found({ finding, work, give }: { finding: Finding; work: Import; give: () => void }) {
  const filters = useFilters();
  const look = (): void => { filters.set('finding', keyOfFinding(finding)); requestAnimationFrame(() => document.querySelector('.staged')?.scrollIntoView({ block: 'start' })); };
  const variable = finding.column?.startsWith('variables.') ? finding.column.slice(10) : null;
  const { mapping } = work;
  const column = mapping && variable ? mapping.targets.indexOf(`var:${variable}`) : -1;
  const stops = finding.code === 'missing_required_variables' && variable !== null;
  return (
    <li data-finding={finding.code} data-column={finding.column} {...(finding.harm === 'stops' ? { 'data-stops': true } : {})}>
      <State tone={findingTone(finding)}><b className="num">{count(finding.count)}</b></State>
      <div><p className="medium" dir="auto">{findingTitle(finding)}</p><p className="mid" dir="auto">{findingAbout(finding)}</p></div>
      <div className="row wrap">
        {stops && <Button small onPress={give}>{t('Give a value')}</Button>}
        {stops && mapping && variable && <Button small kind="bare" onPress={() => work.remap({ ...mapping, needs: [...mapping.needs, variable] })}>{t('Leave them out')}</Button>}
        {finding.code === 'date_day_first' && mapping && column >= 0 && <Button small onPress={() => work.remap({ ...mapping, monthFirst: [...mapping.monthFirst, column] })}>{t('Read as month/day')}</Button>}
        <Button small kind={stops ? 'bare' : 'plain'} onPress={look}>{t('Look at them')}</Button>
      </div>
    </li>
  );
}

const AT_ONCE = 6;
const FEW = 1_000;

/** One value for everybody who has none: sent again with it while the file is here, else row by row. */
function GiveValue({ campaign, list, finding, work, onClose }: { campaign: string; list: string; finding: Finding; work: Import; onClose: () => void }) {
  const [value, setValue] = useState('');
  const [fault, setFault] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const again = useSend('editStagedRow');
  const variable = (finding.column ?? '').replace(/^variables\./, '');
  const submit = async (): Promise<void> => {
    if (value.trim() === '') return setFault(true);
    if (work.mapping && work.file) { work.remap({ ...work.mapping, fills: { ...work.mapping.fills, [variable]: value.trim() } }); return onClose(); }
    setBusy(true);
    try {
      const rows = await rowsOf(campaign, list, finding);
      while (rows.length > 1) await Promise.all(rows.splice(0, Math.min(AT_ONCE, rows.length - 1)).map((row) => call('editStagedRow', { path: { id: campaign, list, row: String(row) }, body: { variables: { [variable]: value.trim() } } })));
      const [last] = rows;
      if (last !== undefined) await again.mutateAsync({ path: { id: campaign, list, row: String(last) }, body: { variables: { [variable]: value.trim() } } });
      onClose();
    } catch (cause) { setError(cause as ApiError); } finally { setBusy(false); }
  };
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); void submit(); }}>
      <h2>{t('Give a value')}</h2>
      <p className="mid">{plural(finding.count, '{n} row has no {column}. All of them get this one.', '{n} rows have no {column}. All of them get this one.', { column: columnName(finding.column) })}</p>
      <TextInput label={columnName(finding.column)} value={value} onChange={(now) => { setValue(now); setFault(false); }} fault={fault ? t('Write the value.') : null} autoFocus />
      {error && <ErrorNote error={error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={busy}>{plural(finding.count, 'Give it to {n} row', 'Give it to {n} rows')}</Button></div>
    </Form>
  );
}

async function rowsOf(campaign: string, list: string, finding: Finding): Promise<number[]> {
  const rows: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await call('listStagedRows', { path: { id: campaign, list }, query: { finding: finding.code, ...(finding.column ? { column: finding.column } : {}), limit: 200, ...(cursor ? { cursor } : {}) } });
    rows.push(...page.data.map((row) => row.row));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && rows.length < FEW);
  return rows;
}

export function When({ verdict, campaign }: { verdict: Preflight; campaign: Campaign }) {
  const { schedule } = verdict;
  const { retryCount, cooldownMinutes } = campaign.settings;
  return (
    <Box title={t('When')}>
      <Facts>
        <Fact name={t('Starts')}>{schedule.insideWindow ? t('at once, hours are open') : schedule.startsAt ? when(schedule.startsAt) : t('never: its hours do not open')}</Fact>
        {schedule.finishesAt && <Fact name={t('Done')}>{plural(schedule.lines, 'about {time}, at {n} line', 'about {time}, at {n} lines', { time: when(schedule.finishesAt) })}</Fact>}
        <Fact name={t('First minute')}>{plural(verdict.firstMinuteDials, '{n} dial', '{n} dials')}</Fact>
        <Fact name={t('Attempts')}>{retryCount === 0 ? t('one') : plural(cooldownMinutes, 'up to {all}, {n} minute apart', 'up to {all}, {n} minutes apart', { all: retryCount + 1 })}</Fact>
      </Facts>
    </Box>
  );
}

export function Money({ verdict, campaign }: { verdict: Preflight; campaign: string }) {
  const { cost } = verdict;
  const short = cost.expectedMinor > cost.availableMinor;
  const other = [...verdict.problems, ...verdict.warnings].filter((one) => !(short && one.code === 'balance_too_small') && one.code !== 'list_empty' && one.code !== 'missing_required_variables');
  return (
    <Box title={t('Money')}>
      <Facts>
        <Fact name={t('Expected')}><span className="num">{rupeesWhole(cost.expectedMinor)}</span><br /><span className="dim num">{t('{share} answer, {time} each', { share: percent(cost.basedOn.connectRate, 0), time: span(cost.basedOn.avgTalkSeconds) })}</span></Fact>
        <Fact name={t('At most')}><span className="num">{rupeesWhole(cost.atMostMinor)}</span></Fact>
        <Fact name={t('In the wallet')}><span className="num">{rupees(cost.availableMinor)}</span></Fact>
      </Facts>
      {short && <div className="note" data-tone="wait"><Icon of={CircleAlert} /><p>{t('The wallet covers about {share} of it. Calls stop when it is empty.', { share: percent(cost.availableMinor / cost.expectedMinor, 0) })}</p></div>}
      {other.map((problem) => <div key={problem.code} className="note" data-tone="wait"><Icon of={CircleAlert} /><p dir="auto">{problemWords(problem, campaign).text}</p></div>)}
    </Box>
  );
}
