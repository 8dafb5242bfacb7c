import { QueryClientProvider, useIsFetching } from '@tanstack/react-query';
import { useEffect } from 'react';
import { I18nProvider } from 'react-aria-components';
import { Redirect, Route, Router, Switch, useLocation } from 'wouter';
import { queries, useMe, type Person } from '../api/index.ts';
import { Bars, Button, Empty, ErrorBlock, setLanguage, t, useLanguage } from '../parts/index.ts';
import { signOut } from '../api/session.ts';
import { Toasts } from '../parts/toast.tsx';
import { NotFound, ObjectPage } from './not-found.tsx';
import { OperatorShell } from './operator-shell.tsx';
import { Routed, WorkspaceShell } from './shell.tsx';
import { InvitationPage, LinkPage, SignInDialog, SignInPage } from './sign-in.tsx';
import { showTheme } from './theme.ts';

const LAST = 'workspace';

function Start({ me }: { me: Person }) {
  const kept = localStorage.getItem(LAST);
  const first = me.memberships.find((one) => one.workspaceId === kept) ?? me.memberships[0];
  if (first) return <Redirect to={`/${first.workspaceId}/`} replace />;
  if (me.operator) return <Redirect to="/operator/" replace />;
  return <main id="main"><Empty title={t('You are no member of a workspace')} action={<Button onPress={() => { void signOut(queries); }}>{t('Sign out')}</Button>}>{t('Ask an admin to invite {email}.', { email: me.email })}</Empty></main>;
}

function Workspace({ me, workspace, test }: { me: Person; workspace: string; test: boolean }) {
  const member = me.memberships.some((one) => one.workspaceId === workspace);
  useEffect(() => { if (member) localStorage.setItem(LAST, workspace); }, [member, workspace]);
  if (!member) return <main className="panel-main" id="main"><NotFound /></main>;
  const base = `/${workspace}${test ? '/test' : ''}`;
  return <WorkspaceShell key={base} base={base} />;
}

/** What is behind the sign-in. */
function Inside() {
  const me = useMe();
  const [path] = useLocation();
  const spoken = me.data?.language;
  useEffect(() => { if (spoken) { localStorage.setItem('language', spoken); void setLanguage(spoken); } }, [spoken]);
  if (me.data) {
    const person = me.data;
    return (
      <Switch>
        <Route path="/"><Start me={person} /></Route>
        <Route path="/o/:id">{(params) => <main className="panel-main" id="main"><ObjectPage id={params.id} /></main>}</Route>
        <Route path="/operator/*?"><OperatorShell /></Route>
        <Route path="/:workspace/test/*?">{(params) => <Workspace me={person} workspace={params.workspace} test />}</Route>
        <Route path="/:workspace/*?">{(params) => <Workspace me={person} workspace={params.workspace} test={false} />}</Route>
      </Switch>
    );
  }
  if (me.error?.status === 401) return <Redirect to={path === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`} replace />;
  if (me.error) return <main id="main"><ErrorBlock what={t('The console could not find out who you are.')} error={me.error} again={() => { void me.refetch(); }} /></main>;
  return <main id="main"><Bars /></main>;
}

showTheme();
const kept = localStorage.getItem('language') ?? (navigator.language.startsWith('hi') ? 'hi' : 'en');
void setLanguage(kept === 'hi' ? 'hi' : 'en');

/** Says on the page how many answers are on their way. */
function Fetching() {
  const fetching = useIsFetching();
  useEffect(() => { document.documentElement.dataset.fetching = String(fetching); }, [fetching]);
  return null;
}

export function App() {
  const language = useLanguage();
  return (
    <QueryClientProvider client={queries}>
      <I18nProvider locale={language === 'hi' ? 'hi-IN' : 'en-IN'}>
        <Router base="/console">
          <Routed>
            <Switch>
              <Route path="/sign-in"><SignInPage /></Route>
              <Route path="/link"><LinkPage /></Route>
              <Route path="/invitation"><InvitationPage /></Route>
              <Route><Inside /></Route>
            </Switch>
            <SignInDialog />
            <Toasts />
            <Fetching />
          </Routed>
        </Router>
      </I18nProvider>
    </QueryClientProvider>
  );
}
