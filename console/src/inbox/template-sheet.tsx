// Outside of the 24 hours: an approved template, filled in and seen before it is sent.
import { useMemo, useState } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call, invalidate, useRead, type ApiError, type Schemas } from '../api/index.ts';
import { Bars, Button, ErrorBlock, Name, SelectInput, Sheet, TextInput, rich, t, toast } from '../parts/index.ts';
import { Refusal } from './refusal.tsx';
import { componentsOf, filled, keyOfPlace, paramsOf, placesOf, type Place } from './templates.ts';
import type { Detail } from './entries.ts';

type Template = Schemas['ChannelTemplate'];

export function TemplateSheet({ chat, open, onClose }: { chat: Detail; open: boolean; onClose: () => void }) {
  return <Sheet open={open} onClose={onClose} label={t('Send a template')}><TemplateForm chat={chat} onClose={onClose} /></Sheet>;
}

function TemplateForm({ chat, onClose }: { chat: Detail; onClose: () => void }) {
  const client = useQueryClient();
  const listed = useRead('listChannelTemplates', { query: { status: 'APPROVED', limit: 100 } });
  const [id, setId] = useState<string | null>(null);
  const [values, setValues] = useState<Record<string, string>>({});
  const [pressed, setPressed] = useState(false);
  const [once] = useState(() => crypto.randomUUID());
  const all = listed.data?.data ?? [];
  const template = all.find((one) => one.id === id) ?? null;
  const places = useMemo(() => (template ? placesOf(template) : []), [template]);
  const open = places.filter((place) => !(values[keyOfPlace(place)] ?? '').trim());
  const sending = useMutation<unknown, ApiError, Template>({
    mutationFn: async (chosen) => {
      const [{ data: revealed }, { data: conversation }] = await Promise.all([call('revealConversation', { path: { id: chat.id } }), call('getConversation', { path: { id: chat.id }, query: {} })]);
      return call('sendChannelMessage', { body: { to: revealed.number, from: conversation.business.phoneNumberId, template: { name: chosen.name, language: chosen.language, params: paramsOf(chosen, values) } }, once });
    },
    onSuccess: () => { void invalidate(client, ['chats', 'conversations', 'messages'], null); toast(t('The template is sent')); onClose(); },
  });
  const send = (): void => {
    setPressed(true);
    if (template && open.length === 0) sending.mutate(template);
  };
  if (listed.error) return <ErrorBlock what={t('The templates could not be read.')} error={listed.error} again={() => { void listed.refetch(); }} />;
  if (!listed.data) return <Bars rows={4} />;
  return (
    <form className="form" onSubmit={(event) => { event.preventDefault(); send(); }}>
      <h2>{t('Send a template')}</h2>
      {all.length === 0 ? <p className="mid">{t('The channel has approved no template yet.')}</p> : (
        <SelectInput label={t('Template')} value={id} onChange={(to) => { setId(to); setValues({}); setPressed(false); sending.reset(); }} fault={pressed && !template ? t('Choose a template first.') : null}
          choices={all.map((one) => ({ id: one.id, text: one.name, hint: one.language }))} />
      )}
      {places.map((place) => (
        <TextInput key={keyOfPlace(place)} label={placeName(place)} value={values[keyOfPlace(place)] ?? ''} onChange={(value) => setValues((before) => ({ ...before, [keyOfPlace(place)]: value }))}
          fault={pressed && !(values[keyOfPlace(place)] ?? '').trim() ? t('This stands in the message: fill it in.') : null} />
      ))}
      {template && <Preview template={template} values={values} />}
      {chat.customer?.name && template && <p className="meta">{rich('It goes to {name}.', { name: <Name>{chat.customer.name}</Name> })} {t('The number is looked up for it, which is written to the log.')}</p>}
      {sending.error && <Refusal error={sending.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={sending.isPending}>{template ? t('Send “{name}”', { name: template.name }) : t('Send')}</Button></div>
    </form>
  );
}

function placeName(place: Place): string {
  if (place.media) return t('Address of the file (https)');
  if (place.part === 'header') return t('{name} of the header', { name: `{{${place.name}}}` });
  if (place.part === 'button') return t('End of the address of “{name}”', { name: place.name });
  return `{{${place.name}}}`;
}

/** As the phone shows it. */
function Preview({ template, values }: { template: Template; values: Readonly<Record<string, string>> }) {
  return (
    <div className="msgs preview" aria-label={t('As the customer reads it')} role="group">
      <div data-by="team"><div className="msg" lang={template.language}>
        {componentsOf(template).map((one, at) => {
          if (one.type === 'HEADER' && one.text) return <p key={at} className="strong" dir="auto">{filled(one.text, 'header', values)}</p>;
          if (one.type === 'BODY') return <p key={at} className="said" dir="auto" translate="no">{filled(one.text, 'body', values)}</p>;
          if (one.type === 'FOOTER') return <p key={at} className="meta" dir="auto">{one.text}</p>;
          if (one.buttons.length > 0) return <p key={at} className="row wrap">{one.buttons.map((button) => <span key={button.text} className="tag" data-tone="team" dir="auto">{button.text}</span>)}</p>;
          return null;
        })}
      </div></div>
    </div>
  );
}
