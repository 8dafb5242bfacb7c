import './page.css';
import { Plus } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { useLocation } from 'wouter';
import { useMay, type Schemas } from '../api/index.ts';
import { Bars, Button, Empty, ErrorBlock, Finder, Grid, Head, Name, NoMatch, Sheet, State, When, fixedRows, t, useCursorRows, useKeys, type Column, type Rows } from '../parts/index.ts';
import { useCommands } from '../shell/index.ts';
import { PersonForm } from './person-form.tsx';
import { languageName, useFound, type Contact } from './queries.ts';
import { PeopleTabs } from './tabs.tsx';

/** What was searched last. It is no part of the address: that would hold a name or a number. */
let searched = '';

export function Page() {
  const [text, setText] = useState(searched);
  const [form, setForm] = useState(false);
  const [, navigate] = useLocation();
  const may = useMay('upsertContact');
  const q = useDeferredValue(text.trim());
  const search = (to: string): void => { searched = to; setText(to); };
  useKeys(may ? [{ key: 'n', text: t('Add a person'), act: () => setForm(true) }] : []);
  useCommands(may ? [{ id: 'person', text: t('Add a person…'), act: () => setForm(true) }] : []);
  return (
    <>
      <Head title={t('Contacts')}>{may && <Button kind="primary" icon={Plus} onPress={() => setForm(true)}>{t('Add a person')}</Button>}</Head>
      <PeopleTabs at="contacts">
        <div className="people">
          <div className="toolbar"><Finder label={t('Search')} value={text} onChange={search} placeholder={t('Name, reference or whole number')} /></div>
          {q === '' ? <Everybody add={may ? () => setForm(true) : null} /> : <Found q={q} clear={() => search('')} />}
        </div>
      </PeopleTabs>
      <Sheet open={form} onClose={() => setForm(false)} label={t('Add a person')}><PersonForm person={null} close={() => setForm(false)} done={(id) => navigate(`/contacts/${id}`)} /></Sheet>
    </>
  );
}

function Everybody({ add }: { add: (() => void) | null }) {
  const rows = useCursorRows<Contact>('listContacts', {}, 100);
  const [, navigate] = useLocation();
  if (rows.error && rows.all.length === 0) return <ErrorBlock what={t('The contacts could not be read.')} error={rows.error} again={rows.again} />;
  if (rows.loading) return <Bars />;
  if (rows.all.length === 0) return <Empty title={t('Nobody is here yet')} action={add && <Button icon={Plus} onPress={add}>{t('Add a person')}</Button>}>{t('People come here with a list, a call, a message, or by hand.')}</Empty>;
  return <PeopleGrid rows={rows} open={(one) => navigate(`/contacts/${one.id}`)} />;
}

function PeopleGrid({ rows, open }: { rows: Rows<Contact>; open: (one: Contact) => void }) {
  const columns: Column<Contact>[] = [
    { key: 'name', head: t('Name'), width: 'minmax(140px, 2fr)', cell: (one) => <span className="medium"><PersonName one={one} /></span> },
    { key: 'phone', head: t('Number'), width: '128px', cell: (one) => (one.phone ? <span className="num">{one.phone}</span> : <span className="dim">{t('none')}</span>) },
    { key: 'reference', head: t('Reference'), width: 'minmax(100px, 1fr)', cell: (one) => <span className="mono" dir="auto">{one.externalRef ?? ''}</span> },
    { key: 'language', head: t('Language'), width: '92px', cell: (one) => languageName(one.preferredLanguage) },
    { key: 'calls', head: t('Calls'), width: '156px', cell: (one) => <Reach one={one} /> },
    { key: 'last', head: t('Last contact'), width: '132px', right: true, cell: (one) => (one.lastContactAt ? <When at={one.lastContactAt} /> : <span className="dim">{t('never')}</span>) },
  ];
  return <Grid label={t('Contacts')} rows={rows} columns={columns} id={(one) => one.id} open={open} least={880} thin={(one) => (
    <div className="stack thinrow"><div className="row"><span className="medium cut grow"><PersonName one={one} /></span>{one.lastContactAt && <span className="meta"><When at={one.lastContactAt} /></span>}</div><div className="row meta"><span className="num grow">{one.phone ?? t('no number')}</span><Reach one={one} /></div></div>
  )} />;
}

const PersonName = ({ one }: { one: Contact }) => (one.name ? <Name>{one.name}</Name> : one.chatappUsername ? <Name>{one.chatappUsername}</Name> : <span className="dim">{t('No name')}</span>);
function Reach({ one }: { one: Contact }) {
  if (one.optOut) return <State tone="rule">{t('Opted out')}</State>;
  if (one.dnd) return <State tone="rule">{t('On the registry')}</State>;
  return <span className="dim">{t('allowed')}</span>;
}

type FoundItem = Schemas['FoundItem'];
function Found({ q, clear }: { q: string; clear: () => void }) {
  const found = useFound(q);
  const [, navigate] = useLocation();
  if (found.error) return <ErrorBlock what={t('The search could not be done.')} error={found.error} again={() => { void found.refetch(); }} />;
  if (!found.data) return <Bars rows={3} />;
  const people = found.data.data.filter((one) => one.type === 'contact');
  if (people.length === 0) return <NoMatch title={t('Nobody matches.')} clear={clear} />;
  const columns: Column<FoundItem>[] = [
    { key: 'name', head: t('Name'), width: 'minmax(140px, 2fr)', cell: (one) => <span className="medium"><Title one={one} /></span> },
    { key: 'reference', head: t('Reference'), width: 'minmax(100px, 1fr)', cell: (one) => <span className="mono" dir="auto">{one.subtitle ?? ''}</span> },
    { key: 'since', head: t('Known since'), width: '140px', right: true, cell: (one) => <When at={one.at} /> },
  ];
  return <Grid label={t('Found')} rows={fixedRows(people)} columns={columns} id={(one) => one.id} open={(one) => navigate(`/contacts/${one.id}`)} thin={(one) => (
    <div className="stack thinrow"><span className="medium cut"><Title one={one} /></span><div className="row meta"><span className="mono grow cut">{one.subtitle ?? ''}</span><When at={one.at} /></div></div>
  )} />;
}
const Title = ({ one }: { one: FoundItem }) => (one.title === one.id ? <span className="dim">{t('No name')}</span> : <Name>{one.title}</Name>);
