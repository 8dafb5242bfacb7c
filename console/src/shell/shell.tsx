import { lazy, Suspense, useCallback, useEffect, useMemo, useState, type ComponentType, type ReactNode } from 'react';
import { Link, RouterProvider } from 'react-aria-components';
import { Route, Router, Switch, matchRoute, useLocation, useRouter } from 'wouter';
import { currentScope, hasRole, queries, useDeltas, useMembership, useRead, type Scope } from '../api/index.ts';
import { follow } from '../api/stream.ts';
import { Bars, keyOf, overlaid, t, typing, useLanguage } from '../parts/index.ts';
import { setTitleEnd } from '../parts/title.ts';
import { BellSheet } from './bell.tsx';
import { ConnectionState } from './connection.tsx';
import { KeysSheet } from './keys-sheet.tsx';
import { NoRole } from './no-role.tsx';
import { NotFound } from './not-found.tsx';
import { PageFault } from './page-fault.tsx';
import { visited } from './recent.ts';
import { pages, shownNavigation, type PageEntry, type PageProps } from './registry.ts';
import { PhoneBar, Side } from './side.tsx';
import { Suspended } from './suspended.tsx';

const Palette = lazy(() => import('./palette.tsx'));
const loaded = new Map<PageEntry, ComponentType<PageProps>>();

/** A page is a chunk of its own, fetched when it is first shown. */
function pageOf(entry: PageEntry): ComponentType<PageProps> {
  let page = loaded.get(entry);
  if (!page) {
    page = lazy(async () => ({ default: (await entry.load()).Page }));
    loaded.set(entry, page);
  }
  return page;
}

const ignore = (): void => undefined;
function Shown({ entry, params }: { entry: PageEntry; params: Readonly<Record<string, string>> }) {
  const Page = pageOf(entry);
  const membership = useMembership();
  const [path] = useLocation();
  useDeltas(entry.topics, ignore);
  useEffect(() => { const after = setTimeout(() => visited(path, document.title.split(' · ')[0] ?? path), 200); return () => clearTimeout(after); }, [path]);
  if (!entry.operator && !hasRole(membership?.role, entry.role)) return <NoRole role={entry.role} />;
  return <PageFault key={entry.path}><Suspense fallback={<Bars />}><Page params={params} /></Suspense></PageFault>;
}

export function Pages({ operator = false }: { operator?: boolean }) {
  return <Switch>{pages(operator).map((entry) => <Route key={entry.path} path={entry.path}>{(params) => <Shown entry={entry} params={params as Record<string, string>} />}</Route>)}<Route><NotFound /></Route></Switch>;
}

/** Links of the kit go through the router: an address is below the workspace and mode, or begins with ~ for the whole console. */
export function Routed({ children }: { children: ReactNode }) {
  const [, navigate] = useLocation();
  const { base } = useRouter();
  const go = useCallback((to: string) => navigate(to), [navigate]);
  return <RouterProvider navigate={go} useHref={(href) => (href.startsWith('~') ? href.slice(1) : href.startsWith('/') ? base + href : href)}>{children}</RouterProvider>;
}

/** Ctrl K, ?, / and G with a letter. */
function useEverywhere(palette: () => void, keys: () => void): void {
  const [, navigate] = useLocation();
  useEffect(() => {
    let g = 0;
    const press = (event: KeyboardEvent): void => {
      const key = keyOf(event);
      if (key === 'Mod+k') { event.preventDefault(); palette(); return; }
      if (event.defaultPrevented || typing(event) || overlaid()) return;
      if (event.key === '?') { event.preventDefault(); keys(); return; }
      if (key === '/') { const filter = document.querySelector<HTMLElement>('[data-filter]'); if (filter) { event.preventDefault(); filter.focus(); } return; }
      if (key === 'g') { g = event.timeStamp; return; }
      const to = event.timeStamp - g < 1_500 && g > 0 ? shownNavigation().flatMap((section) => section.items).find((item) => item.letter === key) : undefined;
      g = 0;
      if (to) { event.preventDefault(); event.stopImmediatePropagation(); navigate(to.href); }
    };
    document.addEventListener('keydown', press, { capture: true });
    return () => document.removeEventListener('keydown', press, { capture: true });
  }, [navigate, palette, keys]);
}

const READS_ONLY = /^\/(campaigns|boards|agents|knowledge|numbers)(\/|$)/;
function TestBand() {
  const [path] = useLocation();
  return <div className="testband" role="note"><span>{t('Test mode: calls are simulated, nobody is dialled, nothing is charged.')}{READS_ONLY.test(path) && <> {t('Test mode only reads this page.')}</>}</span></div>;
}

function Frame({ scope }: { scope: Scope }) {
  const [palette, setPalette] = useState(false);
  const [keys, setKeys] = useState(false);
  const [bell, setBell] = useState(false);
  const [path] = useLocation();
  const language = useLanguage();
  const membership = useMembership();
  const openPalette = useCallback(() => setPalette(true), []);
  const openKeys = useCallback(() => setKeys(true), []);
  useEverywhere(openPalette, openKeys);
  const { parser } = useRouter();
  const entry = pages().find((one) => matchRoute(parser, one.path, path)[0]);
  const workspace = useRead('getOwnWorkspace', {}, { fresh: 60_000 });
  const suspended = workspace.error?.code === 'workspace_suspended' ? workspace.error : null;
  setTitleEnd(membership?.workspaceName ?? '');
  return (
    <Routed>
      <Link href="#main" className="skip" onPress={() => document.getElementById('main')?.focus()}>{t('Skip to the page')}</Link>
      <div className="app" key={language} data-narrow={entry?.narrow ?? false} data-mode={scope.test ? 'test' : 'live'}>
        <Side onPalette={openPalette} onKeys={openKeys} />
        <main className="panel-main" id="main" tabIndex={-1}>
          {scope.test && <TestBand />}
          <ConnectionState />
          {suspended ? <Suspended error={suspended} /> : <Pages />}
        </main>
        <PhoneBar onMore={openPalette} />
      </div>
      {palette && <Suspense fallback={null}><Palette close={() => setPalette(false)} onKeys={openKeys} onBell={() => setBell(true)} /></Suspense>}
      <BellSheet open={bell} onClose={() => setBell(false)} />
      <KeysSheet open={keys} onClose={() => setKeys(false)} />
    </Routed>
  );
}

/** Everything below /console/{ws} and /console/{ws}/test. */
export function WorkspaceShell({ base }: { base: string }) {
  const scope = useMemo(() => currentScope(), [base]);
  useEffect(() => follow(queries), [base]);
  if (!scope) return <NotFound />;
  return <Router base={base}><Frame scope={scope} /></Router>;
}
