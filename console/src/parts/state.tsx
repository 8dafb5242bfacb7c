import type { ReactNode } from 'react';
import type { BarTone, Tone } from './tone.ts';

// A state is a word and a shape; the colour repeats what both say.
const ring = <circle cx="6" cy="6" r="4.2" fill="none" stroke="currentColor" strokeWidth="1.8" />;
const SHAPES: Record<Tone, ReactNode> = {
  ok: <circle cx="6" cy="6" r="5" fill="currentColor" />,
  info: <>{ring}<path d="M6 1.8a4.2 4.2 0 0 1 0 8.4Z" fill="currentColor" /></>,
  wait: <><rect x="1.5" y="1" width="3.4" height="10" rx="1" fill="currentColor" /><rect x="7.1" y="1" width="3.4" height="10" rx="1" fill="currentColor" /></>,
  bad: <path d="M6 .6 11.6 11H.4L6 .6Z" fill="currentColor" />,
  rule: <path d="M3.9.9h4.2l3 3v4.2l-3 3H3.9l-3-3V3.9Z" fill="currentColor" />,
  mute: ring,
  team: <rect x="1" y="1" width="10" height="10" rx="2.5" fill="currentColor" />,
  accent: <circle cx="6" cy="6" r="5" fill="currentColor" />,
  pass: <path d="M2 6.4 4.8 9 10 3.4" fill="none" stroke="currentColor" strokeWidth="1.8" />,
};

export const State = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className="st" data-tone={tone}><svg viewBox="0 0 12 12" aria-hidden>{SHAPES[tone]}</svg>{children}</span>
);
export const Tag = ({ tone = 'mute', children }: { tone?: Tone; children: ReactNode }) => <span className="tag" data-tone={tone}>{children}</span>;

/** What a person or a customer's system named: never translated, read in its own direction. */
export const Name = ({ children, lang }: { children: ReactNode; lang?: string | undefined }) => <bdi dir="auto" translate="no" lang={lang}>{children}</bdi>;

const graphemes = new Intl.Segmenter('hi', { granularity: 'grapheme' });
const first = (text: string): string => [...graphemes.segment(text)][0]?.segment ?? '';
export function initials(name: string): string {
  const [one = '', two = ''] = name.trim().split(/\s+/);
  return (first(one) + (/[a-z]/i.test(name) ? first(two) : '')).toLocaleUpperCase('en');
}
export const Avatar = ({ name, kind, small }: { name: string; kind?: 'team' | 'agent'; small?: boolean }) => (
  <span className={`ava${kind === 'team' ? ' team' : kind === 'agent' ? ' sq' : ''}${small ? ' sm' : ''}`} aria-hidden translate="no">{initials(name)}</span>
);

export interface BarPart { readonly name: string; readonly value: number; readonly tone: BarTone }
const toned = (tone: BarTone): Record<string, string> => (/^q\d$/.test(tone) ? { 'data-q': tone.slice(1) } : { 'data-tone': tone });

/** One stacked bar; its words are the label. */
export function StackedBar({ label, parts, large }: { label: string; parts: readonly BarPart[]; large?: boolean }) {
  const sum = parts.reduce((total, part) => total + part.value, 0) || 1;
  return (
    <div className={large ? 'bar lg' : 'bar'} role="img" aria-label={`${label}: ${parts.map((part) => `${part.name} ${part.value}`).join(', ')}`}>
      {parts.filter((part) => part.value > 0).map((part) => <i key={part.name} {...toned(part.tone)} style={{ flex: part.value / sum }} />)}
    </div>
  );
}
export const Key = ({ tone, children }: { tone: BarTone; children: ReactNode }) => <span className="key" {...toned(tone)}>{children}</span>;
