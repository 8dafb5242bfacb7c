import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { callIn, useMe, type ApiError, type Person, type Schemas } from '../api/index.ts';
import { ME } from '../api/use.ts';
import { roleName } from '../shell/index.ts';
import { Body, Box, Button, ErrorNote, Fact, Facts, Name, Segment, Shown, TextInput, setLanguage, t, toast } from '../parts/index.ts';
import { Frame } from './frame.tsx';

function Profile({ me }: { me: Person }) {
  const client = useQueryClient();
  const [name, setName] = useState(me.name);
  const [missing, setMissing] = useState<string | null>(null);
  const save = useMutation<Schemas['SignedInPersonResponse'], ApiError, Schemas['ProfileChange']>({
    mutationFn: (body) => callIn(null, 'updateMe', { body }),
    onSuccess: (answer, body) => {
      client.setQueryData(ME, answer.data);
      if (body.language) { localStorage.setItem('language', body.language); void setLanguage(body.language); } else toast(t('Changed'));
    },
  });
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    setMissing(name.trim() ? null : t('Your name is missing.'));
    if (name.trim()) save.mutate({ name: name.trim() });
  };
  return (
    <Box title={t('You')}>
      <div className="stack se-gap">
        <Form className="se-inline" onSubmit={submit}>
          <div className="grow"><TextInput label={t('Name')} hint={t('In all workspaces')} value={name} onChange={setName} fault={missing ?? (save.error?.field === 'name' ? save.error.message : null)} maxLength={120} autoComplete="name" /></div>
          <Button type="submit" isPending={save.isPending}>{t('Save the name')}</Button>
        </Form>
        {save.error && save.error.field !== 'name' && <ErrorNote error={save.error} />}
        <div className="stack"><p className="lab">{t('Language')}</p><div><Segment label={t('Language')} value={me.language} onChange={(language) => save.mutate({ language })} items={[['en', 'English'], ['hi', <span key="hi" lang="hi">हिन्दी</span>]]} /></div></div>
        <Facts>
          <Fact name={t('E-mail')}><Name>{me.email}</Name></Fact>
          {me.operator && <Fact name={t('Operator')}>{t('yes, of the whole service')}</Fact>}
        </Facts>
      </div>
    </Box>
  );
}

const EMPTY = { password: '', next: '' };
function Password() {
  const [form, setForm] = useState(EMPTY);
  const [missing, setMissing] = useState<Partial<typeof EMPTY>>({});
  const change = useMutation<unknown, ApiError, typeof EMPTY>({
    mutationFn: ({ password, next }) => callIn(null, 'changePassword', { body: { password, newPassword: next } }),
    onSuccess: () => { setForm(EMPTY); toast(t('Your password is changed; your other sessions are ended')); },
  });
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const lacks = { ...(form.password ? {} : { password: t('Your present password is missing.') }), ...(form.next.length < 10 ? { next: t('A password has 10 characters or more.') } : {}) };
    setMissing(lacks);
    if (Object.keys(lacks).length === 0) change.mutate(form);
  };
  const wrong = change.error?.code === 'password_wrong' ? t('This is not your present password.') : null;
  return (
    <Box title={t('Password')}>
      <Form className="stack se-gap" onSubmit={submit}>
        <TextInput label={t('Present password')} type="password" dir="ltr" value={form.password} onChange={(password) => setForm({ ...form, password })} fault={missing.password ?? wrong} autoComplete="current-password" />
        <TextInput label={t('New password')} hint={t('10 characters or more. It ends your other sessions.')} type="password" dir="ltr" value={form.next} onChange={(next) => setForm({ ...form, next })} fault={missing.next} autoComplete="new-password" />
        {change.error && !wrong && <ErrorNote error={change.error} />}
        <div><Button type="submit" kind="primary" isPending={change.isPending}>{t('Change the password')}</Button></div>
      </Form>
    </Box>
  );
}

export function Page() {
  const me = useMe();
  return (
    <Frame tab="profile">
      <Body>
        <Shown of={me} what={t('The console could not find out who you are.')}>
          {(person) => (
            <div className="se-two">
              <Profile key={person.name} me={person} />
              <Password />
              <Box title={t('Your workspaces')} inside={false}><ul className="se-rows">{person.memberships.map((one) => <li key={one.workspaceId}><span className="grow cut"><Name>{one.workspaceName}</Name></span><span className="dim">{roleName(one.role)}</span></li>)}</ul></Box>
            </div>
          )}
        </Shown>
      </Body>
    </Frame>
  );
}
