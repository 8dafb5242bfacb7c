import { Body, ButtonLink, Empty, Head, t } from '../parts/index.ts';
import { useMe, type ApiError } from '../api/index.ts';
import { currentScope } from '../api/index.ts';

/** In the place of every page while the operator has suspended the workspace. */
export function Suspended({ error }: { error: ApiError }) {
  const me = useMe();
  const others = (me.data?.memberships ?? []).filter((one) => one.workspaceId !== currentScope()?.workspace);
  return (
    <>
      <Head title={t('This workspace is suspended')} />
      <Body>
        <Empty title={t('Nothing can be read or changed until it is released')} {...(others[0] ? { action: <ButtonLink href={`~/console/${others[0].workspaceId}/`}>{others[0].workspaceName}</ButtonLink> } : {})}>
          {t('No call is placed, no message is sent, and nothing is charged. Nothing of it is deleted. Who runs this service can release it.')}
          {error.requestId && <span className="mono dim"> {error.requestId}</span>}
        </Empty>
      </Body>
    </>
  );
}
