import { Pause, Play } from 'lucide-react';
import { useInfiniteQuery, type InfiniteData } from '@tanstack/react-query';
import { useState } from 'react';
import { Form, Link } from 'react-aria-components';
import { useLocation } from 'wouter';
import { ApiError, callIn, currentScope, scopeKey, useRead, useSend, type Schemas } from '../api/index.ts';
import { Bars, Body, Box, Button, Confirm, Empty, ErrorBlock, ErrorNote, Fact, Facts, Head, More, Name, Sheet, Shown, State, Tag, TextInput, When, plural, t, toast, useRaw } from '../parts/index.ts';
import { ReadOnlyNote, type PageProps } from '../shell/index.ts';
import { useIsAdmin, useMayEdit } from './queries.ts';
import { campaignState } from './states.ts';
import { OnceToken } from './stream-token.tsx';
import { kindName, rejectedWords, streamState } from './stream-states.ts';
import './page.css';

type Detail = Schemas['DataStreamDetail'];
type RecordPage = Schemas['StreamRecordPage'];

export function Page({ params }: PageProps) {
  const id = params.id ?? '';
  const stream = useRead('getDataStream', { path: { id } });
  const one = stream.data?.data;
  const [asking, setAsking] = useState<'rotate' | 'delete' | null>(null);
  const [token, setToken] = useState<Schemas['DataStreamToken'] | null>(null);
  const [may, admin] = [useMayEdit(), useIsAdmin()];
  const change = useSend('updateDataStream', { alters: ['getDataStream', 'listDataStreams'] });
  const rotate = useSend('rotateDataStreamToken');
  const remove = useSend('deleteDataStream', { alters: ['listDataStreams'] });
  const [, navigate] = useLocation();
  const raw = useRaw('getDataStream', { path: { id } }, stream.data);
  const set = (status: 'active' | 'paused'): void => change.mutate({ path: { id }, body: { status } }, { onSuccess: () => toast(status === 'paused' ? t('Paused. Records are refused until it goes on.') : t('Takes records again')) });
  return (
    <>
      <Head back={{ href: '/streams', text: t('Streams') }} title={one?.name ?? t('Stream')} mark={one && <State tone={streamState(one.status).tone}>{streamState(one.status).text}</State>} sub={one && <span className="dim wide">{kindName(one.kind)}</span>}>
        {may && one && (one.status === 'active' ? <Button icon={Pause} onPress={() => set('paused')} isPending={change.isPending}>{t('Pause')}</Button> : <Button kind="primary" icon={Play} onPress={() => set('active')} isPending={change.isPending}>{t('Take records again')}</Button>)}
        <More entries={[admin && one?.kind === 'webhook' && { text: t('New token…'), act: () => setAsking('rotate') }, ...raw.entries, '-', admin && one !== undefined && { text: t('Delete…'), danger: true, act: () => setAsking('delete') }]} />
      </Head>
      {change.error && <div className="band"><ErrorNote error={change.error} /></div>}
      <Body><Shown of={stream} what={t('The stream could not be read.')}>{({ data }) => <Stream stream={data} may={may} />}</Shown></Body>
      {raw.sheet}
      <Confirm open={asking === 'rotate'} onClose={() => setAsking(null)} danger title={t('A new token for {name}', { name: one?.name ?? '' })} action={t('Replace the token')} act={async () => { setToken((await rotate.mutateAsync({ path: { id } })).data); }}><p>{t('The old token stops at once: who still sends with it is refused.')}</p></Confirm>
      <Confirm open={asking === 'delete'} onClose={() => setAsking(null)} danger title={t('Delete {name}', { name: one?.name ?? '' })} typed={{ label: t('Last four characters of its id: {four}', { four: id.slice(-4) }), text: id.slice(-4) }} action={plural(one?.campaigns.length ?? 0, 'Delete it and take it from {n} campaign', 'Delete it and take it from {n} campaigns')} act={async () => { await remove.mutateAsync({ path: { id } }); navigate('/streams', { replace: true }); }}><p>{t('People whom it put on lists stay there. Its records go within a day.')}</p></Confirm>
      <Sheet open={token !== null} onClose={() => setToken(null)} fixed label={t('The new token')}>{token && <OnceToken token={token.token} address={token.ingestUrl} onClose={() => setToken(null)} />}</Sheet>
    </>
  );
}

/** Records, newest first; a page may be empty after a full one. */
function useRecords(id: string) {
  const scope = currentScope();
  return useInfiniteQuery<RecordPage, ApiError, InfiniteData<RecordPage>, readonly unknown[], string | undefined>({
    queryKey: [scopeKey(scope), 'listStreamRecords', { path: { id } }], initialPageParam: undefined, getNextPageParam: (page) => page.nextBefore ?? undefined,
    queryFn: ({ pageParam, signal }) => callIn(scope, 'listStreamRecords', { path: { id }, query: { limit: 50, ...(pageParam ? { before: pageParam } : {}) }, signal }),
  });
}

function Stream({ stream, may }: { stream: Detail; may: boolean }) {
  const records = useRecords(stream.id);
  const all = records.data?.pages.flatMap((page) => page.data) ?? [];
  const sample = all.find((record) => record.status === 'accepted' && record.payload) ?? all.find((record) => record.payload) ?? null;
  return (
    <>
      {stream.lastError && <div className="note" data-tone="bad"><p dir="auto">{stream.lastError}</p></div>}
      <div className="cgrid">
        <Mapping key={stream.updatedAt} stream={stream} may={may} sample={sample} />
        <Box title={t('Where people go')}>
          {stream.ingestUrl && <Facts><Fact name={t('Address')}><span className="mono" dir="ltr">{stream.ingestUrl}</span></Fact></Facts>}
          {stream.campaigns.length === 0 ? <p className="mid">{t('To no campaign yet. Attach it in the Streams tab of a campaign.')}</p> : <ul className="stack">{stream.campaigns.map((one) => <li key={one.campaignId} className="row"><Link href={`/campaigns/${one.campaignId}/streams`} className="link"><Name>{one.name}</Name></Link><State tone={campaignState(one.status).tone}>{campaignState(one.status).text}</State></li>)}</ul>}
        </Box>
      </div>
      <Box title={t('Records')} inside={false}>
        {records.error && all.length === 0 ? <ErrorBlock what={t('The records could not be read.')} error={records.error} again={() => { void records.refetch(); }} /> : records.isPending ? <Bars rows={3} /> : all.length === 0 ? <Empty title={t('No record yet')}>{t('What is sent to the stream comes here, and what could not be called says why.')}</Empty> : (
          <div className="over" tabIndex={0} role="region" aria-label={t('Records')}>
            <table className="tbl">
              <thead><tr><th>{t('Came, IST')}</th><th>{t('Person')}</th><th>{t('Number')}</th><th>{t('State')}</th><th>{t('On the list of')}</th></tr></thead>
              <tbody>{all.map((record) => <tr key={record.id} data-record={record.status}><td><When at={record.receivedAt} /></td><td className="namecell"><Name>{record.name ?? '–'}</Name></td><td className="num"><span dir="ltr">{record.phone ?? '–'}</span></td><td><State tone={record.status === 'accepted' ? 'pass' : 'bad'}>{record.status === 'accepted' ? t('Accepted') : rejectedWords(record.reason)}</State></td><td className="num mid">{plural(record.campaigns.length, '{n} campaign', '{n} campaigns')}</td></tr>)}</tbody>
            </table>
          </div>
        )}
        {records.hasNextPage && <div className="in"><Button small onPress={() => { void records.fetchNextPage(); }} isPending={records.isFetchingNextPage}>{t('Earlier records')}</Button></div>}
      </Box>
    </>
  );
}

const FIELDS = ['phone', 'name', 'externalId'] as const;
type Field = (typeof FIELDS)[number];
const fieldName = (field: Field): string => (field === 'phone' ? t('Number') : field === 'name' ? t('Name') : t('Own id'));

/** Which fields of a record are its number, name and id, shown on a real record. */
function Mapping({ stream, may, sample }: { stream: Detail; may: boolean; sample: Schemas['StreamRecord'] | null }) {
  const [form, setForm] = useState<Readonly<Record<Field, string>>>({ phone: stream.fieldMap.phone ?? '', name: stream.fieldMap.name ?? '', externalId: stream.fieldMap.externalId ?? '' });
  const save = useSend('updateDataStream', { alters: ['getDataStream'], done: () => toast(t('Saved')) });
  const payload = Object.entries(sample?.payload ?? {});
  return (
    <Box title={t('Mapping')} extra={sample && <Tag tone="info">{t('sample')}</Tag>}>
      <Form className="fields" onSubmit={(event) => { event.preventDefault(); save.mutate({ path: { id: stream.id }, body: { fieldMap: { phone: form.phone.trim() || null, name: form.name.trim() || null, externalId: form.externalId.trim() || null } } }); }}>
        {FIELDS.map((field) => (may
          ? <TextInput key={field} label={fieldName(field)} mono value={form[field]} onChange={(value) => setForm((before) => ({ ...before, [field]: value }))} placeholder={t('the field that fits best')} hint={form[field] && sample ? <Name>{String(sample.payload?.[form[field].trim()] ?? t('not in the sample'))}</Name> : undefined} fault={save.error?.field === `fieldMap.${field}` ? save.error.message : null} maxLength={200} />
          : <Facts key={field}><Fact name={fieldName(field)}><span className="mono">{stream.fieldMap[field] ?? t('the field that fits best')}</span></Fact></Facts>))}
        {save.error && !save.error.field?.startsWith('fieldMap.') && <ErrorNote error={save.error} />}
        {may ? <div className="row"><Button type="submit" isPending={save.isPending}>{t('Save the mapping')}</Button></div> : <ReadOnlyNote role="editor" />}
      </Form>
      {payload.length > 0 && <div className="samplebox"><Facts>{payload.slice(0, 30).map(([field, value]) => <Fact key={field} name={<span className="mono">{field}</span>}>{String(value)}</Fact>)}</Facts></div>}
    </Box>
  );
}
