import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useOperatorRows, useOperatorSend } from '../api/use-operator.ts';
import { Button, CheckInput, Empty, ErrorNote, Figure, Figures, Finder, Grid, Head, Name, NoMatch, Sheet, State, TextInput, When, count, day, fixedRows, plural, rupees, rupeesWhole, t, toast, useFilters, useKeys, type Column, paise } from '../parts/index.ts';
import { Listed } from '../parts/list.tsx';
import type { Data, Workspace } from './types.ts';
import { stateOf } from './names.ts';
import './page.css';

const PATH = '/workspaces';
const columns = (): readonly Column<Workspace>[] => [
  { key: 'name', head: t('Workspace'), width: 'minmax(200px, 1.4fr)', cell: (row) => <span className="medium"><Name>{row.name}</Name></span> },
  { key: 'state', head: t('State'), width: '150px', cell: (row) => { const { tone, text } = stateOf(row); return <State tone={tone}>{text}</State>; } },
  { key: 'balance', head: t('Balance'), width: '140px', right: true, cell: (row) => rupees(row.balanceMinor) },
  { key: 'held', head: t('Held'), width: '120px', right: true, cell: (row) => <span className="mid">{rupees(row.reservedMinor)}</span> },
  { key: 'price', head: t('A minute'), width: '100px', right: true, cell: (row) => <span className="mid">{rupees(row.costPerMinuteMinor)}</span> },
  { key: 'calls', head: t('Calls at once'), width: '110px', right: true, cell: (row) => <span className="mid">{count(row.limits.concurrentCalls ?? 0)}</span> },
  { key: 'since', head: t('Since'), width: '110px', right: true, cell: (row) => <When at={row.createdAt}>{day(row.createdAt)}</When> },
  { key: 'id', head: t('Id'), width: 'minmax(200px, 1fr)', cell: (row) => <span className="mono dim">{row.id}</span> },
];

function MakeForm({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const [form, setForm] = useState({ name: '', balance: '', price: '' });
  const [verified, setVerified] = useState(false);
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const make = useOperatorSend<object, Data<Workspace>>((body) => ({ method: 'POST', path: PATH, body }), { alters: [PATH], done: ({ data }) => { toast(t('The workspace is made')); onClose(); navigate(`/workspaces/${data.id}`); } });
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const [balance, price] = [form.balance.trim() === '' ? 0 : paise(form.balance), form.price.trim() === '' ? undefined : paise(form.price)];
    const lacks = { ...(form.name.trim() ? {} : { name: t('A workspace needs a name.') }), ...(balance === null || balance < 0 ? { balance: t('Write an amount in rupees, or leave it empty.') } : {}), ...(price === null || (price ?? 0) < 0 ? { price: t('Write an amount in rupees, or leave it empty.') } : {}) };
    setFaults(lacks);
    if (Object.keys(lacks).length === 0) make.mutate({ name: form.name.trim(), kybVerified: verified, balanceMinor: balance, ...(price === undefined ? {} : { costPerMinuteMinor: price }) });
  };
  return (
    <Form className="form" onSubmit={submit}>
      <h2>{t('New workspace')}</h2>
      <TextInput label={t('Name')} value={form.name} onChange={(name) => setForm({ ...form, name })} fault={faults.name} maxLength={120} autoFocus autoComplete="off" />
      <TextInput label={t('First balance, in rupees')} value={form.balance} onChange={(balance) => setForm({ ...form, balance })} fault={faults.balance} inputMode="decimal" dir="ltr" />
      <TextInput label={t('A started minute, in rupees')} hint={t('Empty: ₹6.00')} value={form.price} onChange={(price) => setForm({ ...form, price })} fault={faults.price} inputMode="decimal" dir="ltr" />
      <CheckInput value={verified} onChange={setVerified}>{t('Verified: may place live calls')}</CheckInput>
      {make.error && <ErrorNote error={make.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={make.isPending}>{t('Make the workspace')}</Button></div>
    </Form>
  );
}

export function Page() {
  const filters = useFilters();
  const rows = useOperatorRows<Workspace>(PATH, 200);
  const [making, setMaking] = useState(false);
  const [, navigate] = useLocation();
  const [find, setFind] = useState('');
  useKeys([{ key: 'n', text: t('New workspace'), act: () => setMaking(true) }]);
  const text = find.trim().toLocaleLowerCase('en');
  const found = text === '' ? null : rows.all.filter((one) => one.name.toLocaleLowerCase('en').includes(text) || one.id === text);
  const shown = found ? fixedRows(found) : rows;
  const sum = (value: (one: Workspace) => number): number => rows.all.reduce((total, one) => total + value(one), 0);
  const more = rows.hasMore ? '+' : '';
  const button = <Button kind="primary" icon={Plus} onPress={() => setMaking(true)}>{t('New workspace')}</Button>;
  return (
    <>
      <Head title={t('Workspaces')}>{button}</Head>
      <div className="body op-list">
        <div className="op-top"><Figures>
          <Figure name={t('Workspaces')} value={`${count(rows.all.length)}${more}`} under={rows.hasMore ? t('of those that were read') : t('all')} />
          <Figure name={t('Not verified')} value={count(sum((one) => Number(!one.kybVerified)))} under={t('place no live calls')} />
          <Figure name={t('Suspended')} value={count(sum((one) => Number(one.suspended)))} under={t('every request is refused')} />
          <Figure name={t('Balances')} value={rupeesWhole(sum((one) => one.balanceMinor))} under={t('{money} held by what is on', { money: rupeesWhole(sum((one) => one.reservedMinor)) })} />
        </Figures></div>
        <div className="toolbar"><Finder label={t('Filter workspaces')} placeholder={t('Name or id')} value={find} onChange={setFind} /><span className="dim num">{found ? plural(found.length, '{n} workspace', '{n} workspaces') : ''}</span></div>
        <Listed rows={shown} what={t('The workspaces could not be read.')} none={found ? <NoMatch title={t('No workspaces match.')} clear={() => { setFind(''); filters.clear([]); }} /> : <Empty title={t('No workspace yet')} action={button}>{t('A workspace is a customer of this service, with its own wallet, numbers and members.')}</Empty>}>
          <Grid label={t('Workspaces')} rows={shown} columns={columns()} id={(row) => row.id} open={(row) => navigate(`/workspaces/${row.id}`)} least={1060}
            thin={(row) => { const { tone, text: word } = stateOf(row); return <div className="op-thin"><div className="row"><span className="grow cut medium"><Name>{row.name}</Name></span><span className="num">{rupeesWhole(row.balanceMinor)}</span></div><div className="row"><State tone={tone}>{word}</State><span className="mono dim cut">{row.id}</span></div></div>; }} />
        </Listed>
      </div>
      <Sheet open={making} onClose={() => setMaking(false)} label={t('New workspace')}><MakeForm onClose={() => setMaking(false)} /></Sheet>
    </>
  );
}
