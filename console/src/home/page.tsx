import { Phone, Plus } from 'lucide-react';
import { useLocation } from 'wouter';
import { currentScope, useMay } from '../api/index.ts';
import { Bars, Body, Box, ButtonLink, Empty, ErrorBlock, Head, More, clock, dayBegin, dayOf, longDay, shortDay, t, useKeys, useNow, useRaw } from '../parts/index.ts';
import { exists, useCommands } from '../shell/index.ts';
import { Attention } from './attention.tsx';
import { Campaigns } from './campaigns.tsx';
import { TodaysFigures } from './figures.tsx';
import { HoursChart, HoursKey } from './hours.tsx';
import { Outcomes } from './outcomes.tsx';
import './page.css';
import { useToday } from './queries.ts';

/** Simulated calls count in no figure, so test mode has none to show. */
function TestHome({ mayCall }: { mayCall: boolean }) {
  return (
    <Body>
      <Empty title={t('Try things out here')} {...(mayCall ? { action: <ButtonLink href="/calls?new=1" icon={Phone}>{t('Place a call')}</ButtonLink> } : {})}>
        {t('Simulated calls, nudges and events behave like live ones, and count in no figure. The last digits of a number decide how its call ends.')}
      </Empty>
    </Body>
  );
}

/** What runs, what is stuck, and what needs me. */
export function Page() {
  const now = useNow();
  const [, navigate] = useLocation();
  const test = currentScope()?.test ?? false;
  const today = useToday(now, !test);
  const mayCall = useMay('placeCall') && exists('calls');
  const mayCreate = useMay('createCampaign') && exists('campaigns') && !test;
  const actions = [
    ...(mayCall ? [{ id: 'call', key: 'c', text: t('Place a call'), act: () => navigate('/calls?new=1') }] : []),
    ...(mayCreate ? [{ id: 'campaign', key: 'n', text: t('New campaign'), act: () => navigate('/campaigns?new=1') }] : []),
  ];
  useKeys(actions);
  useCommands(actions);
  const data = today.data?.data;
  const raw = useRaw('getCallAnalytics', { query: { from: dayBegin(dayOf(now)), groupBy: 'hour' } }, data);
  return (
    <>
      <Head title={longDay(now)} short={shortDay(now)} sub={<span className="dim num wide">{t('{time} IST', { time: clock(now) })}</span>}>
        {mayCall && <ButtonLink icon={Phone} href="/calls?new=1"><span className="wide">{t('Place a call')}</span></ButtonLink>}
        {mayCreate && <ButtonLink icon={Plus} kind="primary" href="/campaigns?new=1">{t('New campaign')}</ButtonLink>}
        {raw.entries.length > 0 && <More entries={raw.entries} />}
      </Head>
      {raw.sheet}
      {test ? <TestHome mayCall={mayCall} /> : (
      <Body>
        {today.error && !data && <Box title={t('Today')} inside={false}><ErrorBlock what={t('The figures of today could not be read.')} error={today.error} again={() => { void today.refetch(); }} /></Box>}
        {!data && !today.error && <Bars rows={3} />}
        {data && <TodaysFigures data={data} now={now} />}
        <div className="columns">
          <Attention />
          {data && (
            <Box title={t('Calls by hour')} extra={<HoursKey data={data} now={now} />} inside={false}>
              <div className="in"><HoursChart data={data} /></div>
              <Outcomes data={data} now={now} />
            </Box>
          )}
        </div>
        <Campaigns mayCreate={mayCreate} />
      </Body>
      )}
    </>
  );
}
