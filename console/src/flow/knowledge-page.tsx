import './flow.css';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Form, Heading, Link } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useRead, useSend, type Schemas } from '../api/index.ts';
import { Body, Button, Empty, ErrorNote, Finder, Grid, Head, Name, NoMatch, Sheet, Shown, Tag, TextInput, When, count, fixedRows, t, useFilters, useKeys, type Column } from '../parts/index.ts';
import { useWrites } from './writes.tsx';

type Base = Schemas['KnowledgeBase'];
const columns = (): readonly Column<Base>[] => [
  { key: 'name', head: t('Knowledge base'), width: 'minmax(200px, 2fr)', cell: (base) => <Link href={`/knowledge/${base.id}`} className="medium"><Name>{base.name}</Name></Link> },
  { key: 'documents', head: t('Documents'), width: 'minmax(90px, .6fr)', right: true, cell: (base) => count(base.documentCount) },
  { key: 'passages', head: t('Passages'), width: 'minmax(90px, .6fr)', right: true, cell: (base) => count(base.chunkCount) },
  { key: 'agents', head: t('Agents that use it'), width: 'minmax(120px, .8fr)', right: true, cell: (base) => (base.agentCount > 0 ? count(base.agentCount) : <span className="dim">–</span>) },
  { key: 'changed', head: t('Changed'), width: 'minmax(120px, .8fr)', right: true, cell: (base) => <When at={base.updatedAt} /> },
];

export function Page() {
  const bases = useRead('listKnowledgeBases', {});
  const may = useWrites('createKnowledgeBase');
  const filters = useFilters();
  const [, navigate] = useLocation();
  const [making, setMaking] = useState(false);
  useKeys(may ? [{ key: 'n', text: t('New knowledge base'), act: () => setMaking(true) }] : []);
  const all = bases.data?.data ?? [];
  const shown = all.filter((one) => one.name.toLocaleLowerCase().includes(filters.one('q').toLocaleLowerCase()));
  return (
    <>
      <Head title={t('Knowledge')} mark={all.length > 0 ? <Tag>{count(all.length)}</Tag> : undefined}>{may && <Button kind="primary" icon={Plus} keys="N" onPress={() => setMaking(true)}>{t('New knowledge base')}</Button>}</Head>
      {all.length > 0 && <div className="toolbar"><Finder label={t('Find a knowledge base')} placeholder={t('Find a knowledge base')} value={filters.one('q')} onChange={(value) => filters.set('q', value, true)} /></div>}
      <Body pad={false}>
        <Shown of={bases} what={t('The knowledge bases could not be read.')}>{() => (all.length === 0
          ? <Empty title={t('No knowledge base yet')} action={may ? <Button kind="primary" onPress={() => setMaking(true)}>{t('New knowledge base')}</Button> : undefined}>{t('Agents answer from what you put in: texts and pages of your site. You can ask it the same questions here.')}</Empty>
          : shown.length === 0 ? <NoMatch title={t('No knowledge base matches.')} clear={() => filters.clear(['q'])} />
            : <div className="fill"><Grid label={t('Knowledge')} rows={fixedRows(shown)} columns={columns()} id={(base) => base.id} open={(base) => navigate(`/knowledge/${base.id}`)} least={680} thin={(base) => <span className="thinrow"><span className="medium cut"><Name>{base.name}</Name></span><span className="meta">{t('{documents} documents, {passages} passages', { documents: count(base.documentCount), passages: count(base.chunkCount) })}</span></span>} /></div>)}</Shown>
      </Body>
      <Sheet open={making} onClose={() => setMaking(false)} label={t('New knowledge base')}>{making && <Make onClose={() => setMaking(false)} />}</Sheet>
    </>
  );
}

function Make({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [missing, setMissing] = useState(false);
  const [, navigate] = useLocation();
  const send = useSend('createKnowledgeBase', { alters: ['listKnowledgeBases'], done: ({ data }) => { onClose(); navigate(`/knowledge/${data.id}`); } });
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); if (name.trim() === '') setMissing(true); else send.mutate({ body: { name: name.trim() } }); }}>
      <Heading slot="title" level={2}>{t('New knowledge base')}</Heading>
      <TextInput label={t('Name')} value={name} onChange={(text) => { setName(text); setMissing(false); }} maxLength={120} fault={missing ? t('Give it a name.') : null} autoFocus />
      {send.error && <ErrorNote error={send.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={send.isPending}>{t('Make it')}</Button></div>
    </Form>
  );
}
