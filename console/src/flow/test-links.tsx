import { Copy, Plus } from 'lucide-react';
import { useState } from 'react';
import { Form, Heading } from 'react-aria-components';
import { useRead, useSend, type Schemas } from '../api/index.ts';
import { Box, Button, Confirm, Empty, ErrorNote, Name, SelectInput, Sheet, Shown, Tag, TextInput, When, count, plural, t, toast } from '../parts/index.ts';
import { useWrites } from './writes.tsx';

const DAYS = ['1', '3', '7', '14', '30'] as const;
const copy = (text: string): void => { void navigator.clipboard.writeText(text).then(() => toast(t('Copied'))); };

/** Addresses at which anybody can chat with the agent. The address is shown once. */
export function TestLinks({ agent }: { agent: Schemas['AgentDetail'] }) {
  const path = { id: agent.id };
  const links = useRead('listTestLinks', { path });
  const makes = useWrites('createTestLink');
  const revokes = useWrites('revokeTestLink');
  const [making, setMaking] = useState(false);
  const [gone, setGone] = useState<Schemas['TestLink'] | null>(null);
  const revoke = useSend('revokeTestLink', { alters: ['listTestLinks'] });
  return (
    <Box title={t('Test links')} inside={false} extra={makes && <Button small icon={Plus} onPress={() => setMaking(true)}>{t('New test link')}</Button>}>
      <Shown of={links} what={t('The test links could not be read.')} rows={2}>{({ data }) => (data.length === 0
        ? <Empty title={t('No test link')}>{t('A test link lets anybody who has it chat with the agent. Its chats cost nothing.')}</Empty>
        : <div className="over" tabIndex={0} role="region" aria-label={t('Test links')}><table className="tbl"><thead><tr><th scope="col">{t('Name')}</th><th scope="col">{t('Runs')}</th><th scope="col">{t('Ends')}</th><th scope="col" className="r">{t('Chats today')}</th><th scope="col"><span className="vh">{t('Actions')}</span></th></tr></thead>
          <tbody>{data.map((one) => <tr key={one.id}><td><Name>{one.name || t('Without a name')}</Name></td><td>{one.draft ? <Tag>{t('the draft')}</Tag> : t('what is live')}</td><td><When at={one.expiresAt} /></td><td className="r">{count(one.chatsToday)}</td><td className="r">{revokes && <Button small kind="bare" onPress={() => setGone(one)}>{t('Revoke…')}</Button>}</td></tr>)}</tbody></table></div>)}</Shown>
      <Sheet open={making} onClose={() => setMaking(false)} label={t('New test link')}>{making && <MakeLink agent={agent.id} onClose={() => setMaking(false)} />}</Sheet>
      <Confirm open={gone !== null} onClose={() => setGone(null)} danger title={t('Revoke this test link?')} action={t('Revoke the link')} act={() => revoke.mutateAsync({ path: { ...path, link: gone?.id ?? '' } })}><p>{gone && plural(gone.chatsToday, 'Its chats cannot go on; {n} began today.', 'Its chats cannot go on; {n} began today.')}</p></Confirm>
    </Box>
  );
}

function MakeLink({ agent, onClose }: { agent: string; onClose: () => void }) {
  const [name, setName] = useState('');
  const [runs, setRuns] = useState<'draft' | 'live'>('draft');
  const [days, setDays] = useState<(typeof DAYS)[number]>('7');
  const send = useSend('createTestLink', { alters: ['listTestLinks'] });
  const made = send.data?.data;
  if (made) return (
    <div className="form"><Heading slot="title" level={2}>{t('The link is shown only now')}</Heading><p className="mid">{t('Whoever has it can chat with the agent until it ends.')}</p>
      <TextInput label={t('Address')} mono dir="ltr" value={made.url} isReadOnly />
      <div className="ends"><Button icon={Copy} onPress={() => copy(made.url)}>{t('Copy')}</Button><Button kind="primary" onPress={onClose}>{t('I have it')}</Button></div></div>
  );
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); send.mutate({ path: { id: agent }, body: { draft: runs === 'draft', expiresInDays: Number(days), ...(name.trim() ? { name: name.trim() } : {}) } }); }}>
      <Heading slot="title" level={2}>{t('New test link')}</Heading>
      <TextInput label={t('Name')} value={name} onChange={setName} maxLength={100} placeholder={t('For whom it is')} autoFocus />
      <SelectInput label={t('Runs')} value={runs} onChange={setRuns} choices={[{ id: 'draft', text: t('the draft') }, { id: 'live', text: t('what is live') }]} />
      <SelectInput label={t('Ends after')} value={days} onChange={setDays} choices={DAYS.map((id) => ({ id, text: plural(Number(id), '{n} day', '{n} days') }))} />
      {send.error && <ErrorNote error={send.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={send.isPending}>{t('Make the link')}</Button></div>
    </Form>
  );
}
