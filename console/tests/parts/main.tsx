// The parts by themselves, for their tests. It is no part of the console.
import '../../src/parts/tokens.css';
import '../../src/parts/base.css';
import '../../src/parts/parts.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { I18nProvider } from 'react-aria-components';
import { ApiError, queries } from '../../src/api/index.ts';
import { Button, Confirm, Dates, ErrorBlock, Facet, Grid, Head, More, Tabs, indiaDay, setLanguage, t, toast, useFilters, useLanguage, type Column, type Rows } from '../../src/parts/index.ts';
import { Toasts } from '../../src/parts/toast.tsx';

interface Row { readonly id: string; readonly name: string; readonly at: number }
const COUNT = 312_406;
const NAMES = ['Sunita Devi', 'रोहित वर्मा', 'Imran Sheikh', '<b>markup</b>'];
const rows: Rows<Row> = {
  count: COUNT, exact: true, at: (index) => ({ id: `row_${index}`, name: NAMES[index % NAMES.length] ?? '', at: index }), want: (first, last) => { document.documentElement.dataset.window = `${first}-${last}`; },
  error: null, loading: false, again: () => undefined,
};
const columns: readonly Column<Row>[] = [
  { key: 'name', head: 'Name', width: 'minmax(200px, 1fr)', cell: (row) => row.name },
  { key: 'at', head: 'Row', width: '120px', right: true, cell: (row) => row.at },
];

function Parts() {
  const language = useLanguage();
  const filters = useFilters();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [opened, setOpened] = useState('');
  const [asks, setAsks] = useState(false);
  const [erased, setErased] = useState(0);
  const [tab, setTab] = useState('one');
  const [range, setRange] = useState({ start: indiaDay(6), end: indiaDay() });
  const erase = async (): Promise<void> => {
    if (erased === 0) { setErased(1); throw new ApiError({ status: 503, code: 'unavailable', message: 'busy', requestId: 'req_test0000000000000000' }); }
    setErased(2);
    toast('Erased', { undo: () => setErased(9) });
  };
  return (
    <I18nProvider locale={language === 'hi' ? 'hi-IN' : 'en-IN'}>
      <main className="panel-main" style={{ height: "100dvh" }} key={language} data-opened={opened} data-picked={[...picked].join(' ')} data-erased={erased}>
        <Head title="Parts">
          <Button onPress={() => void setLanguage('hi')}>Hindi</Button>
          <Button kind="danger" onPress={() => setAsks(true)}>Erase…</Button>
          <More entries={[{ text: 'One', act: () => setOpened('menu') }, '-', { text: 'Two', danger: true, act: () => undefined }]} />
        </Head>
        <div className="toolbar"><div className="facets"><Dates value={range} onChange={setRange} /><Facet name="State" items={[{ id: 'ended', text: 'Ended', count: 122_806 }, { id: 'busy', text: 'Busy', count: 3 }]} on={filters.all('state')} set={(values) => filters.set('state', values)} /></div></div>
        <Tabs label="Tabs" value={tab} onChange={setTab} items={[{ id: 'one', text: 'Rows', count: '3,12,406' }, { id: 'two', text: 'Failure' }]}>
          {tab === 'one' ? <Grid label="Rows" rows={rows} columns={columns} id={(row) => row.id} open={(row) => setOpened(row.id)} selected={picked} onSelect={setPicked} thin={(row) => <span>{row.name} {row.at}</span>} />
            : <ErrorBlock what="The rows could not be read." error={new ApiError({ status: 500, code: 'internal_error', message: '', requestId: 'req_test0000000000000001' })} again={() => setTab('one')} />}
        </Tabs>
        <Confirm open={asks} onClose={() => setAsks(false)} title="Erase this person?" action="Erase this person" danger typed={{ label: 'The last four digits', text: '5678' }} act={erase}><p>{t('Nothing needs you.')}</p></Confirm>
      </main>
      <Toasts />
    </I18nProvider>
  );
}

const root = document.getElementById('root');
if (root) createRoot(root).render(<QueryClientProvider client={queries}><Parts /></QueryClientProvider>);
