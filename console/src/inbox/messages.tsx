// The conversation itself. It follows what is new until the reader scrolls up.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { plural, t } from '../parts/index.ts';
import { LineView } from './message.tsx';
import { linesOf } from './lines.ts';
import { useChannelMessages, useMyId, useNotes } from './queries.ts';
import type { Detail } from './entries.ts';

const NEAR = 48;

export function Messages({ chat, aloud, asTemplate }: { chat: Detail; aloud: boolean; asTemplate: (() => void) | null }) {
  const me = useMyId();
  const notes = useNotes(chat.id);
  const channel = useChannelMessages(chat.id, chat.channel === 'chatapp');
  const lines = useMemo(() => linesOf(chat, notes.all, channel.all, me), [chat, notes.all, channel.all, me]);
  const box = useRef<HTMLOListElement>(null);
  const [follows, setFollows] = useState(true);
  const [seen, setSeen] = useState(lines.length);
  const end = (): void => { if (box.current) box.current.scrollTop = box.current.scrollHeight; };
  useLayoutEffect(() => { setFollows(true); end(); }, [chat.id]);
  useLayoutEffect(() => { if (follows) { end(); setSeen(lines.length); } }, [lines, follows]);
  useEffect(() => {
    const watch = new ResizeObserver(() => { if (follows) end(); });
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  }, [follows]);
  const last = chat.messages.at(-1);
  return (
    <div className="msgbox">
      <ol className="msgs" ref={box} tabIndex={0} aria-label={t('Messages')} onScroll={(event) => { const { scrollHeight, scrollTop, clientHeight } = event.currentTarget; setFollows(scrollHeight - scrollTop - clientHeight < NEAR); }}>
        {lines.map((line) => <LineView key={line.key} line={line} agent={chat.agentName} asTemplate={line.kind === 'message' && line.message.role !== 'user' ? asTemplate : null} />)}
      </ol>
      {!follows && lines.length > seen && <button type="button" className="fresh" onClick={() => setFollows(true)}>{plural(lines.length - seen, '{n} new message', '{n} new messages')}</button>}
      {aloud && <p className="vh" aria-live="polite" dir="auto">{last?.role === 'user' ? last.text : ''}</p>}
    </div>
  );
}
