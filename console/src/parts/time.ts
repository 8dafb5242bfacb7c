// Times are India's, whatever the zone of the browser. Digits are Latin in both languages.
import { locale } from './words.ts';

export const ZONE = 'Asia/Kolkata';
const made = new Map<string, Intl.DateTimeFormat>();

function formatter(options: Intl.DateTimeFormatOptions, zone: string = ZONE): Intl.DateTimeFormat {
  const key = `${locale()} ${zone} ${JSON.stringify(options)}`;
  let one = made.get(key);
  if (!one) {
    one = new Intl.DateTimeFormat(locale(), { timeZone: zone, numberingSystem: 'latn', hourCycle: 'h23', ...options });
    made.set(key, one);
  }
  return one;
}

type Moment = string | number | Date;
const date = (at: Moment): Date => (at instanceof Date ? at : new Date(at));
const iso = new Intl.DateTimeFormat('en-CA', { timeZone: ZONE, year: 'numeric', month: '2-digit', day: '2-digit' });

/** `2026-11-26`: the day of India of a moment. */
export const dayOf = (at: Moment): string => iso.format(date(at));
/** The day of India that was some days ago. */
export const indiaDay = (daysAgo = 0): string => dayOf(Date.now() - daysAgo * 86_400_000);
/** The moment at which a day of India begins, and the one at which it is over, for `from` and `to` of the API. */
export const dayBegin = (day: string): string => new Date(`${day}T00:00:00+05:30`).toISOString();
export const dayEnd = (day: string): string => new Date(Date.parse(`${day}T00:00:00+05:30`) + 86_400_000).toISOString();

/** `10:42` */
export const clock = (at: Moment): string => formatter({ hour: '2-digit', minute: '2-digit' }).format(date(at));
/** `10:42:31` */
export const clockSeconds = (at: Moment): string => formatter({ hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(date(at));
/** `10:42:31.250` */
export const clockMillis = (at: Moment): string => formatter({ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 }).format(date(at));
/** `25 Nov`, with the year when it is not this one. */
export function day(at: Moment): string {
  const other = dayOf(at).slice(0, 4) !== indiaDay().slice(0, 4);
  return formatter(other ? { day: 'numeric', month: 'short', year: 'numeric' } : { day: 'numeric', month: 'short' }).format(date(at));
}
/** `25 Nov` of a day of India, written `2026-11-25`. */
export const dayName = (written: string): string => day(`${written}T12:00:00+05:30`);
/** `Thursday, 26 November` */
export const longDay = (at: Moment): string => formatter({ weekday: 'long', day: 'numeric', month: 'long' }).format(date(at));
export const shortDay = (at: Moment): string => formatter({ weekday: 'short', day: 'numeric', month: 'short' }).format(date(at));
export const weekday = (at: Moment): string => formatter({ weekday: 'long' }).format(date(at));
/** Today `10:42:31`, else `25 Nov, 18:02`. */
export const when = (at: Moment): string => (dayOf(at) === indiaDay() ? clockSeconds(at) : `${day(at)}, ${clock(at)}`);
/** The same moment in UTC, for who compares logs. */
export const utc = (at: Moment): string => `${date(at).toISOString().replace('T', ' ').replace('Z', '')} UTC`;

/** `1:04`, `1:02:09`: a duration in seconds. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (n: number): string => String(n).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes}:${two(whole % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}
/** `in 3 min`, `6 min ago`, in words of the language. */
export function relative(at: Moment, now = Date.now()): string {
  const seconds = Math.round((date(at).getTime() - now) / 1000);
  const [unit, size] = Math.abs(seconds) < 90 ? (['second', 1] as const) : Math.abs(seconds) < 5_400 ? (['minute', 60] as const) : Math.abs(seconds) < 129_600 ? (['hour', 3_600] as const) : (['day', 86_400] as const);
  return new Intl.RelativeTimeFormat(locale(), { style: 'short', numeric: 'auto', numberingSystem: 'latn' } as Intl.RelativeTimeFormatOptions).format(Math.round(seconds / size), unit);
}
