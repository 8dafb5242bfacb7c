// What was written and not sent. It survives a reload of the tab, and is forgotten with the sign-out.
import { useCallback, useState } from 'react';

export type As = 'reply' | 'note';
const keyOf = (member: string, chat: string, as: As): string => `draft:${member}:${chat}:${as}`;

export function useDraft(member: string | null, chat: string, as: As): readonly [string, (text: string) => void] {
  const key = keyOf(member ?? 'nobody', chat, as);
  const [, again] = useState(0);
  const set = useCallback((text: string) => {
    if (text === '') sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
    again((n) => n + 1);
  }, [key]);
  return [sessionStorage.getItem(key) ?? '', set];
}

export const hasDraft = (member: string | null, chat: string): boolean => sessionStorage.getItem(keyOf(member ?? 'nobody', chat, 'reply')) !== null;
