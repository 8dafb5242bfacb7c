// One knowledge base: its documents, and a search that is the very path of a call.
import './flow.css';
import { FileText, Link2, Plus, Search, Text } from 'lucide-react';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useRead, useSend, type Schemas } from '../api/index.ts';
import { Body, Box, Button, Confirm, Empty, Finder, Head, Icon, MenuButton, More, Name, NoMatch, Shown, Tag, TextInput, When, count, plural, t, useFilters, useRaw } from '../parts/index.ts';
import { AddDocument, type Adding } from './add-document.tsx';
import { useOwns, useWrites, WhyReadOnly } from './writes.tsx';

type Detail = Schemas['KnowledgeBaseDetail'];
type Doc = Schemas['KnowledgeDocument'];
const MOST = 200;

export function Page({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.id ?? '';
  const base = useRead('getKnowledgeBase', { path: { id } });
  if (!base.data) return <><Head back={{ href: '/knowledge', text: t('Knowledge') }} title={t('Knowledge base')} /><Body><Shown of={base} what={t('The knowledge base could not be read.')}>{() => null}</Shown></Body></>;
  return <OneBase base={base.data.data} />;
}

function OneBase({ base }: { base: Detail }) {
  const [adding, setAdding] = useState<Adding | null>(null);
  const [erasing, setErasing] = useState(false);
  const adds = useWrites('addKnowledgeText');
  const owner = useOwns();
  const [, navigate] = useLocation();
  const erase = useSend('deleteKnowledgeBase', { alters: ['listKnowledgeBases', 'listAgents'] });
  const raw = useRaw('getKnowledgeBase', { path: { id: base.id } }, base);
  return (
    <>
      <Head back={{ href: '/knowledge', text: t('Knowledge') }} title={base.name} sub={<span className="dim wide">{plural(base.documentCount, '{n} document', '{n} documents')} · {plural(base.chunkCount, '{n} passage', '{n} passages')} · {plural(base.agentCount, '{n} agent uses it', '{n} agents use it')}</span>}>
        {adds && <MenuButton label={t('Add a document')} button={<Button kind="primary" icon={Plus}>{t('Add a document')}</Button>} entries={[{ text: t('Write a text'), act: () => setAdding('text') }, { text: t('A file'), act: () => setAdding('file') }, { text: t('A page of the web'), act: () => setAdding('link') }]} />}
        <More entries={[...raw.entries, owner && '-', owner && { text: t('Delete the knowledge base…'), danger: true, act: () => setErasing(true) }]} />
      </Head>
      {raw.sheet}
      <Body>
        {!adds && <WhyReadOnly />}
        <div className="kb">
          <Documents base={base} add={adds ? () => setAdding('text') : null} />
          <Ask base={base} />
        </div>
      </Body>
      <AddDocument base={base.id} kind={adding} onClose={() => setAdding(null)} />
      <Confirm open={erasing} onClose={() => setErasing(false)} danger title={t('Delete this knowledge base for good?')} action={t('Delete the knowledge base')} typed={{ label: t('Its name'), text: base.name.trim() }} act={async () => { await erase.mutateAsync({ path: { id: base.id } }); navigate('/knowledge'); }}>
        <p>{plural(base.agentCount, '{n} agent answers without it from then on.', '{n} agents answer without it from then on.')}</p>
      </Confirm>
    </>
  );
}

const kindWord = (type: Doc['type']): string => (type === 'text' ? t('Text') : type === 'file' ? t('File') : t('Page of the web'));
const KIND = { text: Text, file: FileText, link: Link2 };

function Documents({ base, add }: { base: Detail; add: (() => void) | null }) {
  const filters = useFilters();
  const removes = useWrites('removeKnowledgeDocument');
  const [gone, setGone] = useState<Doc | null>(null);
  const remove = useSend('removeKnowledgeDocument', { alters: ['getKnowledgeBase', 'listKnowledgeBases', 'searchKnowledgeBase'] });
  const q = filters.one('q').toLocaleLowerCase();
  const shown = base.documents.filter((one) => one.source.toLocaleLowerCase().includes(q));
  return (
    <Box title={t('Documents')} count={base.documents.length > 0 ? count(base.documents.length) : undefined} inside={false} extra={base.documents.length > 8 && <Finder label={t('Find a document')} placeholder={t('Find a document')} value={filters.one('q')} onChange={(value) => filters.set('q', value, true)} />}>
      {base.documents.length === 0 ? <Empty title={t('No document yet')} action={add ? <Button onPress={add}>{t('Write a text')}</Button> : undefined}>{t('A document can be found as soon as it is added.')}</Empty>
        : shown.length === 0 ? <NoMatch title={t('No document matches.')} clear={() => filters.clear(['q'])} />
          : <ul className="docs">{shown.slice(0, MOST).map((one) => (
            <li key={`${one.type} ${one.source}`} className="row"><Icon of={KIND[one.type]} /><span className="grow stack tight"><span className="medium cut"><Name>{one.source}</Name></span><span className="meta">{kindWord(one.type)} · {plural(one.chunkCount, '{n} passage can be found', '{n} passages can be found')} · {plural(one.chars, '{n} character', '{n} characters')}</span></span><span className="meta wide"><When at={one.updatedAt} /></span>{removes && <More small label={t('More about {name}', { name: one.source.slice(0, 60) })} entries={[{ text: t('Remove the document…'), danger: true, act: () => setGone(one) }]} />}</li>
          ))}</ul>}
      {shown.length > MOST && <p className="meta pad0">{t('The first {n} are shown. Find the others by their name.', { n: MOST })}</p>}
      <Confirm open={gone !== null} onClose={() => setGone(null)} danger title={t('Remove this document?')} action={t('Remove the document')} act={() => remove.mutateAsync({ path: { id: base.id }, query: { source: gone?.source ?? '', type: gone?.type ?? 'text' } })}>
        <p><b><Name>{gone?.source}</Name></b></p><p className="mid">{t('No agent finds it any more, from the next question on.')}</p>
      </Confirm>
    </Box>
  );
}

function Ask({ base }: { base: Detail }) {
  const filters = useFilters();
  const asked = filters.one('ask');
  const [text, setText] = useState(asked);
  const [missing, setMissing] = useState(false);
  const hits = useRead('searchKnowledgeBase', { path: { id: base.id }, query: { q: asked, limit: 8 } }, { enabled: asked !== '', keep: true });
  return (
    <Box title={t('Ask it')} extra={<span className="meta wide">{t('As an agent asks on a call')}</span>}>
      <Form className="row ask" onSubmit={(event) => { event.preventDefault(); const q = text.trim(); setMissing(q === ''); filters.set('ask', q === '' ? null : q); }}>
        <TextInput label={t('A question, as a customer would say it')} value={text} onChange={(value) => { setText(value); setMissing(false); }} maxLength={1_000} fault={missing ? t('Write a question.') : null} />
        <Button type="submit" icon={Search} isPending={hits.isFetching}>{t('Search')}</Button>
      </Form>
      {asked === '' ? <p className="meta gap">{t('Five passages at most are given to the agent, the best first.')}</p> : (
        <Shown of={hits} what={t('The search failed.')} rows={3}>{({ data }) => (data.length === 0
          ? <div className="empty" data-state="no-match"><h2>{t('Nothing was found')}</h2><p>{t('No passage shares a word with the question. The agent would say that it does not know.')}</p></div>
          : <ol className="hits" aria-label={t('Passages')}>{data.map((hit, at) => (
            <li key={at} data-given={at < 5}><div className="row"><span className="score num" aria-label={t('Score {n}', { n: hit.score.toFixed(2) })}><i style={{ width: `${Math.round(hit.score * 100)}%` }} aria-hidden /><b>{hit.score.toFixed(2)}</b></span><span className="meta cut grow"><Name>{hit.source}</Name>{hit.heading && <> › <Name>{hit.heading}</Name></>}{hit.page !== null && <> · {t('page {n}', { n: hit.page })}</>}</span>{at >= 5 && <Tag>{t('not handed on')}</Tag>}</div><p dir="auto">{hit.content}</p></li>
          ))}</ol>)}</Shown>
      )}
    </Box>
  );
}
