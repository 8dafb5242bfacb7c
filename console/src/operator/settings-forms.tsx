// What the operator sets for a workspace: prices, limits, how the law regulates it.
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useOperatorSend } from '../api/use-operator.ts';
import { Button, ErrorNote, SelectInput, Sheet, SwitchInput, TextInput, entityName, limitName, t, toast, paise } from '../parts/index.ts';
import { ENTITIES, type Entity, type Workspace } from './types.ts';

export function useChange(workspace: Workspace, done: () => void) {
  return useOperatorSend<object>((body) => ({ method: 'PATCH', path: `/workspaces/${workspace.id}`, body }), { alters: ['/workspaces'], done: () => { toast(t('Changed')); done(); } });
}

const money = (minor: number): string => String(minor / 100);
function PricesForm({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const [form, setForm] = useState({ minute: money(workspace.costPerMinuteMinor), chat: money(workspace.costPerChatMinor), grade: money(workspace.costPerEvaluationMinor) });
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const save = useChange(workspace, onClose);
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const values = { costPerMinuteMinor: paise(form.minute), costPerChatMinor: paise(form.chat), costPerEvaluationMinor: paise(form.grade) };
    const wrong = (value: number | null): boolean => value === null || value < 0;
    const lacks = { ...(wrong(values.costPerMinuteMinor) ? { minute: t('Write an amount in rupees.') } : {}), ...(wrong(values.costPerChatMinor) ? { chat: t('Write an amount in rupees.') } : {}), ...(wrong(values.costPerEvaluationMinor) ? { grade: t('Write an amount in rupees.') } : {}) };
    setFaults(lacks);
    if (Object.keys(lacks).length === 0) save.mutate(values);
  };
  const field = (name: keyof typeof form, label: string) => <TextInput label={label} value={form[name]} onChange={(text) => setForm({ ...form, [name]: text })} fault={faults[name]} inputMode="decimal" dir="ltr" />;
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{t('Prices, in rupees')}</h2>
      {field('minute', t('A started minute of talk'))}{field('chat', t('A chat'))}{field('grade', t('A graded conversation'))}
      <p className="hint">{t('Calls that are on are charged with the price of the moment when they were placed.')}</p>
      {save.error && <ErrorNote error={save.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={save.isPending}>{t('Set these prices')}</Button></div>
    </Form>
  );
}

function LimitsForm({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const [form, setForm] = useState<Readonly<Record<string, string>>>(Object.fromEntries(Object.entries(workspace.limits).map(([name, limit]) => [name, String(limit)])));
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const save = useChange(workspace, onClose);
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const values = Object.entries(form).map(([name, text]) => [name, Number(text.replaceAll(/[,\s]/g, '') || 'x')] as const);
    const lacks = Object.fromEntries(values.filter(([, value]) => !Number.isInteger(value) || value < 0 || value > 10_000_000).map(([name]) => [name, t('A whole number from 0 to 1,00,00,000.')]));
    setFaults(lacks);
    if (Object.keys(lacks).length === 0) save.mutate({ limits: Object.fromEntries(values.filter(([name, value]) => value !== workspace.limits[name])) });
  };
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{t('Limits')}</h2>
      <div className="op-limits">{Object.keys(form).map((name) => <TextInput key={name} label={limitName(name)} value={form[name] ?? ''} onChange={(text) => setForm({ ...form, [name]: text })} fault={faults[name]} inputMode="numeric" dir="ltr" />)}</div>
      {save.error && <ErrorNote error={save.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={save.isPending}>{t('Set these limits')}</Button></div>
    </Form>
  );
}

function EntityForm({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const [name, setName] = useState(workspace.name);
  const [entity, setEntity] = useState<Entity>(workspace.regulatedAs);
  const [dlt, setDlt] = useState(workspace.dltEntityId ?? '');
  const [optIn, setOptIn] = useState(workspace.marketingOptInRule);
  const [missing, setMissing] = useState<string | null>(null);
  const save = useChange(workspace, onClose);
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    setMissing(name.trim() ? null : t('A workspace needs a name.'));
    if (name.trim()) save.mutate({ name: name.trim(), regulatedAs: entity, dltEntityId: dlt.trim() || null, marketingOptInRule: optIn });
  };
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{t('Change the workspace')}</h2>
      <TextInput label={t('Name')} value={name} onChange={setName} fault={missing} maxLength={120} />
      <SelectInput label={t('Regulated as')} hint={t('The rules on number series go by it.')} value={entity} onChange={setEntity} choices={ENTITIES.map((one) => ({ id: one, text: entityName(one) }))} />
      <TextInput label={t('Id in the registers of senders (DLT)')} value={dlt} onChange={setDlt} dir="ltr" fault={save.error?.field === 'dltEntityId' ? save.error.message : null} />
      <SwitchInput value={optIn} onChange={setOptIn}>{t('Marketing only to people whose opt-in is recorded')}</SwitchInput>
      {save.error && save.error.field !== 'dltEntityId' && <ErrorNote error={save.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={save.isPending}>{t('Save')}</Button></div>
    </Form>
  );
}

export type Form3 = 'prices' | 'limits' | 'entity';
export function SettingsSheet({ form, workspace, onClose }: { form: Form3 | null; workspace: Workspace; onClose: () => void }) {
  return (
    <Sheet open={form !== null} onClose={onClose} label={t('Change the workspace')}>
      {form === 'prices' && <PricesForm workspace={workspace} onClose={onClose} />}
      {form === 'limits' && <LimitsForm workspace={workspace} onClose={onClose} />}
      {form === 'entity' && <EntityForm workspace={workspace} onClose={onClose} />}
    </Sheet>
  );
}
