import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { callIn, useMe, type Membership, type Scope } from '../api/index.ts';
import { Bars, ButtonLink, Head, t } from '../parts/index.ts';
import { placeOf } from './objects.ts';

export const NotFound = () => (
  <><Head title={t('Not found')} /><div className="body"><div className="empty" data-state="not-found"><h2>{t('Nothing is at this address')}</h2><p>{t('It may have been deleted, or it belongs to another workspace or mode.')}</p><ButtonLink href="~/console/">{t('Go to Home')}</ButtonLink></div></div></>
);

async function locate(id: string, memberships: readonly Membership[]): Promise<string | null> {
  const place = placeOf(id);
  if (!place?.operation) return null;
  const scopes: Scope[] = memberships.flatMap((one) => [{ workspace: one.workspaceId, test: false }, { workspace: one.workspaceId, test: true }]);
  for (const scope of scopes) {
    const found = await callIn(scope, place.operation, { path: { id } } as never).then(() => true, () => false);
    if (found) return `~/console/${scope.workspace}${scope.test ? '/test' : ''}${place.path(id)}`;
  }
  return null;
}

/** /console/o/{id}: the page of any id, in the workspace and mode that have it. */
export function ObjectPage({ id }: { id: string }) {
  const me = useMe();
  const [, navigate] = useLocation();
  const found = useQuery({ queryKey: ['me', 'locate', id], enabled: me.data !== undefined, queryFn: () => locate(id, me.data?.memberships ?? []), retry: false });
  useEffect(() => { if (found.data) navigate(found.data, { replace: true }); }, [found.data, navigate]);
  return found.data === null || found.error ? <NotFound /> : <Bars />;
}
