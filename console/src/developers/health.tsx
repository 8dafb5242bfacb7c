import { State, plural, t } from '../parts/index.ts';
import type { Health } from './queries.ts';
import type { Endpoint } from './names.ts';

/** The last 24 hours as 24 marks. */
export function HealthMarks({ health }: { health: Health | undefined }) {
  if (!health) return <span className="skel" />;
  const { delivered, failed, whole, hours } = health;
  const words = delivered + failed === 0 ? t('Last 24 hours: nothing was sent') : t('Last 24 hours: {delivered} delivered, {failed} failed', { delivered, failed });
  return <span className="dv-hours" role="img" aria-label={whole ? words : `${words}. ${t('Only the newest 100 deliveries are counted.')}`}>{hours.map((hour, at) => <i key={at} data-v={hour} />)}</span>;
}

export function EndpointState({ endpoint, failing }: { endpoint: Endpoint; failing: number | undefined }) {
  if (endpoint.status === 'disabled') return <State tone="mute">{t('Disabled')}</State>;
  if (failing !== undefined) return <State tone="bad">{plural(failing, 'Failing, {n} in a row', 'Failing, {n} in a row')}</State>;
  return <State tone="ok">{t('Active')}</State>;
}

/** What is subscribed, in a few words. */
export const subscribed = (endpoint: Endpoint): string => (endpoint.events.length === 0 ? t('Every event') : endpoint.events.length === 1 ? (endpoint.events[0] ?? '') : plural(endpoint.events.length, '{n} event', '{n} events'));

/** `crm.example.com/hooks`: an address without what is always the same. */
export function placeOf(url: string): string {
  try {
    const { host, pathname, search } = new URL(url);
    return host + (pathname === '/' ? '' : pathname) + search;
  } catch {
    return url;
  }
}
