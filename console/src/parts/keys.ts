// Keys of a page. They do nothing while the person types, while a dialog is open, or with a modifier that is not named.
import { useEffect, useRef, useSyncExternalStore } from 'react';

export interface PageKey { readonly key: string; readonly text: string; readonly act: () => void }

const shown = new Map<symbol, readonly PageKey[]>();
const listeners = new Set<() => void>();
let list: readonly PageKey[] = [];

function changed(): void {
  list = [...shown.values()].flat();
  listeners.forEach((listener) => listener());
}

export const typing = (event: Event): boolean => {
  const target = event.target;
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
};
/** Whether a dialog or a popover is over the page. */
export const overlaid = (): boolean => document.querySelector('.scrim, .pop') !== null;
/** `Shift+e`, `Alt+ArrowDown`, `n`: as it is written in the list of a page's keys. */
export const keyOf = (event: KeyboardEvent): string =>
  `${event.ctrlKey || event.metaKey ? 'Mod+' : ''}${event.altKey ? 'Alt+' : ''}${event.shiftKey && event.key.length > 1 ? 'Shift+' : event.shiftKey && /[a-z]/i.test(event.key) ? 'Shift+' : ''}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`;

/** Binds the keys of a page while it is shown, and lists them under `?`. */
export function useKeys(keys: readonly PageKey[]): void {
  const now = useRef(keys);
  now.current = keys;
  const names = keys.map((one) => `${one.key}\n${one.text}`).join('\n\n');
  useEffect(() => {
    const mine = Symbol('keys');
    shown.set(mine, now.current);
    changed();
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || (typing(event) && !/Mod\+|Alt\+/.test(keyOf(event))) || overlaid()) return;
      const found = now.current.find((one) => one.key === keyOf(event));
      if (!found) return;
      event.preventDefault();
      found.act();
    };
    document.addEventListener('keydown', press);
    return () => { document.removeEventListener('keydown', press); shown.delete(mine); changed(); };
  }, [names]);
}

export const usePageKeys = (): readonly PageKey[] => useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, () => list);
