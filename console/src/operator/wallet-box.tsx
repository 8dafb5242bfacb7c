import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useOperator, useOperatorSend } from '../api/use-operator.ts';
import { Box, Button, ErrorNote, Segment, Sheet, Shown, TextInput, When, count, rupees, t, toast, paise } from '../parts/index.ts';
import type { Line, Workspace } from './types.ts';
import { kindSaid } from './names.ts';

function EntryForm({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const [kind, setKind] = useState<'topup' | 'adjustment'>('topup');
  const [amount, setAmount] = useState('');
  const [reference, setReference] = useState('');
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const book = useOperatorSend<object>((body) => ({ method: 'POST', path: `/workspaces/${workspace.id}/wallet/entries`, body }), { alters: ['/workspaces'], done: () => { toast(t('Booked')); onClose(); } });
  const minor = paise(amount);
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const lacks = {
      ...(minor === null || minor === 0 ? { amount: t('Write an amount in rupees.') } : kind === 'topup' && minor < 0 ? { amount: t('A top-up is more than nothing. A correction may be less.') } : {}), ...(reference.trim() ? {} : { reference: t('Say what it is for.') }),
    };
    setFaults(lacks);
    if (Object.keys(lacks).length === 0) book.mutate({ kind, amountMinor: minor, reference: reference.trim() });
  };
  const says = minor === null || minor === 0 ? t('Book it') : minor > 0 ? t('Add {money}', { money: rupees(minor) }) : t('Take {money} off', { money: rupees(-minor) });
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{t('Book money')}</h2>
      <Segment label={t('Kind')} value={kind} onChange={setKind} items={[['topup', t('Top-up')], ['adjustment', t('Correction')]]} />
      <TextInput label={t('Amount, in rupees')} hint={kind === 'adjustment' ? t('With a minus in front it is taken off.') : undefined} value={amount} onChange={setAmount} fault={faults.amount} inputMode="decimal" dir="ltr" autoFocus />
      <TextInput label={t('Reference')} hint={t('The id of the payment, or why')} value={reference} onChange={setReference} fault={faults.reference ?? (book.error?.field === 'reference' ? book.error.message : null)} autoComplete="off" />
      {book.error && book.error.field !== 'reference' && <ErrorNote error={book.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={book.isPending}>{says}</Button></div>
    </Form>
  );
}

/** The newest lines of the ledger, and booking money. */
export function WalletBox({ workspace }: { workspace: Workspace }) {
  const [open, setOpen] = useState(false);
  const lines = useOperator<{ data: Line[]; total: number }>(`/workspaces/${workspace.id}/wallet/entries`, { query: { limit: 10 }, every: 30_000 });
  return (
    <Box title={t('Ledger')} inside={false} extra={<Button small icon={Plus} onPress={() => setOpen(true)}>{t('Book money')}</Button>} {...(lines.data ? { count: count(lines.data.total) } : {})}>
      <Shown of={lines} what={t('The ledger could not be read.')} rows={3}>
        {({ data }) => (data.length === 0 ? <p className="mid op-pad">{t('Nothing was booked yet.')}</p> : (
          <table className="tbl"><thead><tr><th scope="col">IST</th><th scope="col">{t('What')}</th><th scope="col" className="wide">{t('Reference')}</th><th scope="col" className="r">{t('Amount')}</th></tr></thead>
            <tbody>{data.map((line) => <tr key={line.id}><td className="num"><When at={line.createdAt} /></td><td>{kindSaid(line.kind)}</td><td className="wide op-ref"><bdi dir="auto" translate="no">{line.reference}</bdi></td><td className="r">{line.amountMinor > 0 ? '+' : '−'}{rupees(Math.abs(line.amountMinor))}</td></tr>)}</tbody></table>
        ))}
      </Shown>
      <Sheet open={open} onClose={() => setOpen(false)} label={t('Book money')}><EntryForm workspace={workspace} onClose={() => setOpen(false)} /></Sheet>
    </Box>
  );
}
