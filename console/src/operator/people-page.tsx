import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useOperator, useOperatorSend } from '../api/use-operator.ts';
import { roleName } from '../shell/index.ts';
import { Body, Box, Button, CheckInput, ErrorNote, Head, SelectInput, TextInput, t, toast, when } from '../parts/index.ts';
import type { Data, Page as Pages, Workspace } from './types.ts';
import './page.css';

const ROLES = ['owner', 'admin', 'editor', 'viewer'] as const;
interface Link { readonly personId: string; readonly url: string; readonly expiresAt: string }

function Made({ link, onClose }: { link: Link; onClose: () => void }) {
  return (
    <div className="stack op-gap">
      <p className="mid">{t('Give this link to the person. It is shown now and never again, works once, and ends at {time} IST.', { time: when(link.expiresAt) })}</p>
      <pre className="raw op-once" tabIndex={0} translate="no" data-once>{link.url}</pre>
      <div className="row"><Button kind="primary" onPress={() => { void navigator.clipboard.writeText(link.url).then(() => toast(t('Copied'))); }}>{t('Copy')}</Button><Button onPress={onClose}>{t('I have given it')}</Button></div>
    </div>
  );
}

/** For the first owner of a workspace, for another operator, for a lost password. */
function LinkForm({ made }: { made: (link: Link) => void }) {
  const workspaces = useOperator<Pages<Workspace>>('/workspaces', { query: { limit: 200 } });
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [workspace, setWorkspace] = useState('none');
  const [role, setRole] = useState<(typeof ROLES)[number]>('owner');
  const [operates, setOperates] = useState(false);
  const [missing, setMissing] = useState<string | null>(null);
  const make = useOperatorSend<object, Data<Link>>((body) => ({ method: 'POST', path: '/sign-in-links', body }), { alters: ['/log', '/workspaces'], done: ({ data }) => made(data) });
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const fault = /^\S+@\S+\.\S+$/.test(email.trim()) ? null : t('This is no e-mail address.');
    setMissing(fault);
    if (fault === null) make.mutate({ email: email.trim(), ...(name.trim() ? { name: name.trim() } : {}), ...(workspace === 'none' ? {} : { workspaceId: workspace, role }), ...(operates ? { operator: true } : {}) });
  };
  return (
    <Form className="stack op-gap" onSubmit={submit}>
      <TextInput label={t('E-mail')} value={email} onChange={setEmail} fault={missing ?? (make.error?.field === 'email' ? make.error.message : null)} dir="ltr" autoComplete="off" />
      <TextInput label={t('Name')} hint={t('Of somebody who is new here')} value={name} onChange={setName} autoComplete="off" />
      <SelectInput label={t('Becomes a member of')} value={workspace} onChange={setWorkspace} choices={[{ id: 'none', text: t('no other workspace') }, ...(workspaces.data?.data ?? []).map((one) => ({ id: one.id, text: one.name }))]} />
      {workspace !== 'none' && <SelectInput label={t('Role')} hint={t('Replaces the role of a member.')} value={role} onChange={setRole} choices={ROLES.map((one) => ({ id: one, text: roleName(one) }))} />}
      <CheckInput value={operates} onChange={setOperates}>{t('Makes the person an operator of the whole service')}</CheckInput>
      {make.error && make.error.field !== 'email' && <ErrorNote error={make.error} />}
      <div><Button type="submit" kind="primary" isPending={make.isPending}>{operates ? t('Make a link for an operator') : t('Make a link')}</Button></div>
    </Form>
  );
}

export function Page() {
  const [link, setLink] = useState<Link | null>(null);
  return (
    <>
      <Head title={t('People')} sub={<span className="dim wide cut">{t('Links that sign a person in once')}</span>} />
      <Body><div className="op-narrow"><Box title={t('Sign-in link')}>{link ? <Made link={link} onClose={() => setLink(null)} /> : <><p className="mid op-lead">{t('For the first owner of a workspace, for another operator, or for a lost password. A newer link of a person ends the older one.')}</p><LinkForm made={setLink} /></>}</Box></div></Body>
    </>
  );
}
