import { Plus, Trash2 } from 'lucide-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { readKey, useHasRole, useRead, type Schemas } from '../api/index.ts';
import { ofWorkspace, useOperator, useOperatorSend } from '../api/use-operator.ts';
import { ReadOnlyNote } from '../shell/index.ts';
import { Body, Box, Button, CheckInput, Confirm, ErrorNote, Name, SelectInput, Sheet, Shown, Tag, TextInput, When, count, day, plural, t, toast, useKeys } from '../parts/index.ts';
import { Frame } from './frame.tsx';

type Tool = Schemas['Tool'];
interface StaffPhone { number: string; createdAt: string }
const TOOLS = (): string => ofWorkspace('/tools');
const PHONES = (): string => ofWorkspace('/transfer-numbers');
const useReread = (): (() => void) => { const client = useQueryClient(); return () => { void client.invalidateQueries({ queryKey: readKey('listTools', {}) }); }; };
const METHODS = ['POST', 'GET', 'PUT', 'PATCH'] as const;

const json = (text: string): { value?: Record<string, unknown>; fault?: string } => {
  if (text.trim() === '') return {};
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { value: value as Record<string, unknown> } : { fault: t('This is no JSON object.') };
  } catch {
    return { fault: t('This is no JSON object.') };
  }
};

function ToolForm({ onClose }: { onClose: () => void }) {
  const [form, setForm] = useState({ name: '', description: '', url: '', headers: '', parameters: '', seconds: '10' });
  const [method, setMethod] = useState<(typeof METHODS)[number]>('POST');
  const [idempotent, setIdempotent] = useState(false);
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const make = useOperatorSend<object>((body) => ({ method: 'POST', path: TOOLS(), body }), { alters: [TOOLS()], done: () => { toast(t('The tool is made')); onClose(); } });
  const reread = useReread();
  const set = (name: keyof typeof form) => (value: string): void => setForm({ ...form, [name]: value });
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const headers = json(form.headers);
    const parameters = json(form.parameters);
    const seconds = Number(form.seconds);
    const lacks = {
      ...(form.name.trim() ? {} : { name: t('A tool needs a name.') }), ...(form.url.trim() ? {} : { url: t('The address is missing.') }), ...(headers.fault ? { headers: headers.fault } : {}), ...(parameters.fault ? { parameters: parameters.fault } : {}),
      ...(Number.isInteger(seconds) && seconds > 0 ? {} : { seconds: t('Write whole seconds.') }),
    };
    setFaults(lacks);
    if (Object.keys(lacks).length > 0) return;
    const config = { url: form.url.trim(), method, timeoutSeconds: seconds, idempotent, ...(headers.value ? { headers: headers.value } : {}), ...(parameters.value ? { parameters: parameters.value } : {}) };
    make.mutate({ type: 'webhook', name: form.name.trim(), ...(form.description.trim() ? { description: form.description.trim() } : {}), config }, { onSuccess: reread });
  };
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{t('New tool')}</h2>
      <p className="mid">{t('An agent calls it during a conversation: to look something up, or to have something done.')}</p>
      <TextInput label={t('Name')} hint={t('As the language model reads it: check_order')} value={form.name} onChange={set('name')} fault={faults.name ?? (make.error?.field === 'name' ? make.error.message : null)} dir="ltr" autoFocus autoComplete="off" />
      <TextInput label={t('When to use it')} value={form.description} onChange={set('description')} lines={2} />
      <div className="se-inline"><div className="se-method"><SelectInput label={t('Method')} value={method} onChange={setMethod} choices={METHODS.map((one) => ({ id: one, text: one }))} /></div><div className="grow"><TextInput label={t('Address')} value={form.url} onChange={set('url')} fault={faults.url ?? (make.error?.field?.includes('url') ? make.error.message : null)} dir="ltr" autoComplete="off" /></div></div>
      <TextInput label={t('Headers')} hint={t('A JSON object, name to value. Stored encrypted and never shown again.')} value={form.headers} onChange={set('headers')} fault={faults.headers} lines={2} mono dir="ltr" />
      <TextInput label={t('Arguments')} hint={t('The JSON Schema of what the agent must fill in.')} value={form.parameters} onChange={set('parameters')} fault={faults.parameters} lines={3} mono dir="ltr" />
      <TextInput label={t('Must answer within, in seconds')} value={form.seconds} onChange={set('seconds')} fault={faults.seconds} dir="ltr" inputMode="numeric" />
      <CheckInput value={idempotent} onChange={setIdempotent}>{t('A repeated request changes nothing, so it may be sent again')}</CheckInput>
      {make.error && make.error.field !== 'name' && !make.error.field?.includes('url') && <ErrorNote error={make.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={make.isPending}>{t('Make the tool')}</Button></div>
    </Form>
  );
}

function Tools({ remove }: { remove: (tool: Tool) => void }) {
  const tools = useRead('listTools', {});
  const may = useHasRole('admin');
  return (
    <Shown of={tools} what={t('The tools could not be read.')} rows={4}>
      {({ data }) => (
        <Box title={plural(data.length, '{n} tool', '{n} tools')} inside={false}><ul className="se-rows">{data.map((tool) => (
          <li key={tool.id} data-tool={tool.id}><span className="grow se-min"><span className="row"><span className="medium cut"><Name>{tool.name}</Name></span>{tool.type === 'webhook' ? <Tag tone="info">{t('webhook')}</Tag> : <Tag>{t('built in')}</Tag>}</span><span className="mid se-wrap"><Name>{tool.description}</Name></span></span>
            {may && tool.type === 'webhook' && <Button small kind="bare" icon={Trash2} label={t('Delete {name}', { name: tool.name })} onPress={() => remove(tool)} />}</li>
        ))}</ul></Box>
      )}
    </Shown>
  );
}

function PhoneForm({ onClose }: { onClose: () => void }) {
  const [number, setNumber] = useState('');
  const [missing, setMissing] = useState<string | null>(null);
  const add = useOperatorSend<{ number: string }>((body) => ({ method: 'POST', path: PHONES(), body }), { alters: [PHONES()], done: () => { toast(t('The phone is released')); onClose(); } });
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); setMissing(number.trim() ? null : t('The number is missing.')); if (number.trim()) add.mutate({ number: number.trim() }); }}>
      <h2>{t('Release a staff phone')}</h2>
      <p className="mid">{t('A phone of your own staff that is on the do-not-call registry can be rung for transfers when it is released here. No agent calls it otherwise.')}</p>
      <TextInput label={t('Number')} hint={t('A number of India')} value={number} onChange={setNumber} fault={missing ?? (add.error?.field === 'number' ? add.error.message : null)} dir="ltr" inputMode="tel" autoFocus autoComplete="off" />
      {add.error && add.error.field !== 'number' && <ErrorNote error={add.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={add.isPending}>{t('Release it')}</Button></div>
    </Form>
  );
}

function Phones() {
  const phones = useOperator<{ data: StaffPhone[] }>(PHONES());
  const [adding, setAdding] = useState(false);
  const [ending, setEnding] = useState<StaffPhone | null>(null);
  const end = useOperatorSend<string>((number) => ({ method: 'DELETE', path: `${PHONES()}/${encodeURIComponent(number)}` }), { alters: [PHONES()], done: () => toast(t('The release is ended')) });
  return (
    <Box title={t('Staff phones')} inside={false} extra={<Button small icon={Plus} onPress={() => setAdding(true)}>{t('Release a phone')}</Button>} {...(phones.data ? { count: count(phones.data.data.length) } : {})}>
      <Shown of={phones} what={t('The staff phones could not be read.')} rows={2}>
        {({ data }) => (data.length === 0 ? <p className="mid se-pad">{t('No phone on the registry is released for transfers.')}</p> : <ul className="se-rows">{data.map((phone) => <li key={phone.number}><span className="grow num">{phone.number}</span><span className="dim">{t('since')} <When at={phone.createdAt}>{day(phone.createdAt)}</When></span><Button small onPress={() => setEnding(phone)}>{t('End…')}</Button></li>)}</ul>)}
      </Shown>
      <Sheet open={adding} onClose={() => setAdding(false)} label={t('Release a staff phone')}><PhoneForm onClose={() => setAdding(false)} /></Sheet>
      <Confirm open={ending !== null} onClose={() => setEnding(null)} title={t('End the release of this phone')} action={t('End the release')} danger act={() => (ending ? end.mutateAsync(ending.number) : Promise.resolve())}><p className="mid">{t('While the registry lists it, transfers do not ring it any more.')}</p></Confirm>
    </Box>
  );
}

export function Page() {
  const may = useHasRole('admin');
  const [making, setMaking] = useState(false);
  const [removing, setRemoving] = useState<Tool | null>(null);
  const remove = useOperatorSend<string>((id) => ({ method: 'DELETE', path: `${TOOLS()}/${id}` }), { alters: [TOOLS()], done: () => toast(t('The tool is deleted')) });
  const reread = useReread();
  useKeys(may ? [{ key: 'n', text: t('New tool'), act: () => setMaking(true) }] : []);
  return (
    <Frame tab="tools" actions={may && <Button kind="primary" icon={Plus} onPress={() => setMaking(true)}>{t('New tool')}</Button>}>
      <Body>
        {!may && <ReadOnlyNote role="admin" />}
        <Tools remove={setRemoving} />
        {may && <Phones />}
      </Body>
      <Sheet open={making} onClose={() => setMaking(false)} label={t('New tool')}><ToolForm onClose={() => setMaking(false)} /></Sheet>
      <Confirm open={removing !== null} onClose={() => setRemoving(null)} title={t('Delete the tool “{name}”', { name: removing?.name ?? '' })} action={t('Delete the tool')} danger typed={removing ? { label: t('Type the name of the tool'), text: removing.name } : undefined} act={() => (removing ? remove.mutateAsync(removing.id).then(reread) : Promise.resolve())}><p className="mid">{t('Agents that use it go on without it, from their next conversation on.')}</p></Confirm>
    </Frame>
  );
}
