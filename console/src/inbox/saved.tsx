// Saved answers: `/` in an empty reply lists them, letters narrow the list, Enter takes one.
import { MessageSquareText } from 'lucide-react';
import type { Schemas } from '../api/index.ts';
import { Button, MenuButton, t } from '../parts/index.ts';
import { customerName, type Detail } from './entries.ts';

export type Answer = Schemas['SavedAnswer'];
const ASKS = /^\/([\p{L}\p{M}\p{N}_-]*)$/u;

/** Those that fit what is typed, or null while no answer is asked for. */
export function asked(text: string, all: readonly Answer[]): readonly Answer[] | null {
  const found = ASKS.exec(text);
  if (!found) return null;
  const typed = (found[1] ?? '').toLocaleLowerCase();
  return all.filter((one) => one.shortcut.includes(typed) || (typed !== '' && one.text.toLocaleLowerCase().includes(typed))).slice(0, 8);
}

/** The text with what is known of the customer in the places of `{{name}}` and the like. A place of which nothing is known stays. */
export function filledIn(text: string, chat: Detail, myName: string): string {
  const who = customerName(chat);
  const known: Record<string, string | null> = { name: who.known ? who.text : null, reference: chat.externalRef, agent: chat.agentName, me: myName };
  return text.replace(/\{\{\s*(\w+)\s*\}\}/g, (place, name: string) => known[name.toLowerCase()] ?? place);
}

export function AnswerList({ id, answers, active, take }: { id: string; answers: readonly Answer[]; active: number; take: (answer: Answer) => void }) {
  if (answers.length === 0) return <p className="answers meta" role="status">{t('No saved answer begins like this.')}</p>;
  return (
    <ul className="answers list fixed" role="listbox" id={id} aria-label={t('Saved answers')}>
      {answers.map((answer, at) => (
        <li key={answer.id} id={`${id}-${at}`} role="option" aria-selected={at === active} className="opt" data-focused={at === active || undefined} onPointerDown={(event) => event.preventDefault()} onClick={() => take(answer)}>
          <span className="mono">/{answer.shortcut}</span><span className="cut mid" dir="auto" translate="no">{answer.text}</span>
        </li>
      ))}
    </ul>
  );
}

export function AnswerMenu({ answers, take }: { answers: readonly Answer[]; take: (answer: Answer) => void }) {
  const entries = [
    ...answers.map((answer) => ({ text: `/${answer.shortcut}`, hint: answer.text.length > 40 ? `${answer.text.slice(0, 40)}…` : answer.text, act: () => take(answer) })),
    ...(answers.length > 0 ? ['-' as const] : []),
    { text: t('Change saved answers'), href: '/inbox/settings' },
  ];
  return <MenuButton label={t('Saved answers')} entries={entries} button={<Button kind="bare" icon={MessageSquareText} label={t('Saved answers')} />} />;
}
