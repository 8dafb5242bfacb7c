import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useOperator, useOperatorSend } from '../api/use-operator.ts';
import { roleName } from '../shell/index.ts';
import { Box, Button, ErrorNote, Name, SelectInput, Sheet, Shown, TextInput, count, t, toast } from '../parts/index.ts';
import type { Member } from './types.ts';

const ROLES = ['owner', 'admin', 'editor', 'viewer'] as const;
type Role = (typeof ROLES)[number];

function MemberForm({ path, onClose }: { path: string; onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('owner');
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const add = useOperatorSend<object>((body) => ({ method: 'POST', path, body }), { alters: [path], done: () => { toast(t('The member is added')); onClose(); } });
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const lacks = { ...(/^\S+@\S+\.\S+$/.test(email.trim()) ? {} : { email: t('This is no e-mail address.') }), ...(name.trim() ? {} : { name: t('The name is missing.') }) };
    setFaults(lacks);
    if (Object.keys(lacks).length === 0) add.mutate({ email: email.trim(), name: name.trim(), role });
  };
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{t('Add a member')}</h2>
      <TextInput label={t('E-mail')} value={email} onChange={setEmail} fault={faults.email ?? (add.error?.field === 'email' ? add.error.message : null)} dir="ltr" autoFocus autoComplete="off" />
      <TextInput label={t('Name')} value={name} onChange={setName} fault={faults.name} autoComplete="off" />
      <SelectInput label={t('Role')} value={role} onChange={setRole} choices={ROLES.map((one) => ({ id: one, text: roleName(one) }))} />
      <p className="hint">{t('Who has no password yet needs a sign-in link: People, “Make a link”.')}</p>
      {add.error && add.error.field !== 'email' && <ErrorNote error={add.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={add.isPending}>{t('Add the member')}</Button></div>
    </Form>
  );
}

export function MembersBox({ workspace }: { workspace: string }) {
  const path = `/workspaces/${workspace}/members`;
  const members = useOperator<{ data: Member[] }>(path);
  const [open, setOpen] = useState(false);
  return (
    <Box title={t('Members')} inside={false} extra={<Button small icon={Plus} onPress={() => setOpen(true)}>{t('Add a member')}</Button>} {...(members.data ? { count: count(members.data.data.length) } : {})}>
      <Shown of={members} what={t('The members could not be read.')} rows={2}>
        {({ data }) => (data.length === 0 ? <p className="mid op-pad">{t('Nobody can sign in to this workspace yet.')}</p> : <ul className="op-rows">{data.map((one) => <li key={one.id}><span className="grow cut"><span className="medium"><Name>{one.name}</Name></span> <span className="dim"><Name>{one.email}</Name></span></span><span className="mid">{roleName(one.role)}</span></li>)}</ul>)}
      </Shown>
      <Sheet open={open} onClose={() => setOpen(false)} label={t('Add a member')}><MemberForm path={path} onClose={() => setOpen(false)} /></Sheet>
    </Box>
  );
}
