import { CircleAlert, Copy } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { Link } from 'react-aria-components';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ApiError } from '../api/client.ts';
import { Button, ButtonLink } from './button.tsx';
import { Icon } from './icon.tsx';
import { toast } from './toast.tsx';
import { t } from './words.ts';

/** What the service said, in words of the page's language where they are known. */
export function sentence(error: ApiError): string {
  switch (error.code) {
    case 'no_answer': return t('The service did not answer.');
    case 'rate_limited': return error.retryAfter ? t('Too many requests. Try again in {seconds} seconds.', { seconds: error.retryAfter }) : t('Too many requests. Try again in a moment.');
    case 'role_missing': return t('Your role does not allow this. Ask: {names}', { names: admins(error) });
    case 'workspace_suspended': return t('This workspace is suspended. Its data can be read, nothing can be changed.');
    case 'test_mode_read_only': return t('Test mode only reads this. Switch to live to change it.');
    case 'unavailable': return t('The service is busy or starting. Nothing was changed.');
    case 'internal_error': return t('The service failed at this. The request id leads to its log.');
    default: return error.message;
  }
}
const admins = (error: ApiError): string => (Array.isArray(error.meta.admins) ? error.meta.admins.filter((name) => typeof name === 'string').join(', ') : '');

/** In the place of the data: what failed, whether anything changed, 'Try again', and the request id. */
export function ErrorBlock({ what, error, again }: { what: string; error: ApiError; again?: (() => void) | undefined }) {
  return (
    <div className="error" role="alert" data-state="error">
      <p className="row medium"><Icon of={CircleAlert} />{what}</p>
      <p className="mid">{sentence(error)}</p>
      <div className="row">{again && <Button onPress={again}>{t('Try again')}</Button>}<RequestId error={error} /></div>
    </div>
  );
}

/** Beside the control that failed. Errors stay in place and are no toast. */
export const ErrorNote = ({ error }: { error: ApiError }) => (
  <div className="note" data-tone="bad" role="alert"><Icon of={CircleAlert} /><div className="grow"><p dir="auto">{sentence(error)}</p><RequestId error={error} /></div></div>
);

function RequestId({ error }: { error: ApiError }) {
  if (!error.requestId) return null;
  const id = error.requestId;
  return <span className="row meta"><span>{t('Request')} <span className="mono">{id}</span></span><Button kind="bare" small icon={Copy} label={t('Copy the request id')} onPress={() => { void navigator.clipboard.writeText(id).then(() => toast(t('Copied'))); }} /></span>;
}

/** Grey bars in the shape of rows, after 300 ms. */
export function Bars({ rows = 8, label }: { rows?: number; label?: string }) {
  const [early, setEarly] = useState(true);
  useEffect(() => { const timer = setTimeout(() => setEarly(false), 300); return () => clearTimeout(timer); }, []);
  return <div className="bars" data-early={early} data-state="loading" role="status" aria-label={label ?? t('Loading')}>{Array.from({ length: rows }, (_, at) => <div key={at} aria-hidden><span className="skel" style={{ width: `${30 + ((at * 37) % 45)}%` }} /></div>)}</div>;
}

/** For the first time: what comes here, one button, one link to the guide. */
export const Empty = ({ title, children, action, guide }: { title: string; children?: ReactNode; action?: ReactNode; guide?: { href: string; text: string } }) => (
  <div className="empty" data-state="empty"><h2>{title}</h2>{children && <p>{children}</p>}{action}{guide && <Link href={guide.href} className="link">{guide.text}</Link>}</div>
);
/** By a filter. */
export const NoMatch = ({ title, clear }: { title: string; clear: () => void }) => (
  <div className="empty" data-state="no-match"><h2>{title}</h2><Button onPress={clear}>{t('Clear filters')}</Button></div>
);
/** Who may change what is only seen here. */
export const LooksOnly = ({ role, names }: { role: string; names: readonly string[] }) => (
  <div className="note"><p>{names.length > 0 ? t('You can see this, changing it takes {role}. Ask: {names}', { role, names: names.join(', ') }) : t('You can see this, changing it takes {role}.', { role })}</p></div>
);

/** Bars, an error or the data of a query. */
export function Shown<T>({ of: query, what, rows, children }: { of: UseQueryResult<T, ApiError>; what: string; rows?: number; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) {
    if (query.error.status === 404) return <div className="empty" data-state="not-found"><h2>{t('Nothing is at this address')}</h2><p>{t('It may have been deleted, or it belongs to another workspace or mode.')}</p><ButtonLink href="/">{t('Go to Home')}</ButtonLink></div>;
    return <ErrorBlock what={what} error={query.error} again={() => { void query.refetch(); }} />;
  }
  return <Bars {...(rows === undefined ? {} : { rows })} />;
}
