import { BookOpen, Bot, ChartColumn, Columns3, House, Inbox, Megaphone, MessagesSquare, Phone, PhoneCall, Radio, Settings, ShieldCheck, Users, Waypoints, Webhook, type LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import type { Role } from '../api/index.ts';
import { t } from '../parts/index.ts';

export interface PageProps { readonly params: Readonly<Record<string, string>> }

/** One page. The address is below /console/{ws} or /console/{ws}/test; an operator's page is below /console/operator. */
export interface PageEntry {
  /** A pattern: `/calls/:id`. The first entry that fits is shown, so `/calls/new` stands before `/calls/:id`. */
  readonly path: string;
  /** Its place in the navigation: one entry a place. Pages behind it have none. */
  readonly nav?: NavKey | OperatorNav;
  /** The least role that may look at it. */
  readonly role: Role;
  /** Topics of the stream beside those that every page is told: `live`. Those of one object are asked for by `useDeltas`. */
  readonly topics: readonly string[];
  readonly load: () => Promise<{ Page: ComponentType<PageProps> }>;
  /** The navigation is narrow beside it: the builder. */
  readonly narrow?: boolean;
  readonly operator?: boolean;
}
export interface OperatorNav { readonly text: () => string; readonly icon: LucideIcon; readonly href: string }

export type NavKey = 'home' | 'live' | 'calls' | 'inbox' | 'campaigns' | 'boards' | 'contacts' | 'templates' | 'agents' | 'knowledge' | 'streams' | 'numbers' | 'analytics' | 'compliance' | 'developers' | 'settings';
export interface NavItem { readonly key: NavKey; readonly href: string; readonly text: string; readonly icon: LucideIcon; readonly letter: string }

/** The navigation in the order of use: sections, and what is in them. `G` and the letter go there. */
export function navigation(): readonly { readonly name: string; readonly items: readonly NavItem[] }[] {
  const item = (key: NavKey, href: string, text: string, icon: LucideIcon, letter: string): NavItem => ({ key, href, text, icon, letter });
  return [
    { name: '', items: [item('home', '/', t('Home'), House, 'h'), item('live', '/live', t('Live'), Radio, 'l'), item('calls', '/calls', t('Calls'), Phone, 'c'), item('inbox', '/inbox', t('Inbox'), Inbox, 'i')] },
    { name: t('Outreach'), items: [item('campaigns', '/campaigns', t('Campaigns'), Megaphone, 'p'), item('boards', '/boards', t('Boards'), Columns3, 'b'), item('contacts', '/contacts', t('Contacts'), Users, 'o'), item('templates', '/templates', t('Templates'), MessagesSquare, 't')] },
    { name: t('Build'), items: [item('agents', '/agents', t('Agents'), Bot, 'a'), item('knowledge', '/knowledge', t('Knowledge'), BookOpen, 'k'), item('streams', '/streams', t('Streams'), Waypoints, 's'), item('numbers', '/numbers', t('Numbers'), PhoneCall, 'n')] },
    { name: t('Account'), items: [item('analytics', '/analytics', t('Analytics'), ChartColumn, 'y'), item('compliance', '/compliance', t('Compliance'), ShieldCheck, 'v'), item('developers', '/developers', t('Developers'), Webhook, 'd'), item('settings', '/settings', t('Settings'), Settings, 'e')] },
  ];
}

let registered: readonly PageEntry[] = [];
export function register(entries: readonly PageEntry[]): void { registered = entries; }
export const pages = (operator = false): readonly PageEntry[] => registered.filter((entry) => Boolean(entry.operator) === operator);
export const hasNav = (key: NavKey): boolean => registered.some((entry) => entry.nav === key);
/** Whether some page has this address: links to a page that does not exist are not shown. */
export const exists = (nav: NavKey): boolean => hasNav(nav);
/** Whether some page shows this address: `/calls/call_…`. */
export function hasPage(address: string): boolean {
  const parts = (address.split('?')[0] ?? '').split('/');
  return pages().some((entry) => {
    const pattern = entry.path.split('/');
    const rest = pattern.at(-1)?.startsWith('*') ?? false;
    const wanted = rest ? pattern.slice(0, -1) : pattern;
    const least = wanted.filter((part) => !part.endsWith('?')).length;
    if (parts.length < least || (!rest && parts.length > wanted.length)) return false;
    return wanted.every((part, at) => part.startsWith(':') || part.startsWith('*') || part === parts[at]);
  });
}
/** The navigation of what exists. */
export const shownNavigation = () => navigation().map((section) => ({ ...section, items: section.items.filter((item) => hasNav(item.key)) })).filter((section) => section.items.length > 0);
