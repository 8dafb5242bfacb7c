import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Autocomplete, Header, Input, Menu, MenuItem, MenuSection, TextField } from 'react-aria-components';
import { useLocation } from 'wouter';
import { call, currentScope, readKey, signOut, type ApiError, type Schemas } from '../api/index.ts';
import { Sheet, sentence, t, useLanguage } from '../parts/index.ts';
import { useOffered, type Command } from './commands.ts';
import { objectPath } from './objects.ts';
import { recent } from './recent.ts';
import { exists, shownNavigation } from './registry.ts';
import { useChooseLanguage, useWorkspaceMenu } from './side.tsx';
import { chooseTheme, useTheme } from './theme.ts';

interface Entry extends Command { readonly lang?: string }

function foundKind(type: Schemas['FoundType']): string {
  switch (type) {
    case 'contact': return t('person');
    case 'call': return t('call');
    case 'agent': return t('agent');
    case 'campaign': case 'campaign_run': return t('campaign');
    case 'knowledge_base': return t('knowledge');
    case 'nudge': case 'scheduled_call': return t('planned call');
    case 'number': return t('number');
    case 'recording': return t('recording');
    case 'webhook_endpoint': case 'delivery': case 'event': return t('webhook');
  }
}

function foundPath(found: Schemas['FoundItem']): string | null {
  if (found.type === 'number') return exists('numbers') ? '/numbers' : null;
  return objectPath(found.id);
}

/** Ids, whole numbers, names and references, looked up by the service. */
function useFound(text: string) {
  const q = useDeferredValue(text.trim());
  return useQuery<Schemas['FoundItem'][], ApiError>({
    queryKey: readKey('search', { query: { q } }), enabled: q.length >= 2, placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => (await call('search', { query: { q: q.slice(0, 120) }, signal })).data,
  });
}

function useDo(onKeys: () => void, onBell: () => void): readonly Entry[] {
  const client = useQueryClient();
  const scope = currentScope();
  const [, navigate] = useLocation();
  const language = useLanguage();
  const choose = useChooseLanguage();
  const theme = useTheme();
  const workspaces = useWorkspaceMenu();
  const offered = useOffered();
  return [
    ...offered,
    ...(scope ? [{ id: 'mode', text: scope.test ? t('Switch to live mode') : t('Switch to test mode'), act: () => navigate(`~/console/${scope.workspace}${scope.test ? '' : '/test'}/`) }] : []),
    { id: 'theme', text: theme === 'dark' ? t('Light theme') : t('Dark theme'), act: () => chooseTheme(theme === 'dark' ? 'light' : 'dark') },
    { id: 'language', text: language === 'hi' ? 'English' : 'हिन्दी', lang: language === 'hi' ? 'en' : 'hi', act: () => choose(language === 'hi' ? 'en' : 'hi') },
    { id: 'bell', text: t('Notifications'), act: onBell },
    { id: 'keys', text: t('Keyboard shortcuts'), hint: '?', act: onKeys },
    ...workspaces.map((one) => ({ id: one.href, text: one.text, hint: one.hint, act: () => navigate(one.href) })),
    { id: 'sign-out', text: t('Sign out'), act: () => { void signOut(client); } },
  ];
}

export default function Palette({ close, onKeys, onBell }: { close: () => void; onKeys: () => void; onBell: () => void }) {
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const found = useFound(text);
  const does = useDo(onKeys, onBell);
  const fits = (entry: Entry): boolean => entry.text.toLocaleLowerCase().includes(text.trim().toLocaleLowerCase());
  const goTo: Entry[] = shownNavigation().flatMap((section) => section.items).map((item) => ({ id: item.href, text: item.text, hint: `G ${item.letter.toUpperCase()}`, act: () => navigate(item.href) }));
  const lately: Entry[] = recent().map((one) => ({ id: `recent ${one.path}`, text: one.title, act: () => navigate(one.path) }));
  const results: Entry[] = (text.trim().length >= 2 ? found.data ?? [] : []).flatMap((one) => {
    const path = foundPath(one);
    return path ? [{ id: one.id, text: one.title, hint: [foundKind(one.type), one.subtitle].filter(Boolean).join(' · '), act: () => navigate(path) }] : [];
  });
  const groups = [
    { name: t('Found'), entries: results }, { name: t('Recent'), entries: text ? [] : lately },
    { name: t('Go to'), entries: goTo.filter(fits) }, { name: t('Do'), entries: does.filter(fits) },
  ].filter((group) => group.entries.length > 0);
  const run = (key: string | number): void => {
    const entry = groups.flatMap((group) => group.entries).find((one) => one.id === key);
    close();
    entry?.act();
  };
  return (
    <Sheet open onClose={close} label={t('Search or jump to')}>
      <div className="pal">
        <Autocomplete inputValue={text} onInputChange={setText}>
          <TextField aria-label={t('Search')} autoFocus><Input placeholder={t('Name, number, id, or what you want to do')} dir="auto" /></TextField>
          <Menu className="list" aria-label={t('Results')} onAction={run} renderEmptyState={() => <p className="empty">{found.error ? sentence(found.error) : t('Nothing by that name. A whole number or an id finds calls, contacts and chats.')}</p>}>
            {groups.map((group) => (
              <MenuSection key={group.name}><Header>{group.name}</Header>
                {group.entries.map((entry) => <MenuItem key={entry.id} id={entry.id} textValue={entry.text} className="opt"><span dir="auto" lang={entry.lang} className="cut">{entry.text}</span>{entry.hint && <span className="n" dir="auto">{entry.hint}</span>}</MenuItem>)}
              </MenuSection>
            ))}
          </Menu>
        </Autocomplete>
        <div className="foot" aria-hidden><span><kbd>↑</kbd> <kbd>↓</kbd> {t('move')}</span><span><kbd>↵</kbd> {t('open')}</span><span><kbd>Esc</kbd> {t('close')}</span></div>
      </div>
    </Sheet>
  );
}
