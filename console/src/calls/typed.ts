import { useCallback, useEffect, useState } from 'react';

const PAUSE = 250;
const kept = (): string => { const state = history.state as { find?: unknown } | null; return typeof state?.find === 'string' ? state.find : ''; };

/** What is typed into the finder and, after a pause, what is searched for. It is kept with the entry of the history and never in the address. */
export function useTyped(): [typed: string, find: string, set: (text: string) => void] {
  const [typed, setTyped] = useState(kept);
  const [find, setFind] = useState(() => kept().trim());
  useEffect(() => {
    const timer = setTimeout(() => {
      setFind(typed.trim());
      if (kept() !== typed) history.replaceState({ ...(history.state as object | null), find: typed }, '');
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  return [typed, find, useCallback((text: string) => setTyped(text), [])];
}
