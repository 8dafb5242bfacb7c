import { useSyncExternalStore } from 'react';

export type Theme = 'light' | 'dark';
const KEY = 'theme';
const listeners = new Set<() => void>();
const system = matchMedia('(prefers-color-scheme: dark)');

const chosen = (): Theme | null => { const kept = localStorage.getItem(KEY); return kept === 'light' || kept === 'dark' ? kept : null; };
const current = (): Theme => chosen() ?? (system.matches ? 'dark' : 'light');

/** Shows the theme that was chosen in this browser, else the system's. */
export function showTheme(): void {
  const kept = chosen();
  if (kept) document.documentElement.dataset.theme = kept; else delete document.documentElement.dataset.theme;
  listeners.forEach((listener) => listener());
}
export function chooseTheme(theme: Theme): void { localStorage.setItem(KEY, theme); showTheme(); }

export const useTheme = (): Theme => useSyncExternalStore((listener) => {
  listeners.add(listener);
  system.addEventListener('change', listener);
  return () => { listeners.delete(listener); system.removeEventListener('change', listener); };
}, current);
