// How fast agents react: the median, and what 95 of 100 answers are within.
import { Link } from 'react-aria-components';
import type { ReactNode } from 'react';
import { Box, Name, count, millis, plural, t } from '../parts/index.ts';
import { exists } from '../shell/index.ts';
import { Reaction } from './bars.tsx';
import { callsBehind, stageName, type Asked, type Report } from './queries.ts';

interface Measured { readonly id: string; readonly name: ReactNode; readonly answers: number; readonly p50Ms: number | null; readonly p95Ms: number | null; readonly href: string | null }

function List({ label, rows }: { label: string; rows: readonly Measured[] }) {
  const most = Math.max(1, ...rows.map((one) => one.p95Ms ?? 0));
  return (
    <ul className="rowbars reactions" aria-label={label}>
      {rows.map((one) => {
        const inside = (
          <><span className="cut name">{one.name}</span><Reaction p50={one.p50Ms ?? 0} p95={one.p95Ms ?? 0} most={most} /><span className="num figure">{one.p50Ms === null ? '–' : count(one.p50Ms)}<span className="dim"> / {one.p95Ms === null ? '–' : millis(one.p95Ms)}</span></span><span className="meta num under2">{plural(one.answers, '{n} answer', '{n} answers')}</span></>
        );
        return <li key={one.id}>{one.href ? <Link href={one.href} className="rowbar">{inside}</Link> : <div className="rowbar">{inside}</div>}</li>;
      })}
    </ul>
  );
}

const Key = () => <span className="row meta legend"><span className="key got">{t('median')}</span><span className="key all">{t('95% within')}</span></span>;

export function AgentReactions({ report, asked }: { report: Report; asked: Asked }) {
  const rows = report.reaction.byAgent.filter((one) => one.answers > 0).map((one): Measured => ({
    id: one.agentId ?? '', name: one.name === null ? <span className="dim">{t('without an agent')}</span> : <Name>{one.name}</Name>, answers: one.answers, p50Ms: one.p50Ms, p95Ms: one.p95Ms,
    href: one.agentId !== null && exists('calls') ? callsBehind(asked, { agentId: one.agentId }) : null,
  }));
  return <Box title={t('Reaction by agent')} extra={<Key />}>{rows.length === 0 ? <p className="mid">{t('No reaction was measured in these days.')}</p> : <List label={t('Reaction by agent')} rows={rows} />}</Box>;
}

export function ProviderReactions({ report }: { report: Report }) {
  const rows = report.reaction.byProvider.filter((one) => one.answers > 0).map((one): Measured => ({ id: `${one.stage} ${one.provider}`, name: <>{stageName(one.stage)} · <Name>{one.provider}</Name></>, answers: one.answers, p50Ms: one.p50Ms, p95Ms: one.p95Ms, href: null }));
  return <Box title={t('Reaction by provider')} extra={<Key />}>{rows.length === 0 ? <p className="mid">{t('No reaction was measured in these days.')}</p> : <List label={t('Reaction by provider')} rows={rows} />}</Box>;
}
