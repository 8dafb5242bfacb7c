import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useOperator, useOperatorSend } from '../api/use-operator.ts';
import { Box, Button, Confirm, ErrorNote, More, Sheet, Shown, Tag, TextInput, count, t, toast } from '../parts/index.ts';
import type { PhoneNumber } from './types.ts';

function NumberForm({ path, row, onClose }: { path: string; row: PhoneNumber | null; onClose: () => void }) {
  const [number, setNumber] = useState('');
  const [carrier, setCarrier] = useState(row?.carrier ?? '');
  const [missing, setMissing] = useState<string | null>(null);
  const save = useOperatorSend<object>((body) => (row ? { method: 'PATCH', path: `${path}/${row.id}`, body } : { method: 'POST', path, body }), { alters: [path], done: () => { toast(row ? t('Changed') : t('The number is assigned')); onClose(); } });
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    if (row) return save.mutate({ carrier: carrier.trim() || null });
    setMissing(number.trim() ? null : t('The number is missing.'));
    if (number.trim()) save.mutate({ number: number.trim(), ...(carrier.trim() ? { carrier: carrier.trim() } : {}) });
  };
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{row ? t('The carrier of {number}', { number: row.number }) : t('Assign a number')}</h2>
      {!row && <TextInput label={t('Number')} value={number} onChange={setNumber} fault={missing ?? (save.error?.field === 'number' ? save.error.message : null)} inputMode="tel" dir="ltr" autoFocus autoComplete="off" />}
      <TextInput label={t('Carrier')} hint={t('As it is named in the settings of the service. Empty: the first one.')} value={carrier} onChange={setCarrier} fault={save.error?.field === 'carrier' ? save.error.message : null} dir="ltr" autoComplete="off" />
      {save.error && save.error.field !== 'number' && save.error.field !== 'carrier' && <ErrorNote error={save.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={save.isPending}>{row ? t('Save') : t('Assign it')}</Button></div>
    </Form>
  );
}

export function NumbersBox({ workspace }: { workspace: string }) {
  const path = `/workspaces/${workspace}/numbers`;
  const numbers = useOperator<{ data: PhoneNumber[] }>(path);
  const [open, setOpen] = useState<PhoneNumber | 'new' | null>(null);
  const [releasing, setReleasing] = useState<PhoneNumber | null>(null);
  const release = useOperatorSend<string>((id) => ({ method: 'DELETE', path: `${path}/${id}` }), { alters: [path], done: () => toast(t('The number is released')) });
  const close = (): void => setOpen(null);
  return (
    <Box title={t('Numbers')} inside={false} extra={<Button small icon={Plus} onPress={() => setOpen('new')}>{t('Assign a number')}</Button>} {...(numbers.data ? { count: count(numbers.data.data.length) } : {})}>
      <Shown of={numbers} what={t('The numbers could not be read.')} rows={2}>
        {({ data }) => (data.length === 0 ? <p className="mid op-pad">{t('Without a number this workspace cannot call.')}</p> : (
          <ul className="op-rows">{data.map((row) => <li key={row.id}><span className="num medium">{row.number}</span>{row.series && <Tag>{t('series {series}', { series: row.series })}</Tag>}<span className="grow dim cut">{row.carrier ?? t('first carrier')}</span>{row.status === 'active' ? <More small label={t('Actions of {name}', { name: row.number })} entries={[{ text: t('Choose the carrier…'), act: () => setOpen(row) }, '-', { text: t('Release…'), danger: true, act: () => setReleasing(row) }]} /> : <Tag>{t('released')}</Tag>}</li>)}</ul>
        ))}
      </Shown>
      <Sheet open={open !== null} onClose={close} label={t('Numbers')}>{open !== null && <NumberForm path={path} row={open === 'new' ? null : open} onClose={close} />}</Sheet>
      <Confirm open={releasing !== null} onClose={() => setReleasing(null)} title={t('Release {number}', { number: releasing?.number ?? '' })} action={t('Release the number')} danger typed={releasing ? { label: t('Type its last four digits'), text: releasing.number.slice(-4) } : undefined} act={() => (releasing ? release.mutateAsync(releasing.id) : Promise.resolve())}><p className="mid">{t('Nobody calls from it any more, and nobody answers it.')}</p></Confirm>
    </Box>
  );
}
