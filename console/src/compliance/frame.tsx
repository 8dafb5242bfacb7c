// What all tabs share: the finding, the four chains, what was refused, the tabs.
import { Download, FileCheck2, ShieldAlert, ShieldCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useHasRole, useRead, type Schemas } from '../api/index.ts';
import { useCommands } from '../shell/index.ts';
import { Box, Button, ButtonLink, Head, Icon, More, Shown, State, Tabs, clockSeconds, count, indiaDay, plural, t, useKeys, useRaw } from '../parts/index.ts';
import { records, useVerified, type Verified } from './queries.ts';
import { chainHolds, chainName, refusal, type Chain } from './names.ts';
import './page.css';

export const CHAINS: readonly Chain[] = ['audit', 'consent', 'grievances', 'actions'];
const DAYS = 14;
type ChainState = Schemas['ChainVerification'];

export const brokenOf = (verified: Verified | undefined): readonly ChainState[] => verified?.result.chains.filter((one) => !one.verified) ?? [];

function finding(broken: readonly ChainState[]): string {
  const [first] = broken;
  if (!first) return t('All four chains are whole');
  if (broken.length > 1) return plural(broken.length, '{n} chain is broken', '{n} chains are broken');
  return first.brokenAt === null ? t('The chain “{chain}” is broken', { chain: chainName(first.name) }) : t('The chain “{chain}” is broken at record {seq}', { chain: chainName(first.name), seq: count(first.brokenAt) });
}

/** What a broken chain means, before anything else is read. */
function Meaning({ broken }: { broken: readonly ChainState[] }) {
  return (
    <div className="cp-meaning" role="alert">
      {broken.map((one) => (
        <div key={one.name}>
          <h3>{one.brokenAt === null ? chainName(one.name) : t('{chain}, record {seq}', { chain: chainName(one.name), seq: count(one.brokenAt) })}</h3>
          {one.problem && <p dir="auto">{one.problem}</p>}
        </div>
      ))}
      <h3>{t('What this means')}</h3>
      <p>{t('From this record on, the log proves nothing: a record was changed, removed or put in after it was written, or an older backup was restored. Records before it are still whole.')}</p>
      <p>{t('Do not change anything. Tell who runs this service, export the chain as it is now, and compare it with a head that was kept elsewhere.')}</p>
    </div>
  );
}

function Newest({ chain }: { chain: Chain }) {
  const head = useRead('getLogHead', { query: { chain } }, { fresh: 60_000 });
  return <span className="mono dim">{head.data ? (head.data.data.seq === 0 ? '–' : `${head.data.data.hash.slice(0, 10)}…`) : '…'}</span>;
}

function Proof({ verified }: { verified: Verified }) {
  const broken = brokenOf(verified);
  const whole = broken.length === 0;
  const took = verified.took < 0.1 ? t('less than 0.1 s') : t('{seconds} s', { seconds: verified.took.toFixed(1) });
  return (
    <section className="box cp-proof" data-broken={!whole}>
      <header><span className="cp-ico" data-tone={whole ? 'ok' : 'bad'}><Icon of={whole ? ShieldCheck : ShieldAlert} /></span><h2 data-finding>{finding(broken)}</h2><span className="grow" /><span className="dim num wide">{plural(verified.result.records, 'checked {time}, {n} record in {took}', 'checked {time}, {n} records in {took}', { time: clockSeconds(verified.at), took })}</span></header>
      {!whole && <Meaning broken={broken} />}
      <table className="tbl">
        <thead><tr><th>{t('Chain')}</th><th className="wide">{t('Holds')}</th><th className="r">{t('Records')}</th><th className="wide">{t('Newest')}</th></tr></thead>
        <tbody>{CHAINS.map((name) => {
          const chain = verified.result.chains.find((one) => one.name === name);
          if (!chain) return null;
          return <tr key={name}><td className="medium"><State tone={chain.verified ? 'ok' : 'bad'}>{chainName(name)}</State></td><td className="mid wide">{chainHolds(name)}</td><td className="r">{count(chain.records)}</td><td className="wide"><Newest chain={name} /></td></tr>;
        })}</tbody>
      </table>
      <p className="meta cp-foot">{t('Sealed with the master key. An export can be checked by anybody without this service.')}</p>
    </section>
  );
}

function Refused() {
  const stats = useRead('getBlockedStats', { query: { from: indiaDay(DAYS - 1) } }, { every: 60_000 });
  return (
    <Box title={t('Refused, last {days} days', { days: DAYS })} extra={<span className="dim num">{stats.data ? count(stats.data.data.total) : ''}</span>}>
      <Shown of={stats} what={t('What was refused could not be counted.')} rows={3}>
        {({ data }) => {
          const rules = Object.entries(data.byRule).sort(([, one], [, other]) => other - one);
          const most = rules[0]?.[1] ?? 1;
          if (rules.length === 0) return <p className="mid">{t('No dial was refused.')}</p>;
          return <ul className="cp-rules">{rules.map(([gate, n]) => <li key={gate}><span>{refusal(gate)}</span><span className="cp-measure" aria-hidden><i data-tone="rule" style={{ width: `${(n / most) * 100}%` }} /></span><b className="num right">{count(n)}</b></li>)}</ul>;
        }}
      </Shown>
    </Box>
  );
}

/** The page around a tab. */
export function Frame({ tab, children }: { tab: 'dials' | 'consent' | 'requests' | 'changes' | 'exports'; children: ReactNode }) {
  const verified = useVerified();
  const [, navigate] = useLocation();
  const exports = useHasRole('admin');
  const raw = useRaw('verifyLog', {}, verified.data && { data: verified.data.result });
  const again = (): void => { void verified.refetch(); };
  const number = (chain: Chain): string | undefined => { const n = records(verified.data, chain); return n === undefined ? undefined : count(n); };
  useKeys([{ key: 'v', text: t('Verify now'), act: again }, { key: 'e', text: t('Export'), act: () => navigate('/compliance/exports') }]);
  useCommands([{ id: 'verify', text: t('Verify the log now'), act: again }, { id: 'export', text: t('Export the log…'), act: () => navigate('/compliance/exports') }]);
  return (
    <div className="cp" data-broken={brokenOf(verified.data).length > 0} data-verifying={verified.isFetching}>
      <Head title={t('Compliance')} sub={<span className="dim wide cut">{t('Every dial, whether allowed or refused, in a chain that cannot be changed without being seen')}</span>}>
        <Button icon={FileCheck2} isPending={verified.isFetching} onPress={again}><span className="wide">{verified.isFetching ? t('Verifying') : t('Verify now')}</span></Button>
        {exports && tab !== 'exports' && <ButtonLink kind="primary" icon={Download} href="/compliance/exports">{t('Export…')}</ButtonLink>}
        <More entries={raw.entries} />
        {raw.sheet}
      </Head>
      <div className="body cp-body">
        <div className="cp-top">
          <Shown of={verified} what={t('The log could not be verified. This says nothing about whether it is whole.')} rows={5}>{(data) => <Proof verified={data} />}</Shown>
          <Refused />
        </div>
        <Tabs label={t('Log')} value={tab} items={[
          { id: 'dials', text: t('Dials'), count: number('audit'), href: '/compliance/dials' },
          { id: 'consent', text: t('Consent'), count: number('consent'), href: '/compliance/consent' },
          { id: 'requests', text: t('Requests'), count: number('grievances'), href: '/compliance/requests' },
          { id: 'changes', text: t('Changes by people'), count: number('actions'), href: '/compliance/changes' },
          { id: 'exports', text: t('Exports'), href: '/compliance/exports' },
        ]}>{children}</Tabs>
      </div>
    </div>
  );
}
