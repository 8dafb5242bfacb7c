import { Body, Head, clock, longDay, shortDay, t } from '../parts/index.ts';

export function Page() {
  const now = Date.now();
  return <><Head title={longDay(now)} short={shortDay(now)} sub={<span className="dim num wide">{t('{time} IST', { time: clock(now) })}</span>} /><Body>{null}</Body></>;
}
