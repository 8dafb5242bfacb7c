import { Download } from 'lucide-react';
import { addressOf, useHasRole, useRead, type Schemas } from '../api/index.ts';
import { ReadOnlyNote } from '../shell/index.ts';
import { Box, Button, Fact, Facts, Icon, Segment, Shown, When, count, indiaDay, t, toast, useFilters } from '../parts/index.ts';
import { CHAINS, Frame } from './frame.tsx';
import { records, useVerified } from './queries.ts';
import { DateRange } from './range.tsx';
import { chainName, type Chain } from './names.ts';

const isChain = (text: string): text is Chain => CHAINS.some((chain) => chain === text);
const copy = (text: string): void => { void navigator.clipboard.writeText(text).then(() => toast(t('Copied'))); };

function ExportForm() {
  const filters = useFilters();
  const verified = useVerified();
  const named = filters.one('chain');
  const chain: Chain = isChain(named) ? named : 'audit';
  const format = filters.one('format') === 'pdf' ? 'pdf' : 'csv';
  const whole = filters.one('dates') !== 'some';
  const { from, to } = { from: filters.one('from') || indiaDay(89), to: filters.one('to') || indiaDay() };
  const query = { chain, format, ...(whole ? {} : { from, to }) } as const;
  const n = records(verified.data, chain);
  const name = `${chain}-${indiaDay()}.${format}`;
  return (
    <Box title={t('Export the log')}>
      <div className="cp-form">
        <div><p className="lab">{t('Chain')}</p><Segment label={t('Chain')} value={chain} onChange={(to) => filters.set('chain', to, true)} items={CHAINS.map((one) => [one, chainName(one)] as const)} /></div>
        <div className="row wrap">
          <div><p className="lab">{t('Records')}</p><div className="row wrap"><Segment label={t('Records')} value={whole ? 'all' : 'some'} onChange={(to) => filters.set('dates', to === 'some' ? 'some' : null, true)} items={[['all', t('Whole chain')], ['some', t('Some days')]]} />{!whole && <DateRange />}</div></div>
          <div><p className="lab">{t('Format')}</p><Segment label={t('Format')} value={format} onChange={(to) => filters.set('format', to, true)} items={[['csv', 'CSV'], ['pdf', 'PDF']]} /></div>
        </div>
        <p className="mid">{whole && n !== undefined ? t('{n} records. The chain is verified first; the file says the result in its last line and is signed.', { n: count(n) }) : t('The chain is verified first; the file says the result in its last line and is signed.')}</p>
        {format === 'csv' && <><p className="mid">{t('Anybody can check it without this service:')}</p><div className="row"><pre className="raw grow" tabIndex={0} translate="no">{`dastak verify-log ${name}`}</pre><Button onPress={() => copy(`dastak verify-log ${name}`)}>{t('Copy')}</Button></div></>}
        <div className="row"><a className="btn pri" href={addressOf('exportLog', { query })} download={name}><Icon of={Download} />{t('Export {file}', { file: name })}</a></div>
      </div>
    </Box>
  );
}

const text = (head: Schemas['LogHead']): string => JSON.stringify(head, null, 2);
function HeadOf({ chain }: { chain: Chain }) {
  const head = useRead('getLogHead', { query: { chain } }, { fresh: 60_000 });
  return (
    <div className="cp-headof">
      <div className="row"><h3 className="grow">{chainName(chain)}</h3>{head.data && <Button small onPress={() => { if (head.data) copy(text(head.data.data)); }}>{t('Copy')}</Button>}</div>
      <Shown of={head} what={t('The head could not be read.')} rows={2}>{({ data }) => <Facts><Fact name={t('Record')}>{count(data.seq)}</Fact><Fact name={t('Hash')}><span className="mono cp-hash">{data.hash}</span></Fact><Fact name={t('Signed')}><When at={data.signedAt} /></Fact><Fact name={t('Signature')}><span className="mono cp-hash">{data.signature}</span></Fact></Facts>}</Shown>
    </div>
  );
}

export function Page() {
  const may = useHasRole('admin');
  return (
    <Frame tab="exports">
      <div className="cp-exports">
        {may ? <ExportForm /> : <ReadOnlyNote role="admin" />}
        <Box title={t('Heads to keep elsewhere')}><p className="mid">{t('A head is the newest record of a chain, signed. Kept outside of this service, it shows later whether the log was cut or rewritten.')}</p><div className="cp-heads">{CHAINS.map((chain) => <HeadOf key={chain} chain={chain} />)}</div></Box>
      </div>
    </Frame>
  );
}
