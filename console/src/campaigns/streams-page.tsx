import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Form, Link } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useRead, useSend, type Schemas } from '../api/index.ts';
import { Button, Empty, ErrorNote, Grid, Head, Name, SelectInput, Sheet, Shown, State, TextInput, When, fixedRows, plural, t, useKeys, type Column } from '../parts/index.ts';
import { useMayEdit } from './queries.ts';
import { OnceToken } from './stream-token.tsx';
import { kindName, streamState } from './stream-states.ts';
import './page.css';

type Stream = Schemas['DataStream'];
const columns = (): readonly Column<Stream>[] => [
  { key: 'name', head: t('Stream'), width: 'minmax(200px, 1.5fr)', cell: (one) => <Link href={`/streams/${one.id}`} className="under medium cut"><Name>{one.name}</Name></Link> },
  { key: 'state', head: t('State'), width: '140px', cell: (one) => <State tone={streamState(one.status).tone}>{streamState(one.status).text}</State> },
  { key: 'kind', head: t('Kind'), width: '180px', cell: (one) => <span className="mid">{kindName(one.kind)}</span> },
  { key: 'error', head: t('Why it stopped'), width: 'minmax(160px, 1fr)', cell: (one) => <span className="mid cut"><Name>{one.lastError ?? ''}</Name></span> },
  { key: 'at', head: t('Changed, IST'), width: '120px', right: true, cell: (one) => <When at={one.updatedAt} /> },
];
const thin = (one: Stream) => <div className="stack tight-rows"><div className="row"><span className="medium grow cut"><Name>{one.name}</Name></span></div><div className="row"><State tone={streamState(one.status).tone}>{streamState(one.status).text}</State><span className="dim cut">{kindName(one.kind)}</span></div></div>;

export function Page() {
  const streams = useRead('listDataStreams', {});
  const may = useMayEdit();
  const [, navigate] = useLocation();
  const [creating, setCreating] = useState(false);
  const start = (): void => setCreating(true);
  useKeys(may ? [{ key: 'n', text: t('New stream'), act: start }] : []);
  const make = may && <Button kind="primary" icon={Plus} keys="N" onPress={start}>{t('New stream')}</Button>;
  return (
    <>
      <Head title={t('Streams')} sub={streams.data && <span className="dim num wide">{plural(streams.data.data.length, '{n} source of people', '{n} sources of people')}</span>}>{streams.data && streams.data.data.length > 0 && make}</Head>
      <Shown of={streams} what={t('The streams could not be read.')}>{({ data }) => (data.length === 0 ? <Empty title={t('No stream yet')} action={make}>{t('A stream puts people on the list as they arrive: from a form, a spreadsheet, or a CRM.')}</Empty> : <Grid label={t('Streams')} rows={fixedRows(data)} columns={columns()} id={(one) => one.id} open={(one) => navigate(`/streams/${one.id}`)} thin={thin} least={800} />)}</Shown>
      <Sheet open={creating} onClose={() => setCreating(false)} label={t('New stream')}><NewStream onClose={() => setCreating(false)} /></Sheet>
    </>
  );
}

function NewStream({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [kind, setKind] = useState<'webhook' | 'api'>('webhook');
  const [missing, setMissing] = useState(false);
  const made = useSend('createDataStream', { alters: ['listDataStreams'] });
  const [, navigate] = useLocation();
  const done = made.data?.data;
  if (done?.token) return <OnceToken token={done.token} address={done.ingestUrl} onClose={() => { onClose(); navigate(`/streams/${done.id}`); }} />;
  const submit = (): void => {
    if (name.trim() === '') return setMissing(true);
    made.mutate({ body: { name: name.trim(), kind } }, { onSuccess: ({ data }) => { if (!data.token) { onClose(); navigate(`/streams/${data.id}`); } } });
  };
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <h2>{t('New stream')}</h2>
      <TextInput label={t('Name')} value={name} onChange={(value) => { setName(value); setMissing(false); }} maxLength={120} fault={missing ? t('Give it a name.') : null} autoFocus />
      <SelectInput label={t('Kind')} value={kind} onChange={setKind} choices={[{ id: 'webhook', text: kindName('webhook') }, { id: 'api', text: kindName('api') }]} hint={t('Spreadsheets and CRMs are connected by the operator.')} />
      {made.error && <ErrorNote error={made.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={made.isPending}>{t('Make the stream')}</Button></div>
    </Form>
  );
}
