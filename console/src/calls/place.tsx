// 'Place a call': whether it would be dialled is said before the button is pressed.
import { CircleCheck, CircleSlash, Clock } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { Form, Heading } from 'react-aria-components';
import { useLocation } from 'wouter';
import { callIn, currentScope, readKey, useRead, useSend, type ApiError, type Schemas } from '../api/index.ts';
import { Bars, Button, ErrorNote, Icon, SelectInput, Sheet, TextInput, rupees, sentence, spelled, t, when } from '../parts/index.ts';
import { useQuery } from '@tanstack/react-query';

import { gateName } from './names.ts';

interface Variable { readonly name: string; readonly required: boolean; readonly description: string; readonly initial: string }

/** The variables of the published flow. */
function variablesOf(flow: Record<string, unknown> | undefined): readonly Variable[] {
  const list = flow?.variables;
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) => {
    const { name, required, description, default: initial } = (one ?? {}) as Record<string, unknown>;
    return typeof name === 'string' ? [{ name, required: required === true && initial === undefined, description: typeof description === 'string' ? description : '', initial: initial === undefined ? '' : String(initial) }] : [];
  });
}
const digits = (number: string): string => number.normalize('NFKC').replace(/[^\d\p{Nd}]/gu, '');
const PAUSE = 350;
function useSettled<T>(value: T): T {
  const [settled, set] = useState(value);
  useEffect(() => { const timer = setTimeout(() => set(value), PAUSE); return () => clearTimeout(timer); }, [value]);
  return settled;
}

/** `number` is a person's whole number that was just shown; `agentId` is chosen at first. */
export function PlaceCall({ onClose, agentId, number: first = '', note }: { onClose: () => void; agentId?: string | null; number?: string; note?: string }) {
  const agents = useRead('listAgents', {});
  const usable = (agents.data?.data ?? []).filter((one) => one.channel === 'call' && one.direction === 'outbound' && one.status === 'active');
  return (
    <Sheet open onClose={onClose} label={t('Place a call')}>
      {agents.error ? <div className="form"><ErrorNote error={agents.error} /><div className="ends"><Button onPress={onClose}>{t('Close')}</Button></div></div>
        : !agents.data ? <Bars rows={4} /> : usable.length === 0 ? <NoAgent onClose={onClose} /> : <PlaceForm agents={usable} onClose={onClose} first={first} agentId={agentId ?? null} note={note} />}
    </Sheet>
  );
}

const NoAgent = ({ onClose }: { onClose: () => void }) => (
  <div className="form"><h2>{t('Place a call')}</h2><p>{t('No agent can place calls. Publish the flow of one that calls people.')}</p><div className="ends"><Button onPress={onClose}>{t('Close')}</Button></div></div>
);

function PlaceForm({ agents, onClose, first, agentId, note }: { agents: readonly Schemas['Agent'][]; onClose: () => void; first: string; agentId: string | null; note: string | undefined }) {
  const [, go] = useLocation();
  const test = currentScope()?.test ?? false;
  const [agent, setAgent] = useState<string | null>(agents.find((one) => one.id === agentId)?.id ?? (agents.length === 1 ? agents[0]?.id ?? null : null));
  const [number, setNumber] = useState(first);
  const [given, setGiven] = useState<Record<string, string>>({});
  const [faults, setFaults] = useState<Record<string, string>>({});
  const once = useMemo(() => crypto.randomUUID(), []);
  const flow = useRead('getFlow', { path: { id: agent ?? '' } }, { enabled: agent !== null });
  const wallet = useRead('getWallet', {}, { enabled: !test });
  const variables = useMemo(() => variablesOf(flow.data?.data.published), [flow.data]);
  const send = useSend('placeCall', { alters: ['listLiveCalls'], done: (placed) => { onClose(); go(`/live?call=${placed.interactionId}`); } });

  const submit = (): void => {
    const missing: Record<string, string> = {};
    if (!agent) missing.agentId = t('Choose who calls.');
    if (digits(number).length < 10) missing.toNumber = t('Give a number with at least ten digits.');
    for (const one of variables) if (one.required && !given[one.name]?.trim()) missing[one.name] = t('The flow needs this value.');
    setFaults(missing);
    if (Object.keys(missing).length > 0 || !agent) return;
    const values = Object.fromEntries(Object.entries(given).filter(([, value]) => value.trim() !== ''));
    send.mutate({ body: { agentId: agent, toNumber: number.trim(), ...(Object.keys(values).length > 0 ? { variables: values } : {}) }, once });
  };
  const fault = (field: string): string | null => faults[field] ?? (send.error?.field === field ? sentence(send.error) : null);
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <Heading slot="title" level={2}>{t('Place a call')}</Heading>
      {note && <p className="mid">{note}</p>}
      <SelectInput label={t('Agent')} value={agent} onChange={(id) => { setAgent(id); setFaults({}); }} choices={agents.map((one) => ({ id: one.id, text: one.name }))} fault={fault('agentId')} />
      <TextInput label={t('Number')} value={number} onChange={(text) => { setNumber(text); setFaults({}); }} type="tel" inputMode="tel" autoComplete="off" dir="ltr" placeholder="98765 43210" fault={fault('toNumber')} autoFocus />
      {variables.map((one) => (
        <TextInput key={one.name} label={one.required ? t('{name} (needed)', { name: one.name }) : one.name} hint={one.description || (one.initial ? t('Else: {value}', { value: one.initial }) : undefined)} value={given[one.name] ?? ''} onChange={(text) => { setGiven((before) => ({ ...before, [one.name]: text })); setFaults({}); }} fault={fault(one.name)} />
      ))}
      <Forecast agent={agent} number={number} />
      {send.error && !send.error.field && <PlaceFault error={send.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button kind="primary" type="submit" isPending={send.isPending}>{test ? t('Simulate 1 call') : wallet.data ? t('Call 1 person, {price} a minute', { price: rupees(wallet.data.data.costPerMinuteMinor) }) : t('Call 1 person')}</Button></div>
    </Form>
  );
}

function PlaceFault({ error }: { error: ApiError }) {
  if (error.code === 'call_blocked') return <div className="note" data-tone="wait" role="alert"><Icon of={CircleSlash} /><p>{t('Not dialled: {gate}. The refusal is in the log.', { gate: gateName(String(error.meta.blockReason ?? '')) })}</p></div>;
  return <ErrorNote error={error} />;
}

/** What the gates say now, asked without dialling. */
function Forecast({ agent, number }: { agent: string | null; number: string }) {
  const toNumber = useSettled(number.trim());
  const asked = { body: { agentId: agent ?? '', toNumber } };
  const scope = currentScope();
  const ready = agent !== null && digits(toNumber).length >= 10;
  const said = useQuery<Schemas['NudgeForecast'], ApiError>({ queryKey: readKey('preflightNudge', asked), queryFn: async ({ signal }) => (await callIn(scope, 'preflightNudge', { ...asked, signal })).data, enabled: ready, staleTime: 10_000, gcTime: 0, retry: 0 });
  if (!ready) return <p className="hint" role="status">{t('With an agent and a number, what the gates say is shown here before anything is dialled.')}</p>;
  if (said.error) return <div className="note" data-tone="bad" role="status" data-forecast="error"><Icon of={CircleSlash} /><p>{sentence(said.error)}</p></div>;
  if (!said.data) return <p className="hint" role="status" data-forecast="asking">{t('Asking the gates…')}</p>;
  const { blocked, blockReason, blockMessage, warnings, insideWindow, nextWindowAt } = said.data;
  if (blocked) return <div className="note" data-tone="rule" role="status" data-forecast="blocked"><Icon of={CircleSlash} /><div className="grow"><p>{t('It would not be dialled: {gate}.', { gate: blockReason ? gateName(blockReason) : '' })}</p>{blockMessage && <p>{blockMessage}</p>}</div></div>;
  return (
    <div className="note" data-tone={insideWindow ? 'ok' : 'wait'} role="status" data-forecast={insideWindow ? 'dialled' : 'window'}>
      <Icon of={insideWindow ? CircleCheck : Clock} />
      <div className="grow">
        <p>{insideWindow ? t('It would be dialled: no gate is against it.') : t('No gate is against it, but reminders wait until {time}. Whether a call is dialled now, the hours of the pack decide.', { time: nextWindowAt ? when(nextWindowAt) : '–' })}</p>
        {warnings.map((one) => <p key={one.gate}>{one.message || spelled(one.gate)}</p>)}
      </div>
    </div>
  );
}
