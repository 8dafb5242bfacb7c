import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useHasRole } from '../api/index.ts';
import { ofWorkspace, useOperatorSend } from '../api/use-operator.ts';
import { Button, CheckInput, ErrorNote, Segment, SelectInput, Sheet, TextInput, t } from '../parts/index.ts';
import { Once } from './endpoint-form.tsx';
import { KEYS, type ApiKey } from './queries.ts';
import { SCOPES, actionName, resourceName } from './names.ts';

const DAYS = { never: 0, '30': 30, '90': 90, '365': 365 } as const;
type Lasts = keyof typeof DAYS;
const ACTIONS = ['read', 'write', 'erase'] as const;
const every = (actions: readonly string[]): string[] => SCOPES.flatMap(([resource, all]) => all.filter((action) => actions.includes(action)).map((action) => `${resource}:${action}`));

/** Rows are resources, columns what may be done with them. */
function ScopeMatrix({ chosen, onChange, erases }: { chosen: ReadonlySet<string>; onChange: (chosen: ReadonlySet<string>) => void; erases: boolean }) {
  const toggle = (scope: string, on: boolean): void => { const next = new Set(chosen); if (on) next.add(scope); else next.delete(scope); onChange(next); };
  const actions = ACTIONS.filter((action) => action !== 'erase' || erases);
  return (
    <fieldset className="dv-set">
      <legend className="lab">{t('What it may do')}</legend>
      <div className="row wrap"><Button small onPress={() => onChange(new Set(every(['read'])))}>{t('Read everything')}</Button><Button small onPress={() => onChange(new Set(every(['read', 'write'])))}>{t('Read and change everything')}</Button><Button small onPress={() => onChange(new Set())}>{t('Nothing')}</Button></div>
      <table className="dv-choose">
        <thead><tr><th scope="col"><span className="vh">{t('Resource')}</span></th>{actions.map((action) => <th key={action} scope="col">{actionName(action)}</th>)}</tr></thead>
        <tbody>{SCOPES.map(([resource, all]) => (
          <tr key={resource}><th scope="row">{resourceName(resource)}</th>{actions.map((action) => <td key={action}>{all.includes(action) && <CheckInput label={`${resourceName(resource)}: ${actionName(action)}`} value={chosen.has(`${resource}:${action}`)} onChange={(on) => toggle(`${resource}:${action}`, on)} />}</td>)}</tr>
        ))}</tbody>
      </table>
    </fieldset>
  );
}

function KeyForm({ onClose, made }: { onClose: () => void; made: (key: string) => void }) {
  const erases = useHasRole('owner');
  const [name, setName] = useState('');
  const [mode, setMode] = useState<'live' | 'test'>('live');
  const [lasts, setLasts] = useState<Lasts>('never');
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set());
  const [missing, setMissing] = useState<Readonly<Record<string, string>>>({});
  const create = useOperatorSend<object, { data: ApiKey }>((body) => ({ method: 'POST', path: ofWorkspace('/keys'), body }), { alters: [KEYS()], done: ({ data }) => { if (data.key) made(data.key); } });
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const lacks = { ...(name.trim() ? {} : { name: t('A key needs a name.') }), ...(scopes.size === 0 ? { scopes: t('Choose what the key may do.') } : {}) };
    setMissing(lacks);
    if (Object.keys(lacks).length > 0) return;
    create.mutate({ name: name.trim(), mode, scopes: [...scopes], ...(lasts === 'never' ? {} : { expiresAt: new Date(Date.now() + DAYS[lasts] * 86_400_000).toISOString() }) });
  };
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{t('New key')}</h2>
      <TextInput label={t('Name')} hint={t('What uses it: “CRM”, “reports at night”')} value={name} onChange={setName} fault={missing.name} maxLength={120} autoFocus autoComplete="off" />
      <div className="row wrap dv-two">
        <div className="stack"><p className="lab">{t('Mode')}</p><Segment label={t('Mode')} value={mode} onChange={setMode} items={[['live', t('Live')], ['test', t('Test')]]} /></div>
        <div className="grow"><SelectInput label={t('Works')} value={lasts} onChange={setLasts} choices={[{ id: 'never', text: t('until it is revoked') }, { id: '30', text: t('for 30 days') }, { id: '90', text: t('for 90 days') }, { id: '365', text: t('for a year') }]} /></div>
      </div>
      <ScopeMatrix chosen={scopes} onChange={setScopes} erases={erases} />
      {missing.scopes && <p className="fault" role="alert">{missing.scopes}</p>}
      <p className="hint">{t('Name, mode and what it may do stay as they are; a key that needs more is a new key.')}</p>
      {create.error && <ErrorNote error={create.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={create.isPending}>{t('Make the key')}</Button></div>
    </Form>
  );
}

export function KeySheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [made, setMade] = useState<string | null>(null);
  const close = (): void => { setMade(null); onClose(); };
  return (
    <Sheet open={open} onClose={close} fixed={made !== null} label={t('New key')}>
      {made === null ? <KeyForm onClose={close} made={setMade} /> : <Once title={t('The new key')} value={made} onClose={close}>{t('It is shown now and never again: only its hash is kept. Whoever has it may do what it may do.')}</Once>}
    </Sheet>
  );
}

const GRACE = { '0': 0, '1': 1, '24': 24, '168': 168, '720': 720 } as const;
type Grace = keyof typeof GRACE;

function RotateForm({ row, onClose, made }: { row: ApiKey; onClose: () => void; made: (key: string) => void }) {
  const [grace, setGrace] = useState<Grace>('24');
  const rotate = useOperatorSend<object, { data: ApiKey }>((body) => ({ method: 'POST', path: ofWorkspace(`/keys/${row.id}/rotate`), body }), { alters: [KEYS()], done: ({ data }) => { if (data.key) made(data.key); } });
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); rotate.mutate({ graceHours: GRACE[grace] }); }}>
      <h2>{t('Give “{name}” a new value', { name: row.name })}</h2>
      <SelectInput label={t('The present value works')} value={grace} onChange={setGrace} hint={t('If it has leaked: no longer.')} choices={[{ id: '0', text: t('no longer') }, { id: '1', text: t('for another hour') }, { id: '24', text: t('for another 24 hours') }, { id: '168', text: t('for another 7 days') }, { id: '720', text: t('for another 30 days') }]} />
      {row.previousValidUntil && <p className="note" data-tone="wait"><span>{t('An older value still works. It ends at once.')}</span></p>}
      {rotate.error && <ErrorNote error={rotate.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={rotate.isPending}>{t('Make a new value')}</Button></div>
    </Form>
  );
}

export function RotateKeySheet({ row, onClose }: { row: ApiKey | null; onClose: () => void }) {
  const [made, setMade] = useState<string | null>(null);
  const close = (): void => { setMade(null); onClose(); };
  return (
    <Sheet open={row !== null} onClose={close} fixed={made !== null} label={t('Give a key a new value')}>
      {row && (made === null ? <RotateForm row={row} onClose={close} made={setMade} /> : <Once title={t('The new value of “{name}”', { name: row.name })} value={made} onClose={close}>{t('It is shown now and never again. Id and scopes of the key stay.')}</Once>)}
    </Sheet>
  );
}
