// The calls behind an hour: of each day of the range, newest first. The hour stands in the address.
import { Link } from 'react-aria-components';
import { Bars, Button, ErrorNote, Name, Sheet, State, When, dayName, span, t, useFilters } from '../parts/index.ts';
import { exists } from '../shell/index.ts';
import { hourSpan, weekdayName, weekdayOf } from './hours.tsx';
import { useHourCalls, type Asked, type Report } from './queries.ts';

/** Addresses that open the calls of an hour, beside the filters that are set. */
export function useNavigateHour(): (hour: number, weekday: number | null) => string {
  useFilters();
  return (hour, weekday) => {
    const next = new URLSearchParams(location.search);
    next.set('hour', String(hour));
    if (weekday === null) next.delete('weekday'); else next.set('weekday', String(weekday));
    return `/analytics?${next.toString()}`;
  };
}

export function HourSheet({ report, asked }: { report: Report; asked: Asked }) {
  const text = asked.filters.one('hour');
  const hour = /^\d{1,2}$/.test(text) && Number(text) < 24 ? Number(text) : null;
  const weekday = Number(asked.filters.one('weekday')) || null;
  const close = (): void => asked.filters.clear(['hour', 'weekday']);
  const days = report.perDay.map((one) => one.day).filter((day) => weekday === null || weekdayOf(day) === weekday);
  return <Sheet open={hour !== null} onClose={close} label={t('Calls behind this')}>{hour !== null && <HourCalls asked={asked} days={days} hour={hour} weekday={weekday} close={close} />}</Sheet>;
}

function HourCalls({ asked, days, hour, weekday, close }: { asked: Asked; days: readonly string[]; hour: number; weekday: number | null; close: () => void }) {
  const found = useHourCalls(asked, days, hour);
  const error = found.find((one) => one.answer.error)?.answer.error;
  const waits = found.some((one) => one.answer.isPending);
  const groups = found.filter((one) => (one.answer.data?.data.length ?? 0) > 0);
  return (
    <div className="form hourcalls">
      <h2>{weekday === null ? t('Calls of {hour}', { hour: hourSpan(hour) }) : t('Calls of {weekday}, {hour}', { weekday: weekdayName(weekday, 'long'), hour: hourSpan(hour) })}</h2>
      {error && <ErrorNote error={error} />}
      {waits && <Bars rows={3} />}
      {!waits && !error && groups.length === 0 && <p className="mid">{t('There was no call in this hour.')}</p>}
      {groups.map(({ day, answer }) => (
        <section key={day} className="stack"><h3>{dayName(day)}</h3>
          <ul>{answer.data?.data.map((call) => {
            const state = <State tone={call.answered ? 'ok' : 'mute'}>{call.answered ? t('Talked, {time}', { time: span(call.durationSeconds ?? 0) }) : t('No answer')}</State>;
            return <li key={call.id} className="row">{exists('calls') ? <Link href={`/calls/${call.id}`} className="under">{state}</Link> : state}<span className="grow cut"><Name>{call.contactName ?? ''}</Name> <span className="dim num">{call.toNumber}</span></span><span className="meta"><When at={call.startedAt} /></span></li>;
          })}</ul>
          {answer.data?.nextCursor && <p className="meta">{t('and more on this day')}</p>}
        </section>
      ))}
      <div className="ends"><Button onPress={close}>{t('Close')}</Button></div>
    </div>
  );
}
