import { LogOut } from 'lucide-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callIn, type ApiError, type Schemas } from '../api/index.ts';
import { Body, Box, Button, Confirm, Empty, Name, Shown, Tag, When, day, plural, relative, t, toast } from '../parts/index.ts';
import { Frame } from './frame.tsx';

type Session = Schemas['ConsoleSession'];
const SESSIONS = ['me', 'listSessions'] as const;

/** `Chrome on Windows`, as far as a browser says what it is. */
export function browserOf(agent: string): string {
  const browser = [['Edg/', 'Edge'], ['OPR/', 'Opera'], ['Firefox/', 'Firefox'], ['HeadlessChrome/', 'Chrome'], ['Chrome/', 'Chrome'], ['Safari/', 'Safari']].find(([mark]) => agent.includes(mark ?? ''))?.[1];
  const system = [['Windows', 'Windows'], ['Android', 'Android'], ['iPhone', 'iPhone'], ['iPad', 'iPad'], ['Mac OS', 'macOS'], ['CrOS', 'ChromeOS'], ['Linux', 'Linux']].find(([mark]) => agent.includes(mark ?? ''))?.[1];
  return browser && system ? t('{browser} on {system}', { browser, system }) : browser ?? system ?? '';
}

function useEnd() {
  const client = useQueryClient();
  const done = (): void => { void client.invalidateQueries({ queryKey: SESSIONS }); };
  const one = useMutation<unknown, ApiError, string>({ mutationFn: (id) => callIn(null, 'revokeSession', { path: { id } }), onSuccess: () => { done(); toast(t('The session is ended')); } });
  const others = useMutation<Schemas['RevokedSessionsResponse'], ApiError>({ mutationFn: () => callIn(null, 'revokeOtherSessions', {}), onSuccess: ({ data }) => { done(); toast(plural(data.revoked, '{n} session is ended', '{n} sessions are ended')); } });
  return { one, others };
}

function Row({ session, end }: { session: Session; end: () => void }) {
  const browser = browserOf(session.userAgent);
  return (
    <li data-session={session.id}>
      <span className="grow se-min">
        <span className="row"><span className="medium cut">{browser || <Name>{session.userAgent || t('A program that gives no name')}</Name>}</span>{session.current && <Tag tone="ok">{t('this one')}</Tag>}</span>
        <span className="meta cut se-block">{t('from {address}', { address: session.address })} · {t('since {day}', { day: day(session.createdAt) })} · {session.current ? t('in use') : t('last used {when}', { when: relative(session.lastSeenAt) })}<span className="wide-inline"> · {t('ends')} <When at={session.expiresAt} /></span></span>
      </span>
      {!session.current && <Button small onPress={end}>{t('End it…')}</Button>}
    </li>
  );
}

export function Page() {
  const sessions = useQuery<Schemas['ConsoleSessionList'], ApiError>({ queryKey: SESSIONS, queryFn: ({ signal }) => callIn(null, 'listSessions', { signal }), refetchInterval: 30_000 });
  const { one, others } = useEnd();
  const [ending, setEnding] = useState<Session | 'others' | null>(null);
  const close = (): void => setEnding(null);
  const more = (sessions.data?.data.length ?? 0) > 1;
  return (
    <Frame tab="sessions" actions={more && <Button kind="danger" icon={LogOut} onPress={() => setEnding('others')}>{t('End all others…')}</Button>}>
      <Body>
        <Shown of={sessions} what={t('Your sessions could not be read.')} rows={3}>
          {({ data }) => (data.length === 0 ? <Empty title={t('No open session')} /> : <Box inside={false} title={plural(data.length, 'You are signed in at {n} place', 'You are signed in at {n} places')}><ul className="se-rows">{data.map((session) => <Row key={session.id} session={session} end={() => setEnding(session)} />)}</ul></Box>)}
        </Shown>
        <p className="meta">{t('A session ends by itself 12 hours after it was last used, and after 30 days. If you do not know one of these, end it and change your password.')}</p>
      </Body>
      <Confirm open={ending !== null && ending !== 'others'} onClose={close} title={t('End this session')} action={t('End the session')} danger act={() => (ending && ending !== 'others' ? one.mutateAsync(ending.id) : Promise.resolve())}>
        <p className="mid">{t('Whoever uses it has to sign in again, at once.')}</p>
      </Confirm>
      <Confirm open={ending === 'others'} onClose={close} title={t('End all sessions but this one')} action={plural(Math.max(0, (sessions.data?.data.length ?? 1) - 1), 'End {n} session', 'End {n} sessions')} danger act={() => others.mutateAsync()}>
        <p className="mid">{t('Everywhere else you have to sign in again, at once.')}</p>
      </Confirm>
    </Frame>
  );
}
