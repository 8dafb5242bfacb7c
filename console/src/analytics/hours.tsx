// When people answer: by hour of the day, and by hour and weekday.
import { Link } from 'react-aria-components';
import { useNavigateHour } from './hour-sheet.tsx';
import { Box, currentLanguage, dayOf, percent, plural, t } from '../parts/index.ts';
import { Columns, Legend } from './bars.tsx';
import type { Asked, Report } from './queries.ts';

export const hourName = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;
export const hourSpan = (hour: number): string => `${hourName(hour)}–${hourName(hour + 1)}`;
/** Names of weekdays; 1 is Monday. */
export function weekdayName(weekday: number, length: 'long' | 'short'): string {
  return new Intl.DateTimeFormat(currentLanguage() === 'hi' ? 'hi-IN' : 'en-IN', { weekday: length, timeZone: 'UTC' }).format(new Date(Date.UTC(2024, 0, weekday)));
}
/** The weekday of a day of India; 1 is Monday. */
export const weekdayOf = (day: string): number => new Date(`${dayOf(`${day}T12:00:00+05:30`)}T00:00:00Z`).getUTCDay() || 7;

const says = (what: string, calls: number, answered: number): string => `${what}: ${plural(calls, '{n} call', '{n} calls')}, ${t('{share} answered', { share: percent(calls === 0 ? 0 : answered / calls) })}`;

/** The hours that had calls, with one around them. */
function shown(hours: readonly { hour: number; calls: number }[]): [number, number] {
  const busy = hours.filter((one) => one.calls > 0).map((one) => one.hour);
  return busy.length === 0 ? [8, 20] : [Math.max(0, Math.min(8, ...busy)), Math.min(23, Math.max(20, ...busy))];
}

export function HoursBox({ report, asked }: { report: Report; asked: Asked }) {
  const link = useNavigateHour();
  const [first, last] = shown(report.hours ?? []);
  const oneDay = asked.range.start === asked.range.end;
  const usual = new Map(oneDay && (report.usualWeekday?.weeks ?? 0) > 0 ? report.usualWeekday?.hours.map((one) => [one.hour, one.calls]) : []);
  const columns = (report.hours ?? []).filter((one) => one.hour >= first && one.hour <= last).map((one) => ({
    id: String(one.hour), name: String(one.hour), calls: one.calls, answered: one.answered, usual: usual.get(one.hour), says: says(hourSpan(one.hour), one.calls, one.answered), href: link(one.hour, null),
  }));
  return <Box title={t('Calls and answers by hour')} extra={<Legend usual={usual.size > 0} />}><Columns label={t('Calls and answers by hour')} columns={columns} every={2} /></Box>;
}

/** Each hour of each weekday: the share that was answered, as a figure and a tint. */
export function WeekBox({ report }: { report: Report }) {
  const link = useNavigateHour();
  const cells = report.weekdayHours ?? [];
  const [first, last] = shown(cells);
  const hours = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const most = Math.max(0.01, ...cells.map((one) => (one.calls === 0 ? 0 : one.answered / one.calls)));
  return (
    <Box title={t('Answered by hour and weekday')} extra={<span className="meta">{t('share answered, in percent')}</span>}>
      <div className="over">
        <table className="week">
          <thead><tr><th><span className="vh">{t('Weekday')}</span></th>{hours.map((hour) => <th key={hour} scope="col" className="meta num">{hour}</th>)}</tr></thead>
          <tbody>{[1, 2, 3, 4, 5, 6, 7].map((weekday) => (
            <tr key={weekday}><th scope="row" className="meta">{weekdayName(weekday, 'short')}</th>
              {hours.map((hour) => {
                const cell = cells.find((one) => one.weekday === weekday && one.hour === hour);
                if (!cell || cell.calls === 0) return <td key={hour}><span className="none" /></td>;
                const words = says(`${weekdayName(weekday, 'long')}, ${hourSpan(hour)}`, cell.calls, cell.answered);
                const level = Math.round((cell.answered / cell.calls / most) * 4);
                return <td key={hour}><Link href={link(hour, weekday)} data-level={level}><span className="vh">{words}</span><span aria-hidden title={words}>{Math.round((cell.answered / cell.calls) * 100)}</span></Link></td>;
              })}
            </tr>
          ))}</tbody>
        </table>
      </div>
    </Box>
  );
}
