import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Form, Link } from 'react-aria-components';
import { useRead, useSend, type Schemas } from '../api/index.ts';
import { Body, Box, Button, Confirm, Empty, ErrorNote, Fact, Facts, Name, SelectInput, Sheet, Shown, State, SwitchInput, TextInput, When, plural, t, toast } from '../parts/index.ts';
import { useMayEdit } from './queries.ts';
import { kindName, streamState } from './stream-states.ts';
import type { Campaign } from './states.ts';

/** The streams that feed the list of a campaign. */
export function CampaignStreams({ campaign }: { campaign: Campaign }) {
  const attached = useRead('listCampaignStreams', { path: { id: campaign.id } });
  const may = useMayEdit() && campaign.status !== 'completed' && campaign.status !== 'archived';
  const [adding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<Schemas['AttachedStream'] | null>(null);
  const detach = useSend('detachStream', { alters: ['listCampaignStreams', 'listDataStreams'] });
  const add = may && <Button icon={Plus} onPress={() => setAdding(true)}>{t('Attach a stream…')}</Button>;
  return (
    <Body>
      <Shown of={attached} what={t('The streams could not be read.')} rows={3}>
        {({ data }) => (data.length === 0 ? <Empty title={t('No stream feeds this list')} action={add}>{t('A stream puts people on the list as they arrive: from a form, a spreadsheet, or a CRM.')}</Empty> : (
          <>
            {data.map((stream) => (
              <Box key={stream.streamId} title={<Link href={`/streams/${stream.streamId}`} className="under"><Name>{stream.name}</Name></Link>} extra={<><State tone={streamState(stream.status).tone}>{streamState(stream.status).text}</State>{may && <Button small kind="bare" onPress={() => setLeaving(stream)}>{t('Detach…')}</Button>}</>}>
                <Facts>
                  <Fact name={t('Kind')}>{kindName(stream.kind)}</Fact>
                  <Fact name={t('Since')}><When at={stream.attachedAt} /></Fact>
                  <Fact name={t('Values')}>{Object.keys(stream.variableMapping).length === 0 ? t('none') : <ul>{Object.entries(stream.variableMapping).map(([variable, field]) => <li key={variable}><Name>{variable}</Name> ← <Name>{String(field)}</Name></li>)}</ul>}</Fact>
                  {stream.backfillDays > 0 && <Fact name={t('Earlier records')}>{plural(stream.backfillDays, 'of {n} day', 'of {n} days')}</Fact>}
                </Facts>
              </Box>
            ))}
            {add && <div className="row">{add}</div>}
          </>
        ))}
      </Shown>
      <Sheet open={adding} onClose={() => setAdding(false)} label={t('Attach a stream')}><Attach campaign={campaign} taken={attached.data?.data ?? []} onClose={() => setAdding(false)} /></Sheet>
      <Confirm open={leaving !== null} onClose={() => setLeaving(null)} title={t('Detach {name}', { name: leaving?.name ?? '' })} action={t('Detach the stream')} act={async () => { if (leaving) await detach.mutateAsync({ path: { id: campaign.id, streamId: leaving.streamId } }); }}><p>{t('New records do not come to this list any more. Who is on it stays.')}</p></Confirm>
    </Body>
  );
}

function Attach({ campaign, taken, onClose }: { campaign: Campaign; taken: readonly Schemas['AttachedStream'][]; onClose: () => void }) {
  const streams = useRead('listDataStreams', {});
  const [stream, setStream] = useState<string | null>(null);
  const [mapping, setMapping] = useState('');
  const [days, setDays] = useState('0');
  const [script, setScript] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const attach = useSend('attachStream', { alters: ['listCampaignStreams', 'getCampaign'], done: (answer) => { toast(plural(answer.data.backfilled, 'Attached, {n} earlier record is on the list', 'Attached, {n} earlier records are on the list')); onClose(); } });
  const choices = (streams.data?.data ?? []).filter((one) => !taken.some((other) => other.streamId === one.id)).map((one) => ({ id: one.id, text: one.name }));
  const pairs = mapping.split('\n').map((line) => line.split('=').map((side) => side.trim())).filter(([variable]) => variable);
  const submit = (): void => {
    if (!stream) return setFault(t('Choose a stream.'));
    attach.mutate({ path: { id: campaign.id, streamId: stream }, body: { variableMapping: Object.fromEntries(pairs.map(([variable = '', field = '']) => [variable, field])), backfillDays: Number(days) || 0, transliterate: script } });
  };
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <h2>{t('Attach a stream')}</h2>
      <SelectInput label={t('Stream')} value={stream} onChange={(id) => { setStream(id); setFault(null); }} choices={choices} fault={fault} hint={streams.data && choices.length === 0 ? t('There is no other stream.') : undefined} />
      <TextInput label={t('Values for the flow')} lines={3} mono value={mapping} onChange={setMapping} hint={t('A line each: variable = field of the record')} fault={attach.error?.code === 'missing_required_variables' ? attach.error.message : null} />
      <TextInput label={t('Days of earlier records')} value={days} onChange={setDays} inputMode="numeric" hint={t('0 to 90')} fault={attach.error?.field === 'backfillDays' ? attach.error.message : null} />
      <SwitchInput value={script} onChange={setScript}>{t('Write names in the script of the agent’s language')}</SwitchInput>
      {attach.error && attach.error.code !== 'missing_required_variables' && <ErrorNote error={attach.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={attach.isPending}>{t('Attach')}</Button></div>
    </Form>
  );
}
