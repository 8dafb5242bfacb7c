import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useSend, type Schemas } from '../api/index.ts';
import { Button, ErrorNote, SelectInput, Sheet, TextInput, t } from '../parts/index.ts';
import { categoryName, placesOf } from './template-states.ts';

export const NewTemplateSheet = ({ open, onClose }: { open: boolean; onClose: () => void }) => <Sheet open={open} onClose={onClose} label={t('New template')}><NewTemplate onClose={onClose} /></Sheet>;

const CATEGORIES = ['UTILITY', 'MARKETING'] as const;

function NewTemplate({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [category, setCategory] = useState<Schemas['TemplateCategory']>('UTILITY');
  const [language, setLanguage] = useState('en');
  const [body, setBody] = useState('');
  const [footer, setFooter] = useState('');
  const [samples, setSamples] = useState<Readonly<Record<string, string>>>({});
  const [shown, setShown] = useState(false);
  const places = placesOf(body);
  const numbered = places.every((place) => /^\d+$/.test(place));
  const made = useSend('createChannelTemplate', { alters: ['listChannelTemplates'], done: ({ data }) => { onClose(); navigate(`/templates/${data.id}`); } });
  const faults = {
    name: /^[a-z0-9_]{1,512}$/.test(name) ? null : t('Small letters, digits and _ only.'),
    body: body.trim() === '' ? t('Write the message.') : body.length > 1_024 ? t('At most 1,024 characters.') : /^\s*\{\{|\}\}\s*$/.test(body) ? t('It may not begin or end with a value.') : null,
    sample: (place: string): string | null => (samples[place]?.trim() ? null : t('The provider wants a sample.')),
  };
  const submit = (): void => {
    setShown(true);
    if (faults.name || faults.body || places.some((place) => faults.sample(place))) return;
    const example = places.length === 0 ? {} : { example: numbered ? { body_text: [places.map((place) => samples[place] ?? '')] } : { body_text_named_params: places.map((place) => ({ param_name: place, example: samples[place] ?? '' })) } };
    made.mutate({ body: { name, language, category, components: [{ type: 'BODY', text: body.trim(), ...example }, ...(footer.trim() ? [{ type: 'FOOTER', text: footer.trim() }] : [])] } });
  };
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <h2>{t('New template')}</h2>
      <TextInput label={t('Name')} mono value={name} onChange={setName} hint={t('As systems name it: payment_reminder')} fault={shown ? faults.name : null} autoFocus />
      <div className="fields two"><SelectInput label={t('Category')} value={category} onChange={setCategory} choices={CATEGORIES.map((id) => ({ id, text: categoryName(id) }))} /><SelectInput label={t('Language')} value={language} onChange={setLanguage} choices={[{ id: 'en', text: 'English' }, { id: 'en_US', text: 'English (US)' }]} /></div>
      <TextInput label={t('Message')} lines={4} value={body} onChange={setBody} hint={t('Places for values are numbers or names in two curly brackets.')} fault={shown ? faults.body : null} />
      {places.map((place) => <TextInput key={place} label={t('Sample for {place}', { place })} value={samples[place] ?? ''} onChange={(value) => setSamples((before) => ({ ...before, [place]: value }))} fault={shown ? faults.sample(place) : null} />)}
      <TextInput label={t('Small line below')} value={footer} onChange={setFooter} maxLength={60} />
      {made.error && <ErrorNote error={made.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={made.isPending}>{t('Hand it in for review')}</Button></div>
    </Form>
  );
}
