import { AlertTriangle, Check, CheckCheck, Clock, Download, FileText, Lock } from 'lucide-react';
import { addressOf, useHasRole, type Schemas } from '../api/index.ts';
import { Button, Icon, Name, When, clock, day, dayOf, indiaDay, t } from '../parts/index.ts';
import { wordsOf, type ChannelMessage, type Line } from './lines.ts';
import { Voice } from './voice.tsx';

const moment = (at: string): string => (dayOf(at) === indiaDay() ? clock(at) : `${day(at)}, ${clock(at)}`);

/** One line of a conversation. */
export function LineView({ line, agent, asTemplate }: { line: Line; agent: string; asTemplate: (() => void) | null }) {
  if (line.kind === 'event') return <li className="evt"><Event line={line} /> · <When at={line.at}>{moment(line.at)}</When></li>;
  if (line.kind === 'note') return <NoteLine note={line.note} />;
  const { message, sent } = line;
  const by = message.role === 'user' ? 'customer' : message.role === 'agent' ? 'agent' : 'team';
  const failure = sent.find((one) => one.status === 'failed');
  const failed = message.failed === true || failure !== undefined;
  const media = sent.find((one) => one.media !== null);
  const words = wordsOf(message.text, sent);
  return (
    <li data-by={by} data-failed={failed} data-seq={message.seq}>
      <div className="msg">
        {by === 'agent' && <p className="meta who"><Name>{agent}</Name>, {t('agent')}</p>}
        {by === 'team' && <p className="meta who"><Name>{message.author?.name ?? message.agentName ?? t('Team')}</Name></p>}
        {media && <Media message={media} />}
        {words !== '' && <p className="said" dir="auto" translate="no">{words}</p>}
        {media?.type === 'audio' && words !== '' && <p className="meta">{t('heard by the recogniser')}</p>}
        <p className="tick meta num"><When at={message.at}>{moment(message.at)}</When>{!failed && by !== 'customer' && <Tick sent={sent} />}</p>
      </div>
      {failed && <Failure sent={failure} asTemplate={asTemplate} />}
    </li>
  );
}

function Event({ line }: { line: Extract<Line, { kind: 'event' }> }) {
  const [before, after] = line.text.split('{name}');
  return after === undefined ? <span>{line.text}</span> : <span>{before}<Name>{line.name}</Name>{after}</span>;
}

function NoteLine({ note }: { note: Schemas['ChatNote'] }) {
  return (
    <li data-by="note">
      <div className="msg">
        <p className="meta nhead"><Icon of={Lock} small />{t('Private note, the customer never sees it')}</p>
        <p className="said" dir="auto" translate="no">{mentioned(note)}</p>
        <p className="tick meta num"><Name>{note.author.name}</Name> · <When at={note.createdAt}>{moment(note.createdAt)}</When></p>
      </div>
    </li>
  );
}

/** Members are named by id in a note, and shown by name. */
function mentioned(note: Schemas['ChatNote']): string {
  return note.mentions.reduce((text, one) => text.replaceAll(`@${one.userId}`, `@${one.name}`), note.text);
}

function Tick({ sent }: { sent: readonly ChannelMessage[] }) {
  const last = sent.at(-1);
  if (!last) return null;
  const shown = ({ queued: [Clock, t('Waits to be sent')], sent: [Check, t('Sent')], delivered: [CheckCheck, t('Delivered')], read: [CheckCheck, t('Read by the customer')], delivery_unknown: [Clock, t('Unknown whether it arrived')] } as const)[last.status as 'sent'];
  if (!shown) return null;
  return <span className={last.status === 'read' ? 'mark read' : 'mark'} title={shown[1]} data-status={last.status}><Icon of={shown[0]} small /><span className="vh">{shown[1]}</span></span>;
}

function Failure({ sent, asTemplate }: { sent: ChannelMessage | undefined; asTemplate: (() => void) | null }) {
  return (
    <div className="failure">
      <Icon of={AlertTriangle} small />
      <p className="grow">{t('It did not arrive.')}{sent?.error && <> <span dir="auto" translate="no">{sent.error.title}{sent.error.detail && sent.error.detail !== sent.error.title ? `: ${sent.error.detail}` : ''}</span> <span className="mono">{sent.error.code}</span></>}</p>
      {asTemplate && <Button small onPress={asTemplate}>{t('Send as template…')}</Button>}
    </div>
  );
}

function Media({ message }: { message: ChannelMessage }) {
  // Files of customers are for who may answer.
  const may = useHasRole('editor');
  const name = typeof message.content?.filename === 'string' ? message.content.filename : null;
  const address = addressOf('getChannelMessageMedia', { path: { id: message.messageId } });
  if (message.type === 'audio') return <Voice address={address} available={may && message.media?.available === true} may={may} />;
  const kind = kindOf(message);
  return (
    <div className="file">
      <Icon of={FileText} />
      <span className="grow"><b className="cut">{name === null ? kind : <Name>{name}</Name>}</b><span className="meta">{message.media?.available ? kind : t('Not fetched from the channel yet')}</span></span>
      {may && message.media?.available && <a className="btn bare icon" href={address} download={name ?? ''} aria-label={t('Save the file')}><Icon of={Download} /></a>}
    </div>
  );
}

function kindOf(message: ChannelMessage): string {
  const end = message.media?.mimeType?.split(';')[0]?.split('/')[1]?.toUpperCase();
  switch (message.type) {
    case 'image': return end ? t('Picture, {kind}', { kind: end }) : t('Picture');
    case 'video': return end ? t('Video, {kind}', { kind: end }) : t('Video');
    case 'sticker': return t('Sticker');
    default: return end && end.length < 9 ? t('File, {kind}', { kind: end }) : t('File');
  }
}
