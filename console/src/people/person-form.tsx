// A person who is added, or whose fields are changed. A number and a reference never change once they are set.
import { useState } from 'react';
import { useSend, type Schemas } from '../api/index.ts';
import { Button, ErrorNote, SelectInput, TextInput, t, toast } from '../parts/index.ts';
import type { Person } from './queries.ts';

type Language = Schemas['ContactLanguage'];
interface Fields { name: string; phone: string; externalRef: string; company: string; email: string; language: Language }

export function PersonForm({ person, close, done }: { person: Person | null; close: () => void; done: (id: string) => void }) {
  const [fields, setFields] = useState<Fields>({
    name: person?.name ?? '', phone: '', externalRef: person?.externalRef ?? '', company: person?.company ?? '', email: person?.email ?? '', language: person?.preferredLanguage === 'hi' ? 'hi' : 'en',
  });
  const [pressed, setPressed] = useState(false);
  const create = useSend('upsertContact', { alters: ['listContacts', 'search'], done: (answer) => { close(); done(answer.data.id); } });
  const update = useSend('updateContact', { alters: ['listContacts', 'getContact'], done: () => { close(); toast(t('The person is changed')); } });
  const error = create.error ?? update.error;
  const set = (field: keyof Fields) => (value: string): void => setFields((before) => ({ ...before, [field]: value }));
  const none = (text: string): string | null => (text.trim() === '' ? null : text.trim());
  const missing = (field: 'phone' | 'externalRef'): boolean => pressed && !person && fields[field].trim() === '';
  const submit = (): void => {
    setPressed(true);
    const shared = { name: none(fields.name), company: none(fields.company), email: none(fields.email), preferredLanguage: fields.language };
    if (person) {
      update.mutate({ path: { id: person.id }, body: { ...shared, ...(person.externalRef === null && fields.externalRef.trim() !== '' ? { externalRef: fields.externalRef.trim() } : {}) } });
    } else if (fields.phone.trim() !== '' && fields.externalRef.trim() !== '') {
      create.mutate({ body: { ...shared, phone: fields.phone.trim(), externalRef: fields.externalRef.trim() } });
    }
  };
  const told = (field: string): string | null => (error?.field === field ? error.message : null);
  return (
    <form className="form" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <h2>{person ? t('Change the person') : t('Add a person')}</h2>
      <TextInput label={t('Name')} value={fields.name} onChange={set('name')} maxLength={200} autoFocus fault={told('name')} />
      {!person && <TextInput label={t('Number')} value={fields.phone} onChange={set('phone')} inputMode="tel" hint={t('An Indian number. It cannot be changed later.')} fault={missing('phone') ? t('A person needs a number.') : told('phone') ?? (error?.code === 'phone_taken' ? t('Another person has this number.') : null)} />}
      {(!person || person.externalRef === null) && <TextInput label={t('Reference')} value={fields.externalRef} onChange={set('externalRef')} maxLength={120} hint={t('Your own id of the person. It cannot be changed later.')} fault={missing('externalRef') ? t('A person needs a reference.') : told('externalRef')} />}
      <TextInput label={t('Company')} value={fields.company} onChange={set('company')} maxLength={200} fault={told('company')} />
      <TextInput label={t('E-mail')} value={fields.email} onChange={set('email')} maxLength={254} inputMode="email" fault={told('email')} />
      <SelectInput label={t('Language')} value={fields.language} onChange={set('language')} choices={[{ id: 'en', text: 'English' }, { id: 'hi', text: 'हिन्दी' }]} />
      {error && !error.field && error.code !== 'phone_taken' && <ErrorNote error={error} />}
      <div className="ends"><Button onPress={close}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={create.isPending || update.isPending}>{person ? t('Save') : t('Add the person')}</Button></div>
    </form>
  );
}
