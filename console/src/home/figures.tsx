import { Figure, Figures, clock, count, dayOf, percent, plural, rupees, rupeesWhole, t, weekday } from '../parts/index.ts';
import { useLiveCount, useWallet, useWorkspace, type Analytics } from './queries.ts';

/** The share that is usually answered until this hour of the weekday. */
function usualShare(data: Analytics, now: number): number | null {
  const usual = data.usualWeekday;
  if (!usual || usual.weeks === 0) return null;
  const hour = Number(clock(now).slice(0, 2));
  const until = usual.hours.filter((one) => one.hour <= hour);
  const calls = until.reduce((total, one) => total + one.calls, 0);
  return calls > 0 ? until.reduce((total, one) => total + one.answered, 0) / calls : null;
}

/** Paise an hour: what the hours of today that had calls cost on the mean. */
function pace(data: Analytics): number {
  const hours = (data.hours ?? []).filter((one) => one.calls > 0);
  return hours.length > 0 ? hours.reduce((total, one) => total + one.chargedMinor, 0) / hours.length : 0;
}

function walletWords(balance: number, perHour: number, now: number): string {
  if (perHour <= 0) return t('nothing spent today');
  const until = now + (balance / perHour) * 3_600_000;
  if (dayOf(until) === dayOf(now)) return t('lasts until about {time} at today’s pace', { time: clock(until) });
  return t('lasts {n} h of calls like today’s', { n: count(Math.floor(balance / perHour)) });
}

function Live() {
  const live = useLiveCount();
  const lines = useWorkspace().data?.data.limits.concurrentCalls;
  return <Figure name={t('Live calls')} value={live === undefined ? '–' : count(live)} {...(lines === undefined ? {} : { unit: t('of {n} lines', { n: count(lines) }) })} under={live === 0 ? t('nobody is on the phone') : t('ringing or talking now')} />;
}

function WalletFigure({ data, now }: { data: Analytics; now: number }) {
  const wallet = useWallet().data?.data;
  return <Figure name={t('Wallet')} value={wallet ? rupeesWhole(wallet.balanceMinor) : '–'} under={wallet ? walletWords(wallet.balanceMinor, pace(data), now) : ''} />;
}

/** What one wants to know in five seconds of looking. */
export function TodaysFigures({ data, now }: { data: Analytics; now: number }) {
  const { totals, reaction, costs } = data;
  const usual = usualShare(data, now);
  const outcomes = Object.values(data.byOutcome).reduce((total, n) => total + n, 0);
  const spent = costs.chargedMinor;
  return (
    <Figures>
      <Live />
      <Figure name={t('Answered today')} value={totals.calls > 0 ? percent(totals.connectRate) : '–'} unit={plural(totals.calls, 'of {n}', 'of {n}')} under={usual === null ? t('no usual {day} yet', { day: weekday(now) }) : t('usually {share} on a {day}', { share: percent(usual), day: weekday(now) })} />
      <Figure name={t('Outcomes today')} value={count(outcomes)} under={outcomes > 0 ? t('{money} each · {sum} spent', { money: rupees(spent / outcomes), sum: rupeesWhole(spent) }) : t('{sum} spent', { sum: rupeesWhole(spent) })} />
      <Figure name={t('Reaction, median')} value={reaction.p50Ms === null ? '–' : count(Math.round(reaction.p50Ms))} {...(reaction.p50Ms === null ? {} : { unit: 'ms' })} under={reaction.p95Ms === null ? t('no answers measured today') : t('95% within {ms} ms', { ms: count(Math.round(reaction.p95Ms)) })} />
      <WalletFigure data={data} now={now} />
    </Figures>
  );
}
