import { useState } from 'react';
import { FileTrigger, Form, Heading } from 'react-aria-components';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiError, currentScope, invalidate, operator, useMe, useSend, type Schemas } from '../api/index.ts';
import { Button, ErrorNote, Name, Sheet, TextInput, bytes, count, plural, t, toast } from '../parts/index.ts';

export type Adding = 'text' | 'file' | 'link';
const MOST = 100_000;

export function AddDocument({ base, kind, onClose }: { base: string; kind: Adding | null; onClose: () => void }) {
  // Files of other formats than text are read by the service, which takes them from its operator.
  const operates = useMe().data?.operator ?? false;
  return <Sheet open={kind !== null} onClose={onClose} label={t('Add a document')}>{kind === 'link' ? <AddLink base={base} onClose={onClose} /> : kind === 'file' && operates ? <Upload base={base} onClose={onClose} /> : kind !== null && <AddText base={base} file={kind === 'file'} onClose={onClose} />}</Sheet>;
}

const alters = ['getKnowledgeBase', 'listKnowledgeBases', 'searchKnowledgeBase'] as const;
const told = (added: { added: number; replaced: boolean }): string => (added.replaced ? plural(added.added, 'Replaced: {n} passage can be found', 'Replaced: {n} passages can be found') : plural(added.added, 'Added: {n} passage can be found', 'Added: {n} passages can be found'));

/** A text that is written here or comes from a file; the browser reads the file. */
function AddText({ base, file, onClose }: { base: string; file: boolean; onClose: () => void }) {
  const [title, setTitle] = useState('');
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const send = useSend('addKnowledgeText', { alters, done: ({ data }) => { toast(told(data)); onClose(); } });
  const take = async (files: FileList | null): Promise<void> => {
    const one = files?.[0];
    if (!one) return;
    try {
      const read = new TextDecoder('utf-8', { fatal: true }).decode(await one.arrayBuffer());
      setText(read);
      setTitle((before) => before || one.name.slice(0, 200));
      setFault(read.length > MOST ? tooLong(read.length) : null);
    } catch { setFault(t('{name} is no text in UTF-8. Save it as text first.', { name: one.name })); }
  };
  const tooLong = (n: number): string => t('{n} characters; a text has {most} at most. Divide it.', { n: count(n), most: count(MOST) });
  const submit = (): void => {
    if (text.trim() === '') return setFault(file ? t('Choose a file.') : t('Write the text.'));
    if (text.length > MOST) return setFault(tooLong(text.length));
    send.mutate({ path: { id: base }, body: { text, ...(title.trim() ? { title: title.trim() } : {}) } });
  };
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <Heading slot="title" level={2}>{file ? t('Add a text file') : t('Write a text')}</Heading>
      {file && <div className="field"><FileTrigger acceptedFileTypes={['.txt', '.md', '.csv', 'text/plain']} onSelect={(files) => void take(files)}><Button>{t('Choose a file…')}</Button></FileTrigger><span className="hint">{t('.txt, .md or .csv in UTF-8')}</span></div>}
      <TextInput label={t('Title')} value={title} onChange={setTitle} maxLength={200} hint={t('A document with the same title is replaced.')} autoFocus={!file} />
      <TextInput label={t('Text')} lines={file ? 6 : 10} value={text} onChange={(value) => { setText(value); setFault(null); }} fault={fault ?? (send.error?.field === 'text' ? send.error.message : null)} hint={t('Empty lines divide paragraphs; lines that begin with # are headings.')} />
      {send.error && send.error.field !== 'text' && <ErrorNote error={send.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={send.isPending}>{t('Add the text')}</Button></div>
    </Form>
  );
}

function Upload({ base, onClose }: { base: string; onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [missing, setMissing] = useState(false);
  const client = useQueryClient();
  const send = useMutation<Schemas['AddedSource'], ApiError, File>({
    mutationFn: async (chosen) => {
      const form = new FormData();
      form.append('file', chosen);
      return (await operator<Schemas['AddedSourceResponse']>('POST', `/workspaces/${currentScope()?.workspace ?? ''}/knowledge-bases/${base}/files`, { body: form })).data;
    },
    onSuccess: (added) => { void invalidate(client, ['knowledge'], base); toast(added.warning ?? told(added)); onClose(); },
  });
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); if (file) send.mutate(file); else setMissing(true); }}>
      <Heading slot="title" level={2}>{t('Add a file')}</Heading>
      <div className="field"><FileTrigger acceptedFileTypes={['.pdf', '.docx', '.md', '.html', '.csv', '.txt']} onSelect={(files) => { setFile(files?.[0] ?? null); setMissing(false); }}><Button>{t('Choose a file…')}</Button></FileTrigger>
        {file && <p className="row"><b className="cut"><Name>{file.name}</Name></b><span className="meta">{bytes(file.size)}</span></p>}
        <span className="hint">{t('PDF, Word, Markdown, HTML, CSV or text, 20 MB at most. A file of the same name is replaced.')}</span>{missing && <p className="fault" role="alert">{t('Choose a file.')}</p>}</div>
      {send.error && <ErrorNote error={send.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={send.isPending}>{t('Upload and add')}</Button></div>
    </Form>
  );
}

function AddLink({ base, onClose }: { base: string; onClose: () => void }) {
  const [url, setUrl] = useState('');
  const [missing, setMissing] = useState(false);
  const send = useSend('addKnowledgeLink', { alters, done: ({ data }) => { toast(data.warning ?? told(data)); onClose(); } });
  const error = send.error;
  const reason = error?.code === 'link_not_fetched' ? new ApiError({ ...error, message: `${error.message} ${typeof error.meta.reason === 'string' ? `(${error.meta.reason})` : ''}` }) : error;
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); if (url.trim() === '') setMissing(true); else send.mutate({ path: { id: base }, body: { url: url.trim() } }); }}>
      <Heading slot="title" level={2}>{t('Add a page of the web')}</Heading>
      <TextInput label={t('Address')} mono dir="ltr" inputMode="url" value={url} onChange={(value) => { setUrl(value); setMissing(false); }} maxLength={2_048} fault={missing ? t('Write the address of the page.') : error?.field === 'url' ? error.message : null} hint={t('Fetched once, now. The same address again fetches it again.')} autoFocus />
      {reason && error?.field !== 'url' && <ErrorNote error={reason} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={send.isPending}>{t('Fetch and add the page')}</Button></div>
    </Form>
  );
}
