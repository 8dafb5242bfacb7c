// Where one writes: a reply of who has the chat, or a note for the team. The two look different, so that a note is never sent.
import { Send, StickyNote } from 'lucide-react';
import { forwardRef, useEffect, useId, useImperativeHandle, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { TextArea, TextField } from 'react-aria-components';
import { useMe } from '../api/index.ts';
import { Button, Icon, Segment, t, useMedia } from '../parts/index.ts';
import { useDraft, type As } from './draft.ts';
import { useAnswers, useMyId, useReadAgain, useWrite, useWriteNote } from './queries.ts';
import { Refusal } from './refusal.tsx';
import { AnswerList, AnswerMenu, asked, filledIn, type Answer } from './saved.tsx';
import type { Detail } from './entries.ts';

export interface ComposerHandle { readonly write: (as: As, begin?: string) => void; readonly send: () => Promise<boolean> }
interface Props { readonly chat: Detail; readonly mine: boolean; /** What stands in the place of the reply: why none can be written. */ readonly instead: ReactNode; readonly notes: boolean }
const MOST = { reply: 4_096, note: 4_000 };

export const Composer = forwardRef<ComposerHandle, Props>(function Composer({ chat, mine, instead, notes }, ref) {
  const [as, setAs] = useState<As>('reply');
  const me = useMyId();
  const myName = useMe().data?.name ?? '';
  const [text, setText] = useDraft(me, chat.id, as);
  const [missing, setMissing] = useState(false);
  const [active, setActive] = useState(0);
  const [wish, setWish] = useState<As | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useId();
  const again = useReadAgain();
  const reply = useWrite();
  const note = useWriteNote();
  const answers = useAnswers().all;
  const touch = useMedia('(pointer: coarse)');
  const working = as === 'reply' ? reply : note;
  const offered = as === 'reply' && instead === null ? asked(text, answers) : null;
  const at = Math.min(active, Math.max(0, (offered?.length ?? 1) - 1));

  const send = async (): Promise<boolean> => {
    const words = text.trim();
    if (as === 'reply' && instead !== null) return false;
    if (words === '') { setMissing(true); field.current?.focus(); return false; }
    if (working.isPending) return false;
    try {
      if (as === 'reply') await reply.mutateAsync({ path: { id: chat.id }, body: { text: words } });
      else await note.mutateAsync({ path: { id: chat.id }, body: { text: words } });
      setText('');
      field.current?.focus();
      return true;
    } catch {
      again();
      return false;
    }
  };
  const take = (answer: Answer): void => { setText(filledIn(answer.text, chat, myName)); setActive(0); field.current?.focus(); };
  useImperativeHandle(ref, () => ({
    send,
    write: (to, begin) => { setAs(to); if (begin !== undefined && text === '') setText(begin); setWish(to); },
  }));
  // The field may only come when the service has said whose the chat is.
  const writable = as === 'note' || instead === null;
  useEffect(() => { if (wish === as && writable && field.current) { field.current.focus(); setWish(null); } }, [wish, as, writable]);
  const keys = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (offered && offered.length > 0) {
      const does: Record<string, () => void> = { ArrowDown: () => setActive((at + 1) % offered.length), ArrowUp: () => setActive((at + offered.length - 1) % offered.length), Enter: () => take(offered[at] as Answer), Tab: () => take(offered[at] as Answer), Escape: () => setText('') };
      const one = does[event.key];
      if (one && !event.shiftKey) { event.preventDefault(); event.stopPropagation(); one(); return; }
    }
    if (event.key === 'Enter' && !event.shiftKey && !touch) { event.preventDefault(); void send(); }
  };
  const label = as === 'note' ? t('Private note') : t('Reply');
  return (
    <footer className="composer" data-as={as}>
      <div className="row">
        {notes ? <Segment label={t('What you write')} value={as} onChange={(to) => { setAs(to); setMissing(false); }} items={[['reply', t('Reply')], ['note', <><Icon of={StickyNote} small />{t('Note')}</>]]} /> : <span className="medium">{t('Reply')}</span>}
        <span className="grow" />
        {(as === 'note' || instead === null) && <span className="meta wide">{as === 'note' ? t('Enter keeps the note · only your team sees it') : t('Enter sends · Shift Enter breaks the line · / for a saved answer')}</span>}
      </div>
      {working.error && <Refusal error={working.error} />}
      {as === 'reply' && instead !== null ? instead : (
        <div className="writing">
          {offered && <AnswerList id={list} answers={offered} active={at} take={take} />}
          <div className="row end">
            <TextField aria-label={label} className="grow" value={text} onChange={(value) => { setText(value); setMissing(false); setActive(0); }} maxLength={MOST[as]} isInvalid={missing} validationBehavior="aria">
              <TextArea ref={field} className="ctl" rows={2} dir="auto" onKeyDown={keys} placeholder={as === 'note' ? t('Only your team sees this') : t('Write to the customer')}
                {...(offered && offered.length > 0 ? { 'aria-controls': list, 'aria-activedescendant': `${list}-${at}` } : {})} />
            </TextField>
            {as === 'reply' && mine && <AnswerMenu answers={answers} take={take} />}
            <Button kind="primary" icon={Send} label={as === 'note' ? t('Keep the note') : t('Send')} isPending={working.isPending} onPress={() => { void send(); }} />
          </div>
          {missing && <p className="fault" role="alert">{as === 'note' ? t('Write the note first.') : t('Write a message first.')}</p>}
        </div>
      )}
    </footer>
  );
});
