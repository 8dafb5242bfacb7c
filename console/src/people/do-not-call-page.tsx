import './page.css';
import { Plus, Search } from 'lucide-react';
import { useState } from 'react';
import { useMay, useRead, useSend, type Schemas } from '../api/index.ts';
import { Bars, Button, Empty, ErrorBlock, ErrorNote, Grid, Head, Sheet, State, TextInput, When, count, plural, t, useKeys, useOffsetRows, type Column } from '../parts/index.ts';
import { PeopleTabs } from './tabs.tsx';

type Entry = Schemas['DoNotCallEntry'];

export function Page() {
  const [adding, setAdding] = useState(false);
  const may = useMay('addDoNotCall');
  const rows = useOffsetRows<Entry>('listDoNotCall', {}, 100);
  useKeys(may ? [{ key: 'n', text: t('Add numbers'), act: () => setAdding(true) }] : []);
  const columns: Column<Entry>[] = [
    { key: 'phone', head: t('Number'), width: '160px', cell: (one) => <Phone one={one} /> },
    { key: 'reason', head: t('Reason'), width: 'minmax(160px, 1fr)', cell: (one) => <span dir="auto" translate="no">{one.reason}</span> },
    { key: 'since', head: t('Since'), width: '150px', right: true, cell: (one) => <When at={one.createdAt} /> },
  ];
  return (
    <>
      <Head title={t('Do not call')} sub={rows.total !== undefined && <span className="dim num">{count(rows.total)}</span>}>{may && <Button kind="primary" icon={Plus} onPress={() => setAdding(true)}>{t('Add numbers')}</Button>}</Head>
      <PeopleTabs at="do-not-call">
        <div className="people">
          <div className="toolbar dnc"><CheckOne /><p className="meta grow">{t('Nobody on this list is called. Only the operator of this installation can lift an entry.')}</p></div>
          {rows.error ? <ErrorBlock what={t('The list could not be read.')} error={rows.error} again={rows.again} />
            : rows.loading ? <Bars />
            : rows.count === 0 ? <Empty title={t('Nobody is on the list')} action={may && <Button icon={Plus} onPress={() => setAdding(true)}>{t('Add numbers')}</Button>}>{t('Who says on a call, in a message or to you that they want no calls stands here.')}</Empty>
            : <Grid label={t('Do not call')} rows={rows} columns={columns} id={(one) => `${one.phone} ${one.createdAt}`} least={520} thin={(one) => <div className="stack thinrow"><div className="row"><span className="grow medium"><Phone one={one} /></span><span className="meta"><When at={one.createdAt} /></span></div><p className="meta cut" dir="auto" translate="no">{one.reason}</p></div>} />}
        </div>
      </PeopleTabs>
      <Sheet open={adding} onClose={() => setAdding(false)} label={t('Add numbers')}><AddForm close={() => setAdding(false)} /></Sheet>
    </>
  );
}

const Phone = ({ one }: { one: Entry }) => (one.phone ? <span className="num">{one.phone}</span> : <span className="dim">{t('erased')}</span>);

/** Whether one number is on the list. The number is no part of the address. */
function CheckOne() {
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const found = useRead('listDoNotCall', { query: { phone: asked, limit: 1 } }, { enabled: asked !== '', fresh: 0 });
  const entry = found.data?.data[0];
  return (
    <form className="check" onSubmit={(event) => { event.preventDefault(); setAsked(text.trim()); }}>
      <TextInput label={t('Check one number')} value={text} onChange={(value) => { setText(value); if (asked !== '') setAsked(''); }} inputMode="tel" fault={found.error ? (found.error.status === 400 ? t('This is no whole number.') : found.error.message) : null} />
      <Button type="submit" icon={Search}>{t('Check')}</Button>
      {asked !== '' && found.data && <p role="status">{entry ? <State tone="rule">{t('On the list')}</State> : <State tone="pass">{t('Not on the list')}</State>}{entry && <span className="meta"> <When at={entry.createdAt} /> · <span dir="auto" translate="no">{entry.reason}</span></span>}</p>}
    </form>
  );
}

function AddForm({ close }: { close: () => void }) {
  const [text, setText] = useState('');
  const [reason, setReason] = useState('');
  const [pressed, setPressed] = useState(false);
  const add = useSend('addDoNotCall', { alters: ['listDoNotCall', 'listContacts', 'getContact'] });
  const phones = text.split(/[\n,;]+/).map((one) => one.trim()).filter((one) => one !== '');
  const fault = phones.length === 0 ? t('Write at least one number.') : phones.length > 1_000 ? t('At most 1,000 numbers at once.') : null;
  const submit = (): void => {
    setPressed(true);
    if (fault === null && reason.trim() !== '') add.mutate({ body: { phones, reason: reason.trim() } });
  };
  if (add.data) {
    const { added, alreadyListed, invalid } = add.data.data;
    return (
      <div className="form">
        <h2>{plural(added, '{n} number is on the list now', '{n} numbers are on the list now')}</h2>
        {alreadyListed > 0 && <p className="mid">{plural(alreadyListed, '{n} was listed before.', '{n} were listed before.')}</p>}
        {invalid.length > 0 && <div className="note" data-tone="bad"><div><p>{plural(invalid.length, '{n} is no number that can be called:', '{n} are no numbers that can be called:')}</p><p className="mono">{invalid.slice(0, 20).join(', ')}</p></div></div>}
        <div className="ends"><Button kind="primary" onPress={close}>{t('Close')}</Button></div>
      </div>
    );
  }
  return (
    <form className="form" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <h2>{t('Add numbers')}</h2>
      <TextInput label={t('Numbers')} value={text} onChange={setText} lines={6} autoFocus hint={t('One a line, or with commas between them.')} fault={pressed ? fault : null} />
      <TextInput label={t('Reason')} value={reason} onChange={setReason} maxLength={500} fault={pressed && reason.trim() === '' ? t('Say why, for who looks later.') : null} />
      <p className="mid">{t('They are not called from now on. Only the operator of this installation can lift an entry.')}</p>
      {add.error && <ErrorNote error={add.error} />}
      <div className="ends"><Button onPress={close}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={add.isPending}>{phones.length > 0 ? plural(phones.length, 'Block {n} number', 'Block {n} numbers') : t('Block numbers')}</Button></div>
    </form>
  );
}
