import { Bell, ChevronsUpDown, Menu as MenuIcon, Moon, Search, Sun, Wallet } from 'lucide-react';
import { useQueryClient } from '@tanstack/react-query';
import { Button as KitButton, Link } from 'react-aria-components';
import { useLocation } from 'wouter';
import { callIn, currentScope, signOut, useMe, useMembership, useRead } from '../api/index.ts';
import { ME } from '../api/use.ts';
import { Avatar, Button, Icon, MenuButton, Name, Segment, count, plural, rupeesWhole, setLanguage, t, toast, useLanguage, type Language } from '../parts/index.ts';
import { BellButton } from './bell.tsx';
import { useNumbers } from './numbers.ts';
import { exists, shownNavigation, type NavItem } from './registry.ts';
import { roleName } from './roles.ts';
import { chooseTheme, useTheme } from './theme.ts';

export const isHere = (path: string, href: string): boolean => (href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`));

function Entry({ item, numbers }: { item: NavItem; numbers: ReturnType<typeof useNumbers> }) {
  const [path] = useLocation();
  const number = numbers[item.key];
  return (
    <Link href={item.href} className="nav" aria-current={isHere(path, item.href) ? 'page' : undefined}>
      <Icon of={item.icon} /><span className="t">{item.text}</span>
      {number !== undefined && number.n > 0 && <span className={number.waits ? 'n hot' : 'n'}>{count(number.n)}{number.more ? '+' : ''}<span className="vh"> {number.text}</span></span>}
    </Link>
  );
}

export function useWorkspaceMenu() {
  const me = useMe();
  const scope = currentScope();
  return (me.data?.memberships ?? []).map((one) => ({ text: one.workspaceName, hint: roleName(one.role), href: `~/console/${one.workspaceId}${scope?.test ? '/test' : ''}/` }));
}

/** Sets the language here and for the person, wherever they sign in. */
export function useChooseLanguage(): (to: Language) => void {
  const client = useQueryClient();
  return (to) => {
    localStorage.setItem('language', to);
    void setLanguage(to);
    callIn(null, 'updateMe', { body: { language: to } }).then((answer) => client.setQueryData(ME, answer.data), () => toast(t('The language is only changed in this browser.')));
  };
}

function ModeSegment() {
  const scope = currentScope();
  const [path, navigate] = useLocation();
  if (!scope) return null;
  const choose = (mode: 'live' | 'test'): void => navigate(`~/console/${scope.workspace}${mode === 'test' ? '/test' : ''}/${path.split('/')[1] ?? ''}`);
  return <div className="mode"><Segment full label={t('Mode')} value={scope.test ? 'test' : 'live'} onChange={choose} items={[['live', t('Live')], ['test', t('Test')]]} /></div>;
}

function WalletEntry() {
  const wallet = useRead('getWallet', {}, { every: 60_000 });
  if (currentScope()?.test || !wallet.data) return null;
  const { balanceMinor, costPerMinuteMinor } = wallet.data.data;
  const minutes = costPerMinuteMinor > 0 ? Math.max(0, Math.floor(balanceMinor / costPerMinuteMinor)) : null;
  return (
    <Link href="/settings/wallet" className="nav" aria-label={t('Wallet: {money}', { money: rupeesWhole(balanceMinor) })}>
      <Icon of={Wallet} /><span className="t num">{rupeesWhole(balanceMinor)}</span>{minutes !== null && <span className="n">{plural(minutes, '{n} min', '{n} min')}</span>}
    </Link>
  );
}

function You({ onKeys }: { onKeys: () => void }) {
  const client = useQueryClient();
  const me = useMe();
  const language = useLanguage();
  const choose = useChooseLanguage();
  const name = me.data?.name ?? '';
  const entries = [
    { text: language === 'hi' ? 'English' : 'हिन्दी', lang: language === 'hi' ? 'en' : 'hi', act: () => choose(language === 'hi' ? 'en' : 'hi') },
    { text: t('Keyboard shortcuts'), hint: '?', act: onKeys },
    exists('settings') && { text: t('Your sessions'), href: '/settings/sessions' },
    me.data?.operator === true && { text: t('Operator'), href: '~/console/operator/' },
    '-' as const,
    { text: t('Sign out'), act: () => { void signOut(client); } },
  ];
  return (
    <MenuButton label={t('You')} entries={entries} button={
      <KitButton className="ws grow"><Avatar name={name} kind="team" small /><span className="t grow cut"><span className="vh">{t('You')}: </span><Name>{name}</Name></span></KitButton>
    } />
  );
}

export function Side({ onPalette, onKeys }: { onPalette: () => void; onKeys: () => void }) {
  const membership = useMembership();
  const numbers = useNumbers();
  const theme = useTheme();
  const workspaces = useWorkspaceMenu();
  const name = membership?.workspaceName ?? '';
  return (
    <aside className="side" aria-label={t('Workspace')}>
      <MenuButton label={t('Workspaces')} entries={[...workspaces, '-', exists('settings') && { text: t('Members and roles'), href: '/settings/members' }]} button={
        <KitButton className="ws"><span className="tile" aria-hidden translate="no">{[...name][0] ?? ''}</span><span className="grow cut strong"><span className="vh">{t('Workspace')} </span><Name>{name}</Name></span><Icon of={ChevronsUpDown} small /></KitButton>
      } />
      <ModeSegment />
      <KitButton className="find" onPress={onPalette}><Icon of={Search} small /><span className="grow">{t('Search or jump to')}</span><kbd aria-hidden>{/Mac|iPhone/.test(navigator.platform) ? '⌘ K' : 'Ctrl K'}</kbd></KitButton>
      <nav aria-label={t('Main')}>
        {shownNavigation().map((section) => (
          <div key={section.name}>{section.name && <p className="sect">{section.name}</p>}{section.items.map((item) => <Entry key={item.key} item={item} numbers={numbers} />)}</div>
        ))}
      </nav>
      <div className="foot">
        {exists('settings') && <WalletEntry />}
        <div className="row">
          <You onKeys={onKeys} />
          <span className="t"><Button kind="bare" small icon={theme === 'dark' ? Sun : Moon} label={theme === 'dark' ? t('Light theme') : t('Dark theme')} onPress={() => chooseTheme(theme === 'dark' ? 'light' : 'dark')} /></span>
          <span className="t"><BellButton icon={Bell} /></span>
        </div>
      </div>
    </aside>
  );
}

/** Below 760 px: the four that are used most, and the rest behind 'More'. */
export function PhoneBar({ onMore }: { onMore: () => void }) {
  const [path] = useLocation();
  const numbers = useNumbers();
  const items = shownNavigation()[0]?.items ?? [];
  return (
    <nav className="tabbar" aria-label={t('Main')}>
      {items.slice(0, 4).map((item) => {
        const number = numbers[item.key];
        return <Link key={item.key} href={item.href} aria-current={isHere(path, item.href) ? 'page' : undefined}><Icon of={item.icon} />{item.text}{number?.waits && number.n > 0 && <span className="n">{count(number.n)}<span className="vh"> {number.text}</span></span>}</Link>;
      })}
      <KitButton onPress={onMore}><Icon of={MenuIcon} />{t('More')}</KitButton>
    </nav>
  );
}
