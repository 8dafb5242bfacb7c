import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useMay, useSend, type Schemas } from '../api/index.ts';
import { Box, Button, Confirm, Empty, ErrorNote, More, Sheet, TextInput, t } from '../parts/index.ts';
import { useAnswers } from './queries.ts';
import { ShownRows } from './shown-rows.tsx';

type Answer = Schemas['SavedAnswer'];

/** The answers that members call with `/` while they write. */
export function AnswersBox() {
  const answers = useAnswers();
  const may = useMay('createSavedAnswer');
  const [form, setForm] = useState<Answer | 'new' | null>(null);
  const [gone, setGone] = useState<Answer | null>(null);
  const remove = useSend('deleteSavedAnswer', { alters: ['listSavedAnswers'] });
  return (
    <Box title={t('Saved answers')} inside={false} extra={may && <Button small icon={Plus} onPress={() => setForm('new')}>{t('New answer')}</Button>}>
      <ShownRows of={answers} what={t('The saved answers could not be read.')}>{(all) => (all.length === 0 ? (
        <Empty title={t('No answer is saved')} action={may && <Button icon={Plus} onPress={() => setForm('new')}>{t('New answer')}</Button>}>{t('Type / and its short name in a reply, and the text stands there.')}</Empty>
      ) : (
        <ul className="answerlist">{all.map((one) => (
          <li key={one.id} className="row">
            <span className="mono short">/{one.shortcut}</span><span className="grow mid lines" dir="auto" translate="no">{one.text}</span>
            {may && <More small label={t('More for /{shortcut}', { shortcut: one.shortcut })} entries={[{ text: t('Change…'), act: () => setForm(one) }, { text: t('Delete…'), act: () => setGone(one), danger: true }]} />}
          </li>
        ))}</ul>
      ))}</ShownRows>
      <Sheet open={form !== null} onClose={() => setForm(null)} label={t('Saved answer')}>{form && <AnswerForm of={form === 'new' ? null : form} close={() => setForm(null)} />}</Sheet>
      <Confirm open={gone !== null} onClose={() => setGone(null)} title={t('Delete /{shortcut}?', { shortcut: gone?.shortcut ?? '' })} action={t('Delete 1 answer')} danger act={() => remove.mutateAsync({ path: { id: gone?.id ?? '' } })}>
        <p className="mid" dir="auto" translate="no">{gone?.text}</p>
      </Confirm>
    </Box>
  );
}

const SHORT = /^[\p{L}\p{M}\p{N}_-]{1,40}$/u;
function AnswerForm({ of, close }: { of: Answer | null; close: () => void }) {
  const [shortcut, setShortcut] = useState(of?.shortcut ?? '');
  const [text, setText] = useState(of?.text ?? '');
  const [pressed, setPressed] = useState(false);
  const options = { alters: ['listSavedAnswers' as const], done: close };
  const create = useSend('createSavedAnswer', options);
  const update = useSend('updateSavedAnswer', options);
  const error = create.error ?? update.error;
  const name = shortcut.trim().replace(/^\//, '');
  const submit = (): void => {
    setPressed(true);
    if (!SHORT.test(name) || text.trim() === '') return;
    if (of) update.mutate({ path: { id: of.id }, body: { shortcut: name, text } }); else create.mutate({ body: { shortcut: name, text } });
  };
  const told = (field: string): string | null => (error?.field === field ? error.message : null);
  return (
    <form className="form" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <h2>{of ? t('Change the saved answer') : t('New saved answer')}</h2>
      <TextInput label={t('Short name')} value={shortcut} onChange={setShortcut} maxLength={41} autoFocus hint={t('Letters, digits, - and _. It is typed after /.')} fault={pressed && !SHORT.test(name) ? t('1 to 40 letters, digits, - and _') : told('shortcut')} />
      <TextInput label={t('Text of the answer')} value={text} onChange={setText} lines={5} maxLength={4_096} hint={t('{places} are filled in when it is used.', { places: '{{name}}, {{reference}}, {{me}}' })} fault={pressed && text.trim() === '' ? t('Write the text of the answer.') : told('text')} />
      {error && !error.field && <ErrorNote error={error} />}
      <div className="ends"><Button onPress={close}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={create.isPending || update.isPending}>{of ? t('Save') : t('Save the answer')}</Button></div>
    </form>
  );
}
