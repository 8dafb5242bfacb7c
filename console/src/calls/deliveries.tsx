// What was told to the customer's systems about one call.
import { useQueries } from '@tanstack/react-query';
import { Link } from 'react-aria-components';
import { callIn, currentScope, readKey, useRead, type Schemas } from '../api/index.ts';
import { Bars, Empty, ErrorBlock, State, When, Name, millis, t, when, type Tone } from '../parts/index.ts';
import { exists } from '../shell/index.ts';

interface Row { readonly endpoint: Schemas['WebhookEndpoint']; readonly delivery: Schemas['Delivery'] }

export function useDeliveries(callId: string) {
  const endpoints = useRead('listWebhooks', {}, { fresh: 300_000 });
  const scope = currentScope();
  const list = endpoints.data?.data ?? [];
  const answers = useQueries({
    queries: list.map((one) => {
      const input = { path: { id: one.id }, query: { callId, limit: 50 } };
      return { queryKey: readKey('listWebhookDeliveries', input), queryFn: ({ signal }: { signal: AbortSignal }) => callIn(scope, 'listWebhookDeliveries', { ...input, signal }), refetchInterval: 15_000 };
    }),
  });
  const rows: Row[] = answers.flatMap((answer, at) => { const endpoint = list[at]; return endpoint ? (answer.data?.data ?? []).map((delivery) => ({ endpoint, delivery })) : []; });
  rows.sort((one, other) => (one.delivery.createdAt < other.delivery.createdAt ? -1 : 1));
  return { endpoints, rows, loading: endpoints.isPending || answers.some((answer) => answer.isPending) };
}

function stateOf({ status, attempts, nextAttemptAt }: Schemas['Delivery']): { text: string; tone: Tone } {
  const last = attempts.at(-1);
  const answer = last ? (last.status !== null ? String(last.status) : last.error ?? t('no answer')) : '';
  if (status === 'succeeded') return { text: answer || t('Delivered'), tone: 'pass' };
  if (status === 'failed') return { text: answer ? t('{answer}, given up', { answer }) : t('Given up'), tone: 'bad' };
  return { text: nextAttemptAt && answer ? t('{answer}, next try {time}', { answer, time: when(nextAttemptAt) }) : t('On the way'), tone: answer ? 'wait' : 'info' };
}
const host = (url: string): string => { try { return new URL(url).host; } catch { return url; } };

export function Deliveries({ of: { endpoints, rows, loading } }: { of: ReturnType<typeof useDeliveries> }) {
  if (endpoints.error) return <ErrorBlock what={t('The endpoints could not be read.')} error={endpoints.error} again={() => { void endpoints.refetch(); }} />;
  if (rows.length === 0) return loading ? <Bars rows={3} /> : <Empty title={t('No webhook was sent for this call')}>{endpoints.data?.data.length === 0 ? t('No endpoint is set up.') : t('No endpoint asks for the events of this call, or they are still to come.')}</Empty>;
  return (
    <div className="over" tabIndex={0} role="region" aria-label={t('Webhooks of this call')}>
      <table className="tbl">
        <thead><tr><th>{t('Event')}</th><th>{t('Endpoint')}</th><th>{t('State')}</th><th className="r">{t('Took')}</th><th className="r">{t('At')}</th></tr></thead>
        <tbody>
          {rows.map(({ endpoint, delivery }) => {
            const { text, tone } = stateOf(delivery);
            const took = delivery.attempts.at(-1)?.durationMs;
            return (
              <tr key={delivery.id}>
                <td className="mono">{delivery.event}</td>
                <td className="mid">{exists('developers') ? <Link className="under" href={`/developers/endpoints/${endpoint.id}`}><Name>{host(endpoint.url)}</Name></Link> : <Name>{host(endpoint.url)}</Name>}</td>
                <td><State tone={tone}>{text}</State></td><td className="r">{took === undefined ? '' : millis(took)}</td><td className="r"><When at={delivery.createdAt} /></td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
