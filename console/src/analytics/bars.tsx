// Plain bars. Each is a link to the calls behind it, and says its figures in words.
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components';
import { count, t } from '../parts/index.ts';

export interface Row { readonly id: string; readonly name: ReactNode; readonly value: number; readonly figure: ReactNode; readonly under?: ReactNode; readonly href?: string | null }

/** One bar a row, longest first as it is given. */
export function Rows({ label, rows }: { label: string; rows: readonly Row[] }) {
  const most = Math.max(1, ...rows.map((row) => row.value));
  return (
    <ul className="rowbars" aria-label={label}>
      {rows.map((row) => {
        const inside = <><span className="cut name">{row.name}</span><span className="track" aria-hidden><i style={{ width: `${Math.max(row.value > 0 ? 1 : 0, (row.value / most) * 100)}%` }} /></span><span className="num figure">{row.figure}</span>{row.under !== undefined && <span className="meta num under2">{row.under}</span>}</>;
        return <li key={row.id}>{row.href ? <Link href={row.href} className="rowbar">{inside}</Link> : <div className="rowbar">{inside}</div>}</li>;
      })}
    </ul>
  );
}

export interface Column { readonly id: string; readonly name: string; readonly calls: number; readonly answered: number; readonly usual?: number | undefined; readonly says: string; readonly href: string | null }

/** Calls as columns with the answered part of them; a mark is what is usual. */
export function Columns({ label, columns, every = 1 }: { label: string; columns: readonly Column[]; every?: number }) {
  const most = Math.max(1, ...columns.map((one) => Math.max(one.calls, one.usual ?? 0)));
  const share = (n: number): string => `${(n / most) * 100}%`;
  return (
    <div className="columns">
      <div className="scale meta num" aria-hidden><span>{count(most)}</span><span>0</span></div>
      <ul aria-label={label}>
        {columns.map((one, at) => {
          const inside = <><span className="col" aria-hidden><i className="all" style={{ height: share(one.calls) }} /><i className="got" style={{ height: share(one.answered) }} />{one.usual !== undefined && one.usual > 0 && <i className="usual" style={{ bottom: share(one.usual) }} />}</span><span className="meta num at" aria-hidden>{at % every === 0 ? one.name : ''}</span><span className="vh">{one.says}</span></>;
          return <li key={one.id} title={one.says}>{one.href && one.calls > 0 ? <Link href={one.href}>{inside}</Link> : <div>{inside}</div>}</li>;
        })}
      </ul>
    </div>
  );
}

/** The median and what all but five in a hundred are within, on one scale. */
export function Reaction({ p50, p95, most }: { p50: number; p95: number; most: number }) {
  return <span className="track" aria-hidden><i className="soft" style={{ width: `${(p95 / most) * 100}%` }} /><i style={{ width: `${(p50 / most) * 100}%` }} /></span>;
}

export const Legend = ({ usual }: { usual: boolean }) => <span className="row meta legend"><span className="key all">{t('Calls')}</span><span className="key got">{t('Answered')}</span>{usual && <span className="key usual">{t('Usual')}</span>}</span>;
