import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore, type ReactNode } from 'react';
import { Form, Link } from 'react-aria-components';
import { ApiError, callIn, queries, type Person } from '../api/index.ts';
import { ME } from '../api/use.ts';
import { onSignInNeeded, signInDone, signInNeeded } from '../api/sign-in-gate.ts';
import { Button, ErrorNote, Segment, Sheet, TextInput, setLanguage, t, useLanguage, useTitle } from '../parts/index.ts';

const asError = (cause: unknown): ApiError => (cause instanceof ApiError ? cause : new ApiError({ status: 0, code: 'failed', message: String(cause) }));

/** A form that shows what is missing and what the service refused. */
function useForm(act: () => Promise<unknown>, missing: () => Record<string, string>) {
  const [faults, setFaults] = useState<Record<string, string>>({});
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: { preventDefault: () => void }): Promise<void> => {
    event.preventDefault();
    const lacks = missing();
    setFaults(lacks);
    setError(null);
    if (Object.keys(lacks).length > 0) return;
    setBusy(true);
    try { await act(); } catch (cause) { setError(asError(cause)); } finally { setBusy(false); }
  };
  return { faults, error, busy, submit: (event: { preventDefault: () => void }) => { void submit(event); } };
}

function signInSentence(error: ApiError): ApiError {
  if (error.code !== 'sign_in_failed') return error;
  return new ApiError({ status: error.status, code: error.code, message: t('Nobody has this address with this password.'), requestId: error.requestId });
}

/** E-mail and password, or the identity provider. It tells nobody whether an account exists. */
export function SignInForm({ done, email: given = '' }: { done: (person: Person) => void; email?: string }) {
  const methods = useQuery({ queryKey: ['me', 'getSignInMethods'], queryFn: async () => (await callIn(null, 'getSignInMethods', {})).data, staleTime: Infinity });
  const [email, setEmail] = useState(given);
  const [password, setPassword] = useState('');
  const [lost, setLost] = useState(false);
  const form = useForm(
    async () => done((await callIn(null, 'signIn', { body: { email: email.trim(), password } })).data),
    () => ({ ...(email.trim() ? {} : { email: t('Your e-mail address is missing.') }), ...(password ? {} : { password: t('Your password is missing.') }) }),
  );
  const openid = methods.data?.openid;
  return (
    <Form className="form" onSubmit={form.submit}>
      {openid && <a className="btn" href={openid.path}>{t('Sign in with {name}', { name: openid.name })}</a>}
      {methods.data?.password !== false && (
        <>
          <TextInput label={t('E-mail')} type="email" name="email" autoComplete="username" dir="ltr" value={email} onChange={setEmail} fault={form.faults.email} autoFocus={!given} />
          <TextInput label={t('Password')} type="password" name="password" autoComplete="current-password" dir="ltr" value={password} onChange={setPassword} fault={form.faults.password} autoFocus={Boolean(given)} />
          {form.error && <ErrorNote error={signInSentence(form.error)} />}
          <Button type="submit" kind="primary" isPending={form.busy}>{t('Sign in')}</Button>
          <Button kind="bare" onPress={() => setLost(!lost)} aria-expanded={lost}>{t('Lost your password?')}</Button>
          {lost && <p className="hint">{t('Ask an admin of your workspace, or who runs this service, for a sign-in link. It opens your account once, and you can set a new password with it.')}</p>}
        </>
      )}
    </Form>
  );
}

/** One column, before anybody has signed in. */
function Alone({ title, children }: { title: string; children: ReactNode }) {
  const language = useLanguage();
  useTitle(title);
  return (
    <main className="alone" id="main">
      <div className="alone-box">
        <header className="row"><img src={`${import.meta.env.BASE_URL}icon.svg`} alt="" width="28" height="28" /><h1 className="grow">{title}</h1>
          <Segment label={t('Language')} value={language} onChange={(to) => { localStorage.setItem('language', to); void setLanguage(to); }} items={[['en', 'English'], ['hi', <span key="hi" lang="hi">हिन्दी</span>]]} />
        </header>
        {children}
      </div>
    </main>
  );
}

/** Only an address of this console: anything else would lead people away with a link that looks like ours. */
export function safeNext(next: string | null): string {
  if (!next) return '/console/';
  const url = new URL(next, location.origin);
  return url.origin === location.origin && url.pathname.startsWith('/console/') && !url.pathname.startsWith('/console/api/') ? url.pathname + url.search : '/console/';
}

export function SignInPage() {
  const next = safeNext(new URLSearchParams(location.search).get('next'));
  return <Alone title={t('Sign in')}><SignInForm done={() => location.replace(next)} /></Alone>;
}

// The token stands behind the #, which browsers send to no server. It leaves the address at once, and is used only when the button is pressed:
// a scanner of mail that opens the page does not burn it.
let token: string | null = null;
function takeToken(): string {
  if (token === null) {
    token = location.hash.slice(1);
    history.replaceState(null, '', location.pathname);
  }
  return token;
}

const enter = (person: Person): void => { queries.setQueryData(ME, person); location.replace('/console/'); };
const refused = (error: ApiError): ApiError =>
  error.code === 'sign_in_link_invalid' || error.code === 'invitation_invalid' ? new ApiError({ status: error.status, code: error.code, message: t('This link was used, replaced or is over. Ask for a new one.'), requestId: error.requestId }) : error;

export function LinkPage() {
  const [used] = useState(takeToken);
  const [password, setPassword] = useState('');
  const form = useForm(async () => enter((await callIn(null, 'useSignInLink', { body: { token: used, ...(password ? { password } : {}) } })).data), (): Record<string, string> => (password && password.length < 10 ? { password: t('A password has 10 characters or more.') } : {}));
  return (
    <Alone title={t('Sign in with your link')}>
      <Form className="form" onSubmit={form.submit}>
        <p>{t('The link works once. Press the button to use it.')}</p>
        <TextInput label={t('New password')} hint={t('Leave it empty to keep the one you have. A new one ends your other sessions.')} type="password" autoComplete="new-password" dir="ltr" value={password} onChange={setPassword} fault={form.faults.password ?? (form.error?.field === 'password' ? form.error.message : null)} />
        {form.error && <ErrorNote error={refused(form.error)} />}
        <Button type="submit" kind="primary" isPending={form.busy}>{t('Sign in')}</Button>
        <Link href="/sign-in" className="link">{t('Sign in with your password')}</Link>
      </Form>
    </Alone>
  );
}

export function InvitationPage() {
  const [used] = useState(takeToken);
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const form = useForm(async () => {
    const body = { token: used, ...(name.trim() ? { name: name.trim() } : {}), ...(password ? { password } : {}) };
    enter((await callIn(null, 'acceptInvitation', { body })).data);
  }, () => ({}));
  return (
    <Alone title={t('You are invited')}>
      <Form className="form" onSubmit={form.submit}>
        <p>{t('If you have an account already, your password is enough; if you are signed in, not even that. Else give your name and choose a password.')}</p>
        <TextInput label={t('Your name')} autoComplete="name" value={name} onChange={setName} fault={form.error?.field === 'name' ? form.error.message : null} />
        <TextInput label={t('Password')} hint={t('10 characters or more')} type="password" autoComplete="current-password" dir="ltr" value={password} onChange={setPassword} fault={form.error?.field === 'password' ? form.error.message : null} />
        {form.error && <ErrorNote error={refused(form.error)} />}
        <Button type="submit" kind="primary" isPending={form.busy}>{t('Accept the invitation')}</Button>
      </Form>
    </Alone>
  );
}

function entered(person: Person): void {
  const before = queries.getQueryData<Person>(ME);
  // Somebody else's pages are not to be seen by this person.
  if (before && before.id !== person.id) { sessionStorage.clear(); location.replace('/console/'); return; }
  queries.setQueryData(ME, person);
  signInDone();
}

/** Over the page when the session is over; what was typed under it stays. */
export function SignInDialog() {
  const needed = useSyncExternalStore(onSignInNeeded, signInNeeded);
  // Who has signed in again in another tab is signed in here, too.
  useEffect(() => {
    if (!needed) return undefined;
    const look = (): void => { callIn(null, 'getMe', {}).then((answer) => entered(answer.data), () => undefined); };
    document.addEventListener('visibilitychange', look);
    addEventListener('focus', look);
    return () => { document.removeEventListener('visibilitychange', look); removeEventListener('focus', look); };
  }, [needed]);
  if (!needed) return null;
  const before = queries.getQueryData<Person>(ME);
  return (
    <Sheet open onClose={() => undefined} fixed label={t('Your session is over')}>
      <div className="form"><h2>{t('Your session is over')}</h2><p className="mid">{t('Sign in again to go on where you were. What you have typed is kept.')}</p></div>
      <SignInForm done={entered} {...(before ? { email: before.email } : {})} />
    </Sheet>
  );
}
