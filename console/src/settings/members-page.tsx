import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { useHasRole, useMembership, useRead, useSend, type Schemas } from '../api/index.ts';
import { ReadOnlyNote, roleName, useCommands } from '../shell/index.ts';
import { Avatar, Body, Box, Button, Confirm, More, Name, Shown, Tag, When, count, day, plural, relative, t, toast, useKeys } from '../parts/index.ts';
import { Frame } from './frame.tsx';
import { InviteSheet, RemoveMember, RoleSheet } from './member-forms.tsx';
import { ROLES } from './names.ts';

type Member = Schemas['WorkspaceMember'];
type Invitation = Schemas['MemberInvitation'];

function Members({ members, change, remove }: { members: readonly Member[]; change: (member: Member) => void; remove: (member: Member) => void }) {
  const may = useHasRole('admin');
  const owner = useHasRole('owner');
  const own = useMembership()?.memberId;
  const sorted = [...members].sort((one, other) => ROLES.indexOf(other.role) - ROLES.indexOf(one.role) || one.name.localeCompare(other.name));
  return (
    <table className="tbl se-people">
      <thead><tr><th scope="col">{t('Name')}</th><th scope="col" className="wide">{t('E-mail')}</th><th scope="col">{t('Role')}</th><th scope="col" className="wide">{t('Since')}</th><th><span className="vh">{t('Actions')}</span></th></tr></thead>
      <tbody>{sorted.map((member) => (
        <tr key={member.id} data-member={member.id}>
          <td><span className="row"><Avatar name={member.name} kind="team" small /><span className="cut"><span className="medium"><Name>{member.name}</Name></span><span className="thin meta cut"><Name>{member.email}</Name></span></span>{member.id === own && <Tag>{t('you')}</Tag>}</span></td>
          <td className="mid wide cut"><Name>{member.email}</Name></td>
          <td>{roleName(member.role)}</td>
          <td className="wide"><When at={member.createdAt}>{day(member.createdAt)}</When></td>
          <td className="r">{may && (owner || member.role !== 'owner') && <More small label={t('Actions of {name}', { name: member.name })} entries={[{ text: t('Change the role…'), act: () => change(member) }, '-', { text: t('Remove…'), danger: true, act: () => remove(member) }]} />}</td>
        </tr>
      ))}</tbody>
    </table>
  );
}

function Invitations({ revoke }: { revoke: (invitation: Invitation) => void }) {
  const invitations = useRead('listInvitations', {}, { every: 60_000 });
  const members = useRead('listWorkspaceMembers', {});
  const by = (id: string): string => members.data?.data.find((one) => one.id === id)?.name ?? t('a former member');
  return (
    <Box title={t('Pending invitations')} inside={false} {...(invitations.data ? { count: count(invitations.data.data.length) } : {})}>
      <Shown of={invitations} what={t('The invitations could not be read.')} rows={2}>
        {({ data }) => (data.length === 0 ? <p className="mid se-pad">{t('Nobody is invited at the moment.')}</p> : (
          <ul className="se-rows">{data.map((one) => (
            <li key={one.id} data-invitation={one.email}>
              <span className="grow cut"><span className="medium"><Name>{one.email}</Name></span> <span className="dim">{roleName(one.role)}</span><span className="meta cut se-block">{t('invited by {name}, ends {when}', { name: by(one.invitedBy), when: relative(one.expiresAt) })}</span></span>
              <Button small onPress={() => revoke(one)}>{t('Revoke…')}</Button>
            </li>
          ))}</ul>
        ))}
      </Shown>
    </Box>
  );
}

function RevokeInvitation({ invitation, onClose }: { invitation: Invitation | null; onClose: () => void }) {
  const revoke = useSend('revokeInvitation', { alters: ['listInvitations'], done: () => toast(t('The invitation is revoked')) });
  return <Confirm open={invitation !== null} onClose={onClose} title={t('Revoke the invitation of {email}', { email: invitation?.email ?? '' })} action={t('Revoke the invitation')} danger act={() => (invitation ? revoke.mutateAsync({ path: { id: invitation.id } }) : Promise.resolve())}><p className="mid">{t('Its link opens nothing any more. You can invite this person again.')}</p></Confirm>;
}

export function Page() {
  const members = useRead('listWorkspaceMembers', {});
  const may = useHasRole('admin');
  const [inviting, setInviting] = useState(false);
  const [changing, setChanging] = useState<Member | null>(null);
  const [removing, setRemoving] = useState<Member | null>(null);
  const [revoking, setRevoking] = useState<Invitation | null>(null);
  const invite = (): void => setInviting(true);
  useKeys(may ? [{ key: 'n', text: t('Invite a person'), act: invite }] : []);
  useCommands(may ? [{ id: 'invite', text: t('Invite a person…'), act: invite }] : []);
  return (
    <Frame tab="members" actions={may && <Button kind="primary" icon={UserPlus} onPress={invite}>{t('Invite')}</Button>}>
      <Body>
        {!may && <ReadOnlyNote role="admin" />}
        <Shown of={members} what={t('The members could not be read.')}>{({ data }) => <Box inside={false} title={plural(data.length, '{n} member', '{n} members')}><Members members={data} change={setChanging} remove={setRemoving} /></Box>}</Shown>
        {may && <Invitations revoke={setRevoking} />}
      </Body>
      <InviteSheet open={inviting} onClose={() => setInviting(false)} />
      <RoleSheet member={changing} onClose={() => setChanging(null)} />
      <RemoveMember member={removing} onClose={() => setRemoving(null)} />
      <RevokeInvitation invitation={revoking} onClose={() => setRevoking(null)} />
    </Frame>
  );
}
