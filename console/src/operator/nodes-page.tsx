import { Power, PowerOff } from 'lucide-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiError } from '../api/index.ts';
import { useOperator, useOperatorSend } from '../api/use-operator.ts';
import { Body, Box, Button, Confirm, ErrorNote, Fact, Facts, Head, Shown, State, When, count, plural, relative, t, toast, useKeys, type Tone } from '../parts/index.ts';
import type { Data, Node } from './types.ts';
import './page.css';

const PATH = '/node';

function stateOf(status: Node['status']): { tone: Tone; text: string } {
  switch (status) {
    case 'in_service': return { tone: 'ok', text: t('In service') };
    case 'draining': return { tone: 'wait', text: t('Draining') };
    case 'stopping': return { tone: 'mute', text: t('Stopping') };
  }
}

interface Ready { readonly ok: boolean; readonly reason: string | null; readonly warnings: readonly string[]; readonly skew: number | null; readonly trunks: readonly { name: string; ok: boolean; calls: number | null }[] }

/** What `/readyz` says. Warnings and trunks are in it where this browser may see metrics. */
function useReady() {
  return useQuery<Ready, ApiError>({
    queryKey: ['operator', 'readyz'], refetchInterval: 5_000,
    queryFn: async ({ signal }) => {
      const answer = await fetch('/readyz', { signal, credentials: 'omit' });
      const told = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
      const warnings = Array.isArray(told.warnings) ? told.warnings.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))) : [];
      const trunks = Array.isArray(told.trunks) ? told.trunks.map((one: unknown) => { const trunk = one as Record<string, unknown>; return { name: String(trunk.name ?? '–'), ok: trunk.healthy !== false && trunk.registered !== false, calls: typeof trunk.calls === 'number' ? trunk.calls : null }; }) : [];
      const reason = [told.reason, told.error].find((one) => typeof one === 'string');
      return { ok: answer.ok, reason: typeof reason === 'string' ? reason : null, warnings, skew: typeof told.clockSkewMs === 'number' ? told.clockSkewMs : null, trunks };
    },
  });
}

function Health() {
  const ready = useReady();
  return (
    <Box title={t('Health')}>
      <Shown of={ready} what={t('The node did not say how it is.')} rows={2}>
        {(told) => (
          <div className="stack">
            <p className="row" data-ready={told.ok}><State tone={told.ok ? 'ok' : 'wait'}>{told.ok ? t('It takes work: the store answers and can be written') : t('It takes no new work')}</State></p>
            {told.reason && <p className="mid" dir="auto">{told.reason}</p>}
            {told.warnings.map((warning) => <p key={warning} className="note" data-tone="wait"><span>{warning}</span></p>)}
            {told.skew !== null && <p className="mid">{t('The clocks of machine and database differ by {n} ms.', { n: count(told.skew) })}</p>}
            {told.trunks.length > 0 && <ul className="op-rows">{told.trunks.map((trunk) => <li key={trunk.name}><State tone={trunk.ok ? 'ok' : 'bad'}>{trunk.name}</State><span className="grow" />{trunk.calls !== null && <span className="num">{plural(trunk.calls, '{n} call', '{n} calls')}</span>}</li>)}</ul>}
            <p className="meta">{t('Warnings about database, clocks and trunks are told to addresses of metrics_networks, and by “dastak doctor” on the machine.')}</p>
          </div>
        )}
      </Shown>
    </Box>
  );
}

/** Calls that are left, counted down to zero. */
function Calls({ node }: { node: Node }) {
  const drained = node.status !== 'in_service' && node.callsHeld === 0;
  return (
    <div className="op-calls" data-calls={node.callsHeld} aria-live="polite">
      <span className="op-big num">{count(node.callsHeld)}</span>
      <span className="mid">{node.status === 'in_service' ? plural(node.callsHeld, 'call or dial is on', 'calls and dials are on') : drained ? t('No call is left. The machine can be upgraded.') : plural(node.callsHeld, 'call or dial is left', 'calls and dials are left')}</span>
    </div>
  );
}

function NodeBox({ node }: { node: Node }) {
  const [open, setOpen] = useState<'drain' | 'undrain' | null>(null);
  const drain = useOperatorSend<undefined>(() => ({ method: 'POST', path: '/node/drain' }), { alters: [PATH, '/log'], done: () => toast(t('The node takes no new calls')) });
  const undrain = useOperatorSend<undefined>(() => ({ method: 'POST', path: '/node/undrain' }), { alters: [PATH, '/log'], done: () => toast(t('The node is in service again')) });
  const serves = node.status === 'in_service';
  const { tone, text } = stateOf(node.status);
  useKeys(serves ? [{ key: 'd', text: t('Drain this node'), act: () => setOpen('drain') }] : node.status === 'draining' ? [{ key: 'd', text: t('Put it back in service'), act: () => setOpen('undrain') }] : []);
  return (
    <Box title={<span className="mono">{node.name}</span>} extra={<span data-node={node.status}><State tone={tone}>{text}</State></span>}>
      <div className="stack op-node">
        <Calls node={node} />
        <Facts>
          <Fact name={t('Since')}><When at={node.since} /> <span className="dim">{relative(node.since)}</span></Fact>
          <Fact name={t('While it drains')}>{t('Live calls and their transfers go on. It dials nothing new; another node places what comes due.')}</Fact>
        </Facts>
        <div className="row">
          {serves && <Button kind="danger" icon={PowerOff} onPress={() => setOpen('drain')}>{t('Drain…')}</Button>}
          {node.status === 'draining' && <Button kind="primary" icon={Power} onPress={() => setOpen('undrain')}>{t('Put it back in service…')}</Button>}
        </div>
        {drain.error && <ErrorNote error={drain.error} />}
      </div>
      <Confirm open={open === 'drain'} onClose={() => setOpen(null)} title={t('Drain {node}', { node: node.name })} action={node.callsHeld === 0 ? t('Drain the node') : plural(node.callsHeld, 'Drain, {n} call goes on', 'Drain, {n} calls go on')} danger act={() => drain.mutateAsync(undefined)}>
        <p className="mid">{t('It takes no new calls from now on and dials nothing. Calls that are on go on until people hang up. If it is the only node, nobody is called until it is back in service.')}</p>
      </Confirm>
      <Confirm open={open === 'undrain'} onClose={() => setOpen(null)} title={t('Put {node} back in service', { node: node.name })} action={t('Put it back in service')} act={() => undrain.mutateAsync(undefined)}>
        <p className="mid">{t('It takes calls again, and dials what is due.')}</p>
      </Confirm>
    </Box>
  );
}

export function Page() {
  const node = useOperator<Data<Node>>(PATH, { every: 2_000 });
  return (
    <>
      <Head title={t('Nodes')} sub={<span className="dim wide cut">{t('The node that answers this browser. Others are reached at their own address.')}</span>} />
      <Body><div className="op-two"><Shown of={node} what={t('The node could not be read.')} rows={4}>{({ data }) => <NodeBox node={data} />}</Shown><Health /></div></Body>
    </>
  );
}
