import { useMemo } from 'react';
import { Key, count, rich, t, weekday } from '../parts/index.ts';
import type { Analytics } from './queries.ts';

interface Hour { readonly hour: number; readonly calls: number; readonly answered: number; readonly usual: number }
const WIDTH = 600;
const HEIGHT = 190;
const LEFT = 44;
const FOOT = 22;

/** The hours that are shown: the usual day's work, and every hour that had or usually has calls. */
function hoursOf(data: Analytics): readonly Hour[] {
  const today = new Map((data.hours ?? []).map((one) => [one.hour, one]));
  const usual = new Map((data.usualWeekday?.hours ?? []).map((one) => [one.hour, one.calls]));
  const busy = [...Array(24).keys()].filter((hour) => (today.get(hour)?.calls ?? 0) > 0 || (usual.get(hour) ?? 0) > 0);
  const first = Math.min(9, ...busy);
  const last = Math.max(18, ...busy);
  return Array.from({ length: last - first + 1 }, (_, at) => {
    const hour = first + at;
    return { hour, calls: today.get(hour)?.calls ?? 0, answered: today.get(hour)?.answered ?? 0, usual: usual.get(hour) ?? 0 };
  });
}

/** A round number that is at least as large, and three lines below it. */
function scale(most: number): { top: number; lines: number[] } {
  const rough = Math.max(4, most) / 4;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * magnitude).find((one) => one >= rough && Number.isInteger(one)) ?? Math.ceil(rough);
  return { top: step * 4, lines: [0, step, step * 2, step * 3, step * 4] };
}

const two = (hour: number): string => String(hour).padStart(2, '0');

/** Calls placed and answered by the hour; the dashed line is the usual weekday. */
export function HoursChart({ data }: { data: Analytics }) {
  const hours = useMemo(() => hoursOf(data), [data]);
  const weeks = data.usualWeekday?.weeks ?? 0;
  const { top, lines } = scale(Math.max(...hours.map((one) => Math.max(one.calls, weeks > 0 ? one.usual : 0))));
  const step = (WIDTH - LEFT) / hours.length;
  const x = (at: number): number => LEFT + at * step;
  const y = (value: number): number => (HEIGHT - FOOT) * (1 - value / top) + 6;
  const label = hours.filter((one) => one.calls > 0).map((one) => t('{hour}: {calls} calls, {answered} answered', { hour: two(one.hour), calls: one.calls, answered: one.answered })).join('; ');
  const usual = hours.map((one, at) => `${at ? 'H' : 'M'}${x(at)}${at ? '' : ` ${y(one.usual)}`}V${y(one.usual)}H${x(at) + step}`).join(' ');
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT + 4}`} className="chart" role="img" aria-label={label || t('No calls today yet')}>
      {lines.map((value) => <g key={value}><line x1={LEFT} x2={WIDTH} y1={y(value)} y2={y(value)} className="gl" /><text x={LEFT - 8} y={y(value) + 4} textAnchor="end">{count(value)}</text></g>)}
      {hours.map((one, at) => (
        <g key={one.hour}>
          {one.calls > 0 && <><rect x={x(at) + step * 0.14} y={y(one.calls)} width={step * 0.72} height={y(0) - y(one.calls)} className="placed" /><rect x={x(at) + step * 0.14} y={y(one.answered)} width={step * 0.72} height={y(0) - y(one.answered)} className="answered" /></>}
          <text x={x(at) + step / 2} y={HEIGHT + 2} textAnchor="middle">{two(one.hour)}</text>
        </g>
      ))}
      {weeks > 0 && <path d={usual} className="usual" />}
    </svg>
  );
}

export function HoursKey({ data, now }: { data: Analytics | undefined; now: number }) {
  return (
    <span className="meta row wrap">
      <Key tone="accent">{t('answered')}</Key><span className="key lightkey">{t('placed')}</span>
      {(data?.usualWeekday?.weeks ?? 0) > 0 && <span className="key linekey">{rich('usual {day}', { day: weekday(now) })}</span>}
    </span>
  );
}
