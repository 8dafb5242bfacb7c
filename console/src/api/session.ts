import type { QueryClient } from '@tanstack/react-query';
import { useQuery } from '@tanstack/react-query';
import { ApiError, callIn } from './client.ts';
import { OPERATIONS, type OperationId, type Role, type Schemas } from './operations.ts';
import { currentScope } from './scope.ts';
import { ME } from './use.ts';

export type Person = Schemas['SignedInPerson'];
export type Membership = Schemas['Membership'];
const ROLES: readonly Role[] = ['viewer', 'editor', 'admin', 'owner'];

/** The person who is signed in. */
export function useMe() {
  return useQuery<Person, ApiError>({ queryKey: ME, queryFn: async ({ signal }) => (await callIn(null, 'getMe', { signal })).data, staleTime: 60_000, refetchInterval: 60_000, refetchOnWindowFocus: 'always' });
}

/** The membership in the workspace of the address, or null. */
export function useMembership(): Membership | null {
  const { data } = useMe();
  const workspace = currentScope()?.workspace;
  return data?.memberships.find((one) => one.workspaceId === workspace) ?? null;
}

export const hasRole = (role: Role | undefined, least: Role): boolean => role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(least);

/** Whether the member may call an operation. A control whose operation the member may not call is absent. */
export function useMay(operation: OperationId): boolean {
  return hasRole(useMembership()?.role, OPERATIONS[operation][2]);
}
export function useHasRole(least: Role): boolean {
  return hasRole(useMembership()?.role, least);
}

/** Ends the session, and forgets what this browser kept of it. */
export async function signOut(client: QueryClient): Promise<void> {
  await callIn(null, 'signOut', {});
  client.clear();
  forget();
  location.assign('/console/sign-in');
}

function forget(): void {
  sessionStorage.clear();
  for (const name of Object.keys(localStorage)) if (name.startsWith('draft:')) localStorage.removeItem(name);
}
