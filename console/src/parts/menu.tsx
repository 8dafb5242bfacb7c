import { Ellipsis } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button as KitButton, Menu as KitMenu, MenuItem, MenuTrigger, Popover, Separator } from 'react-aria-components';
import { Icon } from './icon.tsx';
import { t } from './words.ts';

export interface MenuEntry { readonly text: string; readonly act?: () => void; readonly href?: string; readonly hint?: string; readonly danger?: boolean; readonly lang?: string }

/** Entries of a menu; '-' is a line. An entry that the role lacks is left out by who makes the list (null). */
export function MenuEntries({ entries, label }: { entries: readonly (MenuEntry | '-' | null | false)[]; label: string }) {
  return (
    <KitMenu className="list" aria-label={label}>
      {entries.map((entry, at) => {
        if (!entry) return null;
        if (entry === '-') return <Separator key={at} />;
        return (
          <MenuItem key={at} id={String(at)} textValue={entry.text} className={entry.danger ? 'opt bad' : 'opt'} {...(entry.act ? { onAction: entry.act } : {})} {...(entry.href ? { href: entry.href } : {})}>
            <span dir="auto" lang={entry.lang}>{entry.text}</span>{entry.hint && <span className="n">{entry.hint}</span>}
          </MenuItem>
        );
      })}
    </KitMenu>
  );
}

/** A button that opens a menu. */
export const MenuButton = ({ button, entries, label }: { button: ReactNode; entries: readonly (MenuEntry | '-' | null | false)[]; label: string }) => (
  <MenuTrigger>{button}<Popover className="pop" placement="bottom end"><MenuEntries entries={entries} label={label} /></Popover></MenuTrigger>
);

/** The '…' of a page or a row: what is done seldom; what destroys comes last. */
export function More({ entries, label = t('More actions'), small }: { entries: readonly (MenuEntry | '-' | null | false)[]; label?: string; small?: boolean }) {
  if (!entries.some((entry) => entry && entry !== '-')) return null;
  return <MenuButton label={label} entries={entries} button={<KitButton className={small ? 'btn bare icon sm' : 'btn bare icon'} aria-label={label}><Icon of={Ellipsis} /></KitButton>} />;
}
