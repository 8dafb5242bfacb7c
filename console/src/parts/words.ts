// Sentences are keyed by their English. Hindi lies in messages/hi/*.json; a missing one shows English and fails `npm run words`.
import { Fragment, createElement, useSyncExternalStore, type ReactNode } from 'react';

export type Language = 'en' | 'hi';
type Values = Readonly<Record<string, string | number>>;
type Message = string | { readonly one: string; readonly other: string };

let language: Language = 'en';
let hindi: Readonly<Record<string, Message>> = {};
const listeners = new Set<() => void>();

export const currentLanguage = (): Language => language;
export const locale = (): string => (language === 'hi' ? 'hi-IN' : 'en-IN');

/** Loads the words of a language and shows them. */
export async function setLanguage(to: Language): Promise<void> {
  if (to === 'hi') hindi = (await import('./hindi.ts')).HINDI;
  language = to;
  document.documentElement.lang = to;
  listeners.forEach((listener) => listener());
}

export function useLanguage(): Language {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentLanguage);
}

function found(english: string): Message {
  if (language === 'en') return english;
  return hindi[english] ?? english;
}

const filled = (sentence: string, values: Values | undefined): string =>
  values ? sentence.replace(/\{(\w+)\}/g, (hole, name: string) => String(values[name] ?? hole)) : sentence;

/** A sentence, with values in the places of `{name}`. */
export function t(english: string, values?: Values): string {
  const message = found(english);
  return filled(typeof message === 'string' ? message : message.other, values);
}

/** A sentence with a number, which stands as `{n}`: `plural(3, "{n} chat waits", "{n} chats wait")`. Keyed by the second. */
export function plural(n: number, one: string, other: string, values?: Values): string {
  const message = found(other);
  const rule = new Intl.PluralRules(locale()).select(n) === 'one' ? 'one' : 'other';
  const sentence = typeof message === 'string' ? (language === 'en' ? { one, other }[rule] : message) : message[rule];
  return filled(sentence, { n: new Intl.NumberFormat('en-IN').format(n), ...values });
}

/** A sentence with elements in the places of `{name}`: links, names, figures. */
export function rich(english: string, nodes: Readonly<Record<string, ReactNode>>): ReactNode {
  const parts = t(english).split(/(\{\w+\})/);
  return parts.map((part, at) => createElement(Fragment, { key: at }, /^\{\w+\}$/.test(part) ? (nodes[part.slice(1, -1)] ?? part) : part));
}
