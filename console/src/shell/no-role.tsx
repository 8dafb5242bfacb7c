import { useRead, type Role } from '../api/index.ts';
import { Body, Head, LooksOnly, t } from '../parts/index.ts';
import { aRole } from './roles.ts';

/** Names of up to five who may change what the member may not. */
export function useAdmins(): readonly string[] {
  const members = useRead('listWorkspaceMembers', {}, { fresh: 300_000 });
  return (members.data?.data ?? []).filter((one) => one.role === 'admin' || one.role === 'owner').slice(0, 5).map((one) => one.name);
}

/** 'You can see this, changing it takes an editor. Ask: …' for a page of which the member may see something. */
export function ReadOnlyNote({ role }: { role: Role }) {
  return <LooksOnly role={aRole(role)} names={useAdmins()} />;
}

export function NoRole({ role }: { role: Role }) {
  return <><Head title={t('Not with your role')} /><Body><ReadOnlyNote role={role} /></Body></>;
}
