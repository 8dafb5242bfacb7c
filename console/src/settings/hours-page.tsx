import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useHasRole, useRead, type Schemas } from '../api/index.ts';
import { ofWorkspace, useOperator, useOperatorSend } from '../api/use-operator.ts';
import { ReadOnlyNote } from '../shell/index.ts';
import { Body, Box, Button, CheckInput, Confirm, Empty, ErrorNote, Name, Sheet, Shown, TextInput, t, toast } from '../parts/index.ts';
import { Frame } from './frame.tsx';
import { dayShort, daysSaid } from './names.ts';

interface Span { days: number[]; from: string; to: string }
interface Hours { timezone: string; hours: Span[] }
interface AgentHours { agentId: string; businessHours: Hours | null }
type Agent = Schemas['Agent'];
const path = (id: string): string => ofWorkspace(`/agents/${id}/business-hours`);
const WEEK = [0, 1, 2, 3, 4, 5, 6];
const TIME = /^([01]\d|2[0-3]):[0-5]\d$|^24:00$/;

function faultOf({ days, from, to }: Span): string | null {
  if (days.length === 0) return t('Choose a day.');
  if (!TIME.test(from) || from === '24:00') return t('Write the begin as 09:00.');
  if (!TIME.test(to)) return t('Write the end as 18:00, at most 24:00.');
  return from === to ? t('Begin and end are the same.') : null;
}

function SpanFields({ span, onChange, onRemove, fault, at }: { span: Span; onChange: (span: Span) => void; onRemove: () => void; fault: string | null; at: number }) {
  return (
    <fieldset className="se-span">
      <legend className="vh">{t('Hours {n}', { n: at + 1 })}</legend>
      <div className="se-days">{WEEK.map((weekday) => <CheckInput key={weekday} value={span.days.includes(weekday)} onChange={(on) => onChange({ ...span, days: on ? [...span.days, weekday].sort() : span.days.filter((one) => one !== weekday) })}>{dayShort(weekday)}</CheckInput>)}</div>
      <div className="row se-times"><TextInput label={t('From')} value={span.from} onChange={(from) => onChange({ ...span, from })} dir="ltr" /><TextInput label={t('To')} value={span.to} onChange={(to) => onChange({ ...span, to })} dir="ltr" /><Button kind="bare" icon={X} label={t('Remove these hours')} onPress={onRemove} /></div>
      {fault && <p className="fault" role="alert">{fault}</p>}
    </fieldset>
  );
}

function HoursForm({ agent, hours, onClose }: { agent: Agent; hours: Hours | null; onClose: () => void }) {
  const [timezone, setTimezone] = useState(hours?.timezone ?? 'Asia/Kolkata');
  const [spans, setSpans] = useState<readonly Span[]>(hours?.hours ?? [{ days: [0, 1, 2, 3, 4, 5], from: '09:00', to: '18:00' }]);
  const [faults, setFaults] = useState<readonly (string | null)[]>([]);
  const save = useOperatorSend<Hours>((body) => ({ method: 'PUT', path: path(agent.id), body }), { alters: [path(agent.id)], done: () => { toast(t('Changed')); onClose(); } });
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const found = spans.map(faultOf);
    setFaults(found);
    if (found.every((one) => one === null)) save.mutate({ timezone: timezone.trim(), hours: [...spans] });
  };
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{t('Business hours')}: <Name>{agent.name}</Name></h2>
      {spans.map((span, at) => <SpanFields key={at} at={at} span={span} fault={faults[at] ?? null} onChange={(next) => setSpans(spans.map((one, other) => (other === at ? next : one)))} onRemove={() => setSpans(spans.filter((_, other) => other !== at))} />)}
      {spans.length === 0 && <p className="note" data-tone="wait"><span>{t('Without hours the agent takes no new chat at all.')}</span></p>}
      <div><Button icon={Plus} onPress={() => setSpans([...spans, { days: [6], from: '10:00', to: '14:00' }])}>{t('More hours')}</Button></div>
      <TextInput label={t('Time zone')} value={timezone} onChange={setTimezone} dir="ltr" fault={save.error?.field?.includes('timezone') ? save.error.message : null} />
      <p className="hint">{t('An end before the begin is on the next day.')}</p>
      {save.error && !save.error.field?.includes('timezone') && <ErrorNote error={save.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={save.isPending}>{t('Save')}</Button></div>
    </Form>
  );
}

function Row({ agent }: { agent: Agent }) {
  const hours = useOperator<{ data: AgentHours }>(path(agent.id));
  const may = useHasRole('editor');
  const [open, setOpen] = useState<'edit' | 'remove' | null>(null);
  const remove = useOperatorSend<undefined>(() => ({ method: 'DELETE', path: path(agent.id) }), { alters: [path(agent.id)], done: () => toast(t('{name} takes chats at any time', { name: agent.name })) });
  const now = hours.data?.data.businessHours ?? null;
  const close = (): void => setOpen(null);
  return (
    <li data-agent={agent.id}>
      <span className="grow se-min"><span className="medium se-block cut"><Name>{agent.name}</Name></span>
        <Shown of={hours} what={t('The hours could not be read.')} rows={1}>{() => <span className="mid num">{now === null ? t('takes chats at any time') : now.hours.length === 0 ? t('takes no new chats') : now.hours.map((span) => `${daysSaid(span.days)} ${span.from}–${span.to}`).join(' · ')}{now !== null && now.timezone !== 'Asia/Kolkata' && <span className="dim"> {now.timezone}</span>}</span>}</Shown>
      </span>
      {may && hours.data && <><Button small onPress={() => setOpen('edit')}>{now === null ? t('Set hours…') : t('Change…')}</Button>{now !== null && <Button small onPress={() => setOpen('remove')}>{t('Remove…')}</Button>}</>}
      <Sheet open={open === 'edit'} onClose={close} label={t('Business hours')}><HoursForm agent={agent} hours={now} onClose={close} /></Sheet>
      <Confirm open={open === 'remove'} onClose={close} title={t('Remove the hours of {name}', { name: agent.name })} action={t('Take chats at any time')} act={() => remove.mutateAsync(undefined)}><p className="mid">{t('Customers can begin a chat with this agent at night, too.')}</p></Confirm>
    </li>
  );
}

export function Page() {
  const agents = useRead('listAgents', {});
  const may = useHasRole('editor');
  return (
    <Frame tab="hours">
      <Body>
        {!may && <ReadOnlyNote role="editor" />}
        <p className="mid">{t('When agents take new chats. Calling hours are another thing: they stand in the compliance pack of the agent.')}</p>
        <Shown of={agents} what={t('The agents could not be read.')}>
          {({ data }) => { const chats = data.filter((agent) => agent.channel === 'chat'); return chats.length === 0 ? <Empty title={t('No agent answers chats')}>{t('When there is one, its hours are set here.')}</Empty> : <Box title={t('Agents that answer chats')} inside={false}><ul className="se-rows">{chats.map((agent) => <Row key={agent.id} agent={agent} />)}</ul></Box>; }}
        </Shown>
      </Body>
    </Frame>
  );
}
