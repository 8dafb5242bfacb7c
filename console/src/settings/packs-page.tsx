import { ofWorkspace, useOperator } from '../api/use-operator.ts';
import { Body, Box, Empty, Fact, Facts, Name, Shown, State, Tag, count, day, dayName, plural, t } from '../parts/index.ts';
import { Frame } from './frame.tsx';
import { daysSaid } from './names.ts';

interface Pack {
  id: string; name: string; hours: { days: number[]; from: string; to: string }[]; holidays?: string[]; caps?: { perDay?: number | null; perWeek?: number | null }; requireConsent?: boolean; families?: string[];
  numberSeries?: { series: string; communications?: string[]; since?: string | null; warnFrom?: string | null; refuses?: boolean; source?: string }[];
  dlt?: { minDigits?: number; maxDigits?: number } | null; disclosure?: { withinSeconds: number; texts: { language?: string; text?: string }[]; source?: string } | null; createdAt: string;
}

const cap = (most: number | null | undefined): string => (most === null || most === undefined ? t('no limit') : plural(most, '{n} dial', '{n} dials'));

function PackBox({ pack }: { pack: Pack }) {
  return (
    <Box title={<Name>{pack.name}</Name>} extra={<span className="mono dim wide">{pack.id}</span>}>
      <Facts>
        <Fact name={t('Calling hours')}>{pack.hours.length === 0 ? t('never') : pack.hours.map((one) => <span key={`${one.days.join()} ${one.from}`} className="se-block num">{daysSaid(one.days)} {one.from}–{one.to} IST</span>)}</Fact>
        <Fact name={t('Closed on')}>{pack.holidays && pack.holidays.length > 0 ? pack.holidays.map(dayName).join(', ') : t('no other day')}</Fact>
        <Fact name={t('In 24 hours')}>{cap(pack.caps?.perDay)}</Fact>
        <Fact name={t('In 7 days')}>{cap(pack.caps?.perWeek)}</Fact>
        <Fact name={t('Consent')}>{pack.requireConsent ? t('needed: without it nobody is called') : t('not needed')}</Fact>
        {pack.families && pack.families.length > 0 && <Fact name={t('For')}><span className="row wrap">{pack.families.map((one) => <Tag key={one}>{one}</Tag>)}</span></Fact>}
        {(pack.numberSeries ?? []).map((rule, at) => <Fact key={at} name={t('Number series')}><State tone={rule.refuses ? 'rule' : 'wait'}>{rule.refuses ? t('{series}: other numbers are refused', { series: rule.series }) : t('{series}: other numbers warn', { series: rule.series })}</State>{rule.since && <span className="dim"> {t('since {day}', { day: dayName(rule.since) })}</span>}{rule.source && <span className="meta se-block"><Name>{rule.source}</Name></span>}</Fact>)}
        {pack.dlt && <Fact name={t('Registered ids')}>{t('needed by promotional campaigns')}</Fact>}
        {pack.disclosure && <Fact name={t('Must be said')}>{plural(pack.disclosure.withinSeconds, 'within {n} second of the answer', 'within {n} seconds of the answer')}{pack.disclosure.texts.map((one, at) => <span key={at} className="mid se-block"><Name lang={one.language}>{one.text}</Name></span>)}</Fact>}
        <Fact name={t('Since')}>{day(pack.createdAt)}</Fact>
      </Facts>
    </Box>
  );
}

export function Page() {
  const packs = useOperator<{ data: Pack[] }>(ofWorkspace('/compliance-packs'));
  return (
    <Frame tab="packs">
      <Body>
        <p className="mid">{t('A pack says when, how often and under which conditions its agents may call. These are your own; who runs this service makes and changes them.')}</p>
        <Shown of={packs} what={t('The packs could not be read.')} rows={4}>
          {({ data }) => (data.length === 0 ? <Empty title={t('No pack of your own')}>{t('Your agents use the packs that come with the service.')}</Empty> : <div className="se-two" data-packs={count(data.length)}>{data.map((pack) => <PackBox key={pack.id} pack={pack} />)}</div>)}
        </Shown>
      </Body>
    </Frame>
  );
}
