import './page.css';
import { useState } from 'react';
import { useHasRole, useRead, useSend, type ApiError, type Schemas } from '../api/index.ts';
import { Body, Box, Button, ErrorNote, Head, Name, SelectInput, Sheet, Shown, State, TextInput, When, plural, t, toast } from '../parts/index.ts';
import { ReadOnlyNote } from '../shell/index.ts';
import { AnswersBox } from './answers-box.tsx';
import { useTeam } from './queries.ts';
import { ShownRows } from './shown-rows.tsx';

export function Page() {
  return (
    <>
      <Head title={t('Inbox settings')} back={{ href: '/inbox', text: t('Inbox') }} />
      <Body><AssignmentBox /><TeamBox /><AnswersBox /></Body>
    </>
  );
}

function AssignmentBox() {
  const settings = useRead('getInboxSettings', {});
  const may = useHasRole('admin');
  return (
    <Box title={t('Who is given a chat that waits')}>
      <Shown of={settings} what={t('The settings could not be read.')} rows={3}>{(answer) => (may ? <AssignmentForm key={JSON.stringify(answer.data)} now={answer.data} /> : <div className="stack"><p>{assignmentWords(answer.data)}</p><ReadOnlyNote role="admin" /></div>)}</Shown>
    </Box>
  );
}

function assignmentWords(now: Schemas['InboxSettings']): string {
  return now.assignment === 'round_robin' ? plural(now.maxOpenPerMember, 'Whoever is present is given one in turn, up to {n} open chat each.', 'Whoever is present is given one in turn, up to {n} open chats each.') : t('Nobody: members take chats by hand.');
}

const whole = (text: string, least: number, most: number): number | null => (/^\d+$/.test(text.trim()) && Number(text) >= least && Number(text) <= most ? Number(text) : null);

function AssignmentForm({ now }: { now: Schemas['InboxSettings'] }) {
  const [assignment, setAssignment] = useState(now.assignment);
  const [most, setMost] = useState(String(now.maxOpenPerMember));
  const [minutes, setMinutes] = useState(now.firstResponseMinutes === null ? '' : String(now.firstResponseMinutes));
  const [pressed, setPressed] = useState(false);
  const save = useSend('setInboxSettings', { alters: ['getInboxSettings', 'listInboxTeam', 'listInbox', 'countInbox'], done: () => toast(t('The inbox is set')) });
  const n = whole(most, 1, 100);
  const due = minutes.trim() === '' ? null : whole(minutes, 1, 10_080);
  const submit = (): void => {
    setPressed(true);
    if (n === null || (minutes.trim() !== '' && due === null)) return;
    save.mutate({ body: { assignment, maxOpenPerMember: n, firstResponseMinutes: due } });
  };
  const fault = (field: string): string | null => (save.error?.field === field ? save.error.message : null);
  return (
    <form className="stack narrowform" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <SelectInput label={t('A chat that waits for a person')} value={assignment} onChange={setAssignment} choices={[{ id: 'manual', text: t('waits until a member takes it') }, { id: 'round_robin', text: t('is given in turn to who is present') }]} />
      {assignment === 'round_robin' && <TextInput label={t('Open chats of a member, at most')} inputMode="numeric" value={most} onChange={setMost} fault={pressed && n === null ? t('A number from 1 to 100') : fault('maxOpenPerMember')} />}
      <TextInput label={t('Minutes until a person should have answered')} inputMode="numeric" value={minutes} onChange={setMinutes} hint={t('Empty for none. A chat that is late says so.')} fault={pressed && minutes.trim() !== '' && due === null ? t('A whole number of minutes') : fault('firstResponseMinutes')} />
      {save.error && !save.error.field && <ErrorNote error={save.error} />}
      <div className="row"><Button type="submit" kind="primary" isPending={save.isPending}>{t('Save')}</Button></div>
    </form>
  );
}

function TeamBox() {
  const team = useTeam();
  const may = useHasRole('admin');
  const [of, setOf] = useState<Schemas['InboxMember'] | null>(null);
  return (
    <Box title={t('Who answers')} inside={false}>
      <ShownRows of={team} what={t('The team could not be read.')}>{(all) => (
        <div className="over">
          <table className="tbl">
            <thead><tr><th>{t('Member')}</th><th>{t('Takes chats')}</th><th className="r">{t('Open chats')}</th><th className="wide">{t('Last seen')}</th><th><span className="vh">{t('Change')}</span></th></tr></thead>
            <tbody>{all.map((one) => (
              <tr key={one.userId}>
                <td><Name>{one.name}</Name></td>
                <td><State tone={one.present ? 'team' : 'mute'}>{one.present ? t('present') : one.available ? t('yes, away now') : t('no')}</State></td>
                <td className="r">{t('{n} of {most}', { n: one.openChats, most: one.maxOpen })}</td>
                <td className="wide">{one.lastSeenAt ? <When at={one.lastSeenAt} /> : <span className="dim">{t('never')}</span>}</td>
                <td className="r">{may && <Button small kind="bare" onPress={() => setOf(one)}>{t('Change…')}<span className="vh"> <Name>{one.name}</Name></span></Button>}</td>
              </tr>
            ))}</tbody>
          </table>
        </div>
      )}</ShownRows>
      <Sheet open={of !== null} onClose={() => setOf(null)} label={t('Open chats of a member, at most')}>{of && <CeilingForm of={of} close={() => setOf(null)} />}</Sheet>
    </Box>
  );
}

function CeilingForm({ of, close }: { of: Schemas['InboxMember']; close: () => void }) {
  const [text, setText] = useState(of.ownMaxOpen ? String(of.maxOpen) : '');
  const [wrong, setWrong] = useState(false);
  const save = useSend('setInboxCeiling', { alters: ['listInboxTeam'], done: close });
  const error: ApiError | null = save.error;
  const submit = (): void => {
    const n = text.trim() === '' ? null : whole(text, 0, 100);
    if (text.trim() !== '' && n === null) return setWrong(true);
    save.mutate({ path: { id: of.userId }, body: { maxOpen: n } });
  };
  return (
    <form className="form" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <h2><Name>{of.name}</Name></h2>
      <TextInput label={t('Open chats that are given, at most')} inputMode="numeric" value={text} onChange={(value) => { setText(value); setWrong(false); }} autoFocus hint={t('0 for none. Empty for the number of the workspace.')} fault={wrong ? t('A number from 0 to 100') : null} />
      {error && <ErrorNote error={error} />}
      <div className="ends"><Button onPress={close}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={save.isPending}>{t('Save')}</Button></div>
    </form>
  );
}
