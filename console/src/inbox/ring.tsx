// The 24 hours in which a customer may be written to freely, as a ring.
import { t } from '../parts/index.ts';
import { hoursLeft } from './entries.ts';

const HOUR = 3_600_000;
export interface Window { readonly left: number; readonly tone: 'ok' | 'wait' | 'bad'; readonly words: string }

/** What is left of the 24 hours; null where a channel has none. */
export function windowOf(endsAt: string | null, now: number): Window | null {
  if (endsAt === null) return null;
  const left = Date.parse(endsAt) - now;
  if (left <= 0) return { left: 0, tone: 'bad', words: t('24 hours over: only a template can be sent') };
  return { left, tone: left < 4 * HOUR ? 'wait' : 'ok', words: t('{time} left to write freely', { time: hoursLeft(left) }) };
}

const LENGTH = 2 * Math.PI * 6;
export function Ring({ window: shown, label }: { window: Window; label?: boolean }) {
  const share = Math.min(1, shown.left / (24 * HOUR));
  return (
    <svg className="ring" data-tone={shown.tone} viewBox="0 0 16 16" {...(label ? { role: 'img', 'aria-label': shown.words } : { 'aria-hidden': true })}>
      <circle cx="8" cy="8" r="6" className="of" />
      <circle cx="8" cy="8" r="6" className="left" strokeDasharray={`${share * LENGTH} ${LENGTH}`} transform="rotate(-90 8 8)" />
    </svg>
  );
}
