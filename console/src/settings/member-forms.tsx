import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useHasRole, useMembership, useSend, type Role, type Schemas } from '../api/index.ts';
import { aRole, roleName } from '../shell/index.ts';
import { Button, Confirm, ErrorNote, Name, SelectInput, Sheet, TextInput, rich, t, toast, when } from '../parts/index.ts';
import { ROLES, givenBy, roleMay, takenBy } from './names.ts';

type Member = Schemas['WorkspaceMember'];
const List = ({ title, rows }: { title: string; rows: readonly string[] }) => (rows.length === 0 ? null : <div><h3>{title}</h3><ul className="se-bullets">{rows.map((row) => <li key={row}>{row}</li>)}</ul></div>);

/** Only an owner makes owners. */
export const useRoles = (): readonly Role[] => { const owner = useHasRole('owner'); return ROLES.filter((role) => role !== 'owner' || owner); };

function InviteForm({ onClose, made }: { onClose: () => void; made: (invitation: Schemas['MemberInvitation']) => void }) {
  const roles = useRoles();
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('editor');
  const [missing, setMissing] = useState<string | null>(null);
  const invite = useSend('inviteMember', { alters: ['listInvitations'], done: ({ data }) => made(data) });
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const fault = email.trim() === '' ? t('The e-mail address is missing.') : /^\S+@\S+\.\S+$/.test(email.trim()) ? null : t('This is no e-mail address.');
    setMissing(fault);
    if (fault === null) invite.mutate({ body: { email: email.trim(), role, ...(name.trim() ? { name: name.trim() } : {}) } });
  };
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{t('Invite a person')}</h2>
      <TextInput label={t('E-mail')} dir="ltr" value={email} onChange={setEmail} fault={missing ?? (invite.error?.field === 'email' ? invite.error.message : null)} autoFocus autoComplete="off" />
      <TextInput label={t('Name')} hint={t('Can be left empty; the person may change it.')} value={name} onChange={setName} maxLength={120} autoComplete="off" />
      <SelectInput label={t('Role')} value={role} onChange={setRole} choices={roles.map((one) => ({ id: one, text: roleName(one) }))} />
      <List title={t('May do')} rows={ROLES.slice(0, ROLES.indexOf(role) + 1).flatMap(roleMay)} />
      {invite.error && invite.error.field !== 'email' && <ErrorNote error={invite.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={invite.isPending}>{t('Invite')}</Button></div>
    </Form>
  );
}

/** The link is shown once. Where the service has a mail server, another one was mailed. */
function Invited({ invitation, onClose }: { invitation: Schemas['MemberInvitation']; onClose: () => void }) {
  return (
    <div className="form">
      <h2>{t('The invitation is made')}</h2>
      <p className="mid">{invitation.mailed ? rich('{email} was sent a mail with a link. You can also give this one, which is shown now and never again.', { email: <Name>{invitation.email}</Name> }) : rich('No mail was sent. Give {email} this link: it is shown now and never again.', { email: <Name>{invitation.email}</Name> })}</p>
      <pre className="raw se-once" tabIndex={0} translate="no" data-once>{invitation.url}</pre>
      <p className="hint">{t('It works once, until {time} IST. Who opens it presses a button to accept.', { time: when(invitation.expiresAt) })}</p>
      <div className="ends"><Button kind="primary" onPress={() => { void navigator.clipboard.writeText(invitation.url ?? '').then(() => toast(t('Copied'))); }}>{t('Copy')}</Button><Button onPress={onClose}>{t('I have given it')}</Button></div>
    </div>
  );
}

export function InviteSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [made, setMade] = useState<Schemas['MemberInvitation'] | null>(null);
  const close = (): void => { setMade(null); onClose(); };
  return <Sheet open={open} onClose={close} fixed={made !== null} label={t('Invite a person')}>{made ? <Invited invitation={made} onClose={close} /> : <InviteForm onClose={close} made={setMade} />}</Sheet>;
}

function RoleForm({ member, onClose }: { member: Member; onClose: () => void }) {
  const roles = useRoles();
  const own = useMembership()?.memberId === member.id;
  const [role, setRole] = useState<Role>(member.role);
  const change = useSend('updateMember', { alters: ['listWorkspaceMembers'], done: () => { toast(t('{name} is now {role}', { name: member.name, role: aRole(role) })); onClose(); } });
  const taken = takenBy(member.role, role);
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); if (role === member.role) onClose(); else change.mutate({ path: { id: member.id }, body: { role } }); }}>
      <h2>{rich('The role of {name}', { name: <Name>{member.name}</Name> })}</h2>
      <SelectInput label={t('Role')} value={role} onChange={setRole} choices={roles.map((one) => ({ id: one, text: roleName(one), ...(one === member.role ? { hint: t('now') } : {}) }))} />
      {role === member.role && <List title={t('May do')} rows={ROLES.slice(0, ROLES.indexOf(role) + 1).flatMap(roleMay)} />}
      <div data-taken><List title={own ? t('This takes away from you') : t('This takes away')} rows={taken} /></div>
      <List title={t('This gives')} rows={givenBy(member.role, role)} />
      {role !== member.role && <p className="hint">{t('It holds from the next thing that this person does.')}</p>}
      {change.error && <ErrorNote error={change.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind={taken.length > 0 ? 'danger-full' : 'primary'} isPending={change.isPending}>{role === member.role ? t('Leave it') : t('Make this person {role}', { role: aRole(role) })}</Button></div>
    </Form>
  );
}
export const RoleSheet = ({ member, onClose }: { member: Member | null; onClose: () => void }) => <Sheet open={member !== null} onClose={onClose} label={t('Change a role')}>{member && <RoleForm key={member.id} member={member} onClose={onClose} />}</Sheet>;

export function RemoveMember({ member, onClose }: { member: Member | null; onClose: () => void }) {
  const remove = useSend('removeMember', { alters: ['listWorkspaceMembers', 'listInvitations'], done: () => toast(t('The member is removed')) });
  return (
    <Confirm open={member !== null} onClose={onClose} title={t('Remove {name} from this workspace', { name: member?.name ?? '' })} action={t('Remove this member')} danger act={() => (member ? remove.mutateAsync({ path: { id: member.id } }) : Promise.resolve())}>
      <p className="mid">{t('This person sees nothing of the workspace any more, from the next request on. Invitations that this person made end. What was assigned to this person keeps the name.')}</p>
    </Confirm>
  );
}
