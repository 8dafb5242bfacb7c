// What pages offer to the palette. A command opens a confirmation or a form; it never does the thing at once.
import { useEffect, useRef, useSyncExternalStore } from 'react';

export interface Command { readonly id: string; readonly text: string; readonly hint?: string; readonly act: () => void }

const offered = new Map<symbol, readonly Command[]>();
const listeners = new Set<() => void>();
let list: readonly Command[] = [];
function changed(): void { list = [...offered.values()].flat(); listeners.forEach((listener) => listener()); }

/** Offers commands while the page is shown: 'Pause “…”…'. */
export function useCommands(commands: readonly Command[]): void {
  const now = useRef(commands);
  now.current = commands;
  const names = commands.map((one) => `${one.id} ${one.text}`).join('\n');
  useEffect(() => {
    const mine = Symbol('commands');
    offered.set(mine, now.current.map((one) => ({ ...one, act: () => now.current.find((other) => other.id === one.id)?.act() })));
    changed();
    return () => { offered.delete(mine); changed(); };
  }, [names]);
}
export const useOffered = (): readonly Command[] => useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, () => list);
