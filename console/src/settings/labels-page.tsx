import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useHasRole } from '../api/index.ts';
import { ofWorkspace, useOperator, useOperatorSend } from '../api/use-operator.ts';
import { ReadOnlyNote } from '../shell/index.ts';
import { Body, Box, Button, Confirm, Empty, ErrorNote, Name, Segment, Sheet, Shown, TextInput, plural, t, toast, useKeys } from '../parts/index.ts';
import { Frame } from './frame.tsx';

interface Label { id: string; name: string; color: string }
const path = (): string => ofWorkspace('/chat-labels');

/** The colours of labels are those of the tokens, as they are in the theme of who makes the label. */
const TOKENS = ['--accent', '--ok-solid', '--wait-solid', '--bad-solid', '--info-solid', '--team-solid', '--rule-solid', '--mute-solid'] as const;
const named = (token: (typeof TOKENS)[number]): string => {
  switch (token) {
    case '--accent': return t('Blue-violet');
    case '--ok-solid': return t('Green');
    case '--wait-solid': return t('Amber');
    case '--bad-solid': return t('Red');
    case '--info-solid': return t('Blue');
    case '--team-solid': return t('Teal');
    case '--rule-solid': return t('Plum');
    case '--mute-solid': return t('Grey');
  }
};
const valueOf = (token: string): string => getComputedStyle(document.documentElement).getPropertyValue(token).trim();
const Dot = ({ color }: { color: string }) => <i className="se-dot" style={{ background: color }} aria-hidden />;

function LabelForm({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [token, setToken] = useState<(typeof TOKENS)[number]>('--accent');
  const [missing, setMissing] = useState<string | null>(null);
  const make = useOperatorSend<{ name: string; color: string }>((body) => ({ method: 'POST', path: path(), body }), { alters: [path()], done: () => { toast(t('The label is made')); onClose(); } });
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    setMissing(name.trim() ? null : t('A label needs a text.'));
    if (name.trim()) make.mutate({ name: name.trim(), color: valueOf(token) });
  };
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{t('New label')}</h2>
      <TextInput label={t('Text')} value={name} onChange={setName} fault={missing ?? (make.error?.field === 'name' ? make.error.message : null)} autoFocus autoComplete="off" />
      <div className="stack"><p className="lab">{t('Colour')}</p><div className="se-colours"><Segment label={t('Colour')} value={token} onChange={setToken} items={TOKENS.map((one) => [one, <span key={one} className="row"><Dot color={`var(${one})`} /><span className="vh">{named(one)}</span></span>] as const)} /></div></div>
      {make.error && make.error.field !== 'name' && <ErrorNote error={make.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={make.isPending}>{t('Make the label')}</Button></div>
    </Form>
  );
}

export function Page() {
  const labels = useOperator<{ data: Label[] }>(path());
  const may = useHasRole('editor');
  const [making, setMaking] = useState(false);
  const [removing, setRemoving] = useState<Label | null>(null);
  const remove = useOperatorSend<string>((id) => ({ method: 'DELETE', path: `${path()}/${id}` }), { alters: [path()], done: () => toast(t('The label is deleted')) });
  useKeys(may ? [{ key: 'n', text: t('New label'), act: () => setMaking(true) }] : []);
  const button = may ? <Button kind="primary" icon={Plus} onPress={() => setMaking(true)}>{t('New label')}</Button> : undefined;
  return (
    <Frame tab="labels" actions={button}>
      <Body>
        {!may && <ReadOnlyNote role="editor" />}
        <Shown of={labels} what={t('The labels could not be read.')} rows={3}>
          {({ data }) => (data.length === 0 ? <Empty title={t('No label yet')} action={button}>{t('Labels sort chats in the inbox: “refund”, “call back in Tamil”.')}</Empty> : (
            <Box title={plural(data.length, '{n} label', '{n} labels')} inside={false}><ul className="se-rows">{data.map((label) => <li key={label.id} data-label={label.id}><Dot color={label.color} /><span className="grow cut"><Name>{label.name}</Name></span>{may && <Button small kind="bare" icon={Trash2} label={t('Delete {name}', { name: label.name })} onPress={() => setRemoving(label)} />}</li>)}</ul></Box>
          ))}
        </Shown>
      </Body>
      <Sheet open={making} onClose={() => setMaking(false)} label={t('New label')}><LabelForm onClose={() => setMaking(false)} /></Sheet>
      <Confirm open={removing !== null} onClose={() => setRemoving(null)} title={t('Delete the label “{name}”', { name: removing?.name ?? '' })} action={t('Delete the label')} danger act={() => (removing ? remove.mutateAsync(removing.id) : Promise.resolve())}><p className="mid">{t('It is taken off all chats that have it.')}</p></Confirm>
    </Frame>
  );
}
