import { Link } from 'react-aria-components';
import { Key, StackedBar, count, dayOf, plural, t, type BarTone } from '../parts/index.ts';
import { exists } from '../shell/index.ts';
import type { Analytics } from './queries.ts';

/** Outcomes are words of the customer's own flows. These are so usual that their colour can mean something. */
const TONES: Readonly<Record<string, BarTone>> = { opted_out: 'rule', paid: 'ok', payment_made: 'ok', promise_to_pay: 'info', promised_to_pay: 'info', callback: 'wait', callback_requested: 'wait', refused: 'mute' };
const SERIES: readonly BarTone[] = ['q3', 'q4', 'q2', 'q1', 'q5'];
const SHOWN = 5;

export const outcomeName = (key: string): string => { const text = key.replaceAll('_', ' '); return text.charAt(0).toLocaleUpperCase() + text.slice(1); };

/** What came of the answered calls of today. */
export function Outcomes({ data, now }: { data: Analytics; now: number }) {
  const all = Object.entries(data.byOutcome).sort(([, a], [, b]) => b - a);
  const known = all.reduce((total, [, n]) => total + n, 0);
  const others = all.slice(SHOWN).reduce((total, [, n]) => total + n, 0);
  let series = 0;
  const parts = all.slice(0, SHOWN).map(([key, value]) => ({ key, name: outcomeName(key), value, tone: TONES[key] ?? SERIES[series++ % SERIES.length] ?? 'q1' }));
  const none = Math.max(0, data.totals.answered - known);
  const rows = [...parts, ...(others > 0 ? [{ key: '', name: t('Others'), value: others, tone: 'mute' as BarTone }] : []), ...(none > 0 ? [{ key: '', name: t('No outcome'), value: none, tone: 'line' as BarTone }] : [])];
  const today = dayOf(now);
  return (
    <div className="in outs">
      <div className="row"><h3>{t('Outcomes')}</h3><span className="dim num">{plural(data.totals.answered, '{n} answered', '{n} answered')}</span></div>
      {rows.length > 0 && <StackedBar large label={t('Outcomes')} parts={rows} />}
      <ul>
        {rows.map((row) => (
          <li key={row.name}><Key tone={row.tone}>{row.key && exists('calls') ? <Link className="under" href={`/calls?outcome=${encodeURIComponent(row.key)}&from=${today}&to=${today}`}><bdi dir="auto">{row.name}</bdi></Link> : <bdi dir="auto">{row.name}</bdi>}</Key><span className="num">{count(row.value)}</span></li>
        ))}
      </ul>
    </div>
  );
}
