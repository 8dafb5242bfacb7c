import { FileSpreadsheet, RefreshCw, Upload } from 'lucide-react';
import { useCallback, useRef, useState } from 'react';
import { DropZone, FileTrigger, Link } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useRead, useSend, type Schemas } from '../api/index.ts';
import { Bars, Body, Box, Button, Confirm, Empty, ErrorBlock, ErrorNote, Head, Icon, More, Shown, bytes, count, percent, plural, t, toast, useFilters, useKeys, useRaw, when } from '../parts/index.ts';
import { ReadOnlyNote, type PageProps } from '../shell/index.ts';
import { campaignName } from './list-page.tsx';
import { Columns } from './mapping.tsx';
import { useImport, useVariables, type Import } from './import-state.ts';
import type { SheetError } from './sheet/fault.ts';
import { MOST_ROWS } from './sheet/most.ts';
import { useCampaign, useMayEdit } from './queries.ts';
import { StagedRows } from './staged-rows.tsx';
import { Findings, Money, Verdict, When } from './verdict.tsx';
import type { Campaign } from './states.ts';
import './page.css';
import './import.css';

export function Page({ params }: PageProps) {
  const id = params.id ?? '';
  const campaign = useCampaign(id);
  const may = useMayEdit();
  const back = { href: `/campaigns/${id}`, text: campaign.data ? campaignName(campaign.data.data) : t('Campaign') };
  if (!campaign.data || !may) return <><Head back={back} title={t('New list')} /><Body>{may ? <Shown of={campaign} what={t('The campaign could not be read.')}>{() => null}</Shown> : <ReadOnlyNote role="editor" />}</Body></>;
  return <NewList campaign={campaign.data.data} />;
}

function NewList({ campaign }: { campaign: Campaign }) {
  const { id } = campaign;
  const filters = useFilters();
  const [, navigate] = useLocation();
  const list = filters.one('list') || null;
  const { set } = filters;
  const latest = useRef(set);
  latest.current = set;
  const setList = useCallback((next: string | null) => latest.current('list', next, true), []);
  const variables = useVariables(campaign.agentId);
  const work = useImport(id, list, variables, setList);
  const [asking, setAsking] = useState<'apply' | 'discard' | null>(null);
  const [leaving, setLeaving] = useState(false);
  const [missing, setMissing] = useState<string | null>(null);
  const judged = useRead('preflightStagedList', { path: { id, list: list ?? '' } }, { enabled: list !== null && work.phase === 'sent' && !leaving, keep: true });
  const apply = useSend('applyStagedList', { alters: ['getCampaign', 'listCampaignContacts', 'getCampaignSummary'] });
  const discard = useSend('deleteStagedList', { alters: ['listStagedLists'] });
  const raw = useRaw('preflightStagedList', { path: { id, list: list ?? '' } }, judged.data);
  const verdict = list !== null && work.phase === 'sent' ? judged.data?.data : undefined;
  const name = campaignName(campaign);

  const lack = (): string | null => {
    if (campaign.status === 'active') return t('The campaign dials. Pause it first: a list is replaced while nobody is called.');
    if (!verdict) return work.phase === 'map' ? t('Choose the column with the numbers first.') : t('Choose a file first.');
    const stops = verdict.findings.filter((finding) => finding.harm === 'stops').reduce((sum, finding) => sum + finding.count, 0);
    if (stops > 0) return plural(stops, 'Decide about {n} row first.', 'Decide about {n} rows first.');
    return verdict.canApply ? null : t('The list has no rows.');
  };
  /** While the list goes, it is not judged any more. */
  const leave = async <T,>(work: Promise<T>): Promise<T> => {
    setLeaving(true);
    try { return await work; } catch (cause) { setLeaving(false); throw cause; }
  };
  const press = (): void => {
    const lacks = lack();
    setMissing(lacks);
    if (lacks === null) setAsking('apply');
    else requestAnimationFrame(() => { const goal = document.querySelector<HTMLElement>('[data-stops] button, .dropzone button'); goal?.focus(); goal?.scrollIntoView({ block: 'center' }); });
  };
  useKeys(verdict ? [{ key: 'p', text: t('Put in force…'), act: press }] : []);
  return (
    <>
      <Head back={{ href: `/campaigns/${id}`, text: name }} title={t('New list')} sub={<span className="dim wide cut">{t('nothing takes effect before you press “Put in force…”')}</span>}>
        {list && <span className="wide"><Button kind="bare" onPress={() => setAsking('discard')}>{t('Discard')}</Button></span>}
        <Button kind="primary" onPress={press}>{t('Put in force…')}</Button>
        <More entries={[...raw.entries, '-', list !== null && { text: t('Discard'), danger: true, act: () => setAsking('discard') }]} />
      </Head>
      <Body pad={false}>
        <div className="pad pre" data-phase={work.phase} data-judged={verdict ? 'true' : 'false'}>
          <div className="pcol">
            {missing && <div className="note" data-tone="wait" role="alert"><p className="grow">{missing}</p>{campaign.status === 'active' && <Link href={`/campaigns/${id}`} className="link">{t('Go to the campaign')}</Link>}</div>}
            <FileBox work={work} total={verdict?.stagedList.total} expires={verdict?.stagedList.expiresAt} resumed={list !== null && work.file === null} />
            {work.phase === 'choose' && list === null && <Staged campaign={campaign} open={setList} />}
            {work.error && <ErrorNote error={work.error} />}
            {list !== null && work.phase === 'sent' && (judged.error?.status === 404
              ? <Empty title={t('This list is not there any more')} action={<Button onPress={work.reset}>{t('Choose a file')}</Button>}>{t('It took effect, was discarded, or rested for more than an hour.')}</Empty>
              : judged.error && !verdict ? <ErrorBlock what={t('The list could not be judged.')} error={judged.error} again={() => { void judged.refetch(); }} />
                : verdict ? <><Verdict verdict={verdict} /><Findings campaign={campaign} verdict={verdict} work={work} list={list} />{list && <StagedRows campaign={id} list={list} verdict={verdict} edited={work.edited} />}</> : <Bars />)}
          </div>
          <div className="pcol">
            {work.file && work.mapping && <Columns file={work.file} mapping={work.mapping} variables={variables} missing={missingVariables(verdict)} remap={work.remap} busy={work.phase === 'sending' || work.phase === 'reading'} />}
            {verdict && <><When verdict={verdict} campaign={campaign} /><Money verdict={verdict} campaign={id} /></>}
          </div>
        </div>
      </Body>
      {raw.sheet}
      {verdict && list && (
        <Confirm open={asking === 'apply'} onClose={() => setAsking(null)} title={t('Replace the list of {name}', { name })} action={plural(verdict.willCall + verdict.willWait, 'Put {n} person in force', 'Put {n} people in force')}
          act={async () => { const done = (await leave(apply.mutateAsync({ path: { id, list }, body: { expectedRows: verdict.stagedList.total } }))).data; work.reset(); navigate(`/campaigns/${id}/overview`); toast(plural(done.total, 'The list is in force: {n} row', 'The list is in force: {n} rows')); }}>
          <p>{campaign.callingList ? plural(campaign.callingList.total, 'The list of {n} row is replaced in one moment.', 'The list of {n} rows is replaced in one moment.') : t('It becomes the list of the campaign in one moment.')} {campaign.status === 'paused' ? t('Nobody is dialled before it is resumed.') : t('Nobody is dialled before it is launched.')}</p>
          {verdict.willNotCall > 0 && <p className="mid">{plural(verdict.willNotCall, '{n} row stays on the list and is not called.', '{n} rows stay on the list and are not called.')}</p>}
        </Confirm>
      )}
      <Confirm open={asking === 'discard'} onClose={() => setAsking(null)} danger title={t('Discard this list')} action={plural(verdict?.stagedList.total ?? 0, 'Discard {n} row', 'Discard {n} rows')} act={async () => { if (list) await leave(discard.mutateAsync({ path: { id, list } })); work.reset(); setLeaving(false); }}><p>{t('The rows and what you changed in them are lost. The list in force stays as it is.')}</p></Confirm>
    </>
  );
}

const missingVariables = (verdict: Schemas['StagedListPreflight'] | undefined): readonly string[] => (verdict?.findings ?? []).filter((one) => one.code === 'missing_required_variables' && one.column).map((one) => (one.column ?? '').replace(/^variables\./, ''));

const ACCEPTED = ['.csv', '.tsv', '.txt', '.xlsx', 'text/csv', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'];

export function faultWords(fault: SheetError): string {
  switch (fault.fault) {
    case 'not_a_sheet': return t('This is no CSV and no XLSX, or it is damaged.');
    case 'too_large': return t('The file is too large to be read here: at most 100 MB.');
    case 'empty': return t('The file has no rows.');
    case 'too_many_rows': return t('The file has {n} rows; a list takes {most}. Split it, or ask the operator to import it.', { n: count(fault.n), most: count(MOST_ROWS) });
    case 'old_excel': return t('This is the old Excel format (.xls). Save it as .xlsx or CSV.');
  }
}

function FileBox({ work, total, expires, resumed }: { work: Import; total: number | undefined; expires: string | undefined; resumed: boolean }) {
  const choose = (files: FileList | null): void => { const file = files?.[0]; if (file) work.read(file); };
  if (resumed || work.file) {
    const info = work.file?.info;
    return (
      <section className="box">
        <div className="in row filebox">
          <span className="kico"><Icon of={FileSpreadsheet} /></span>
          <div className="grow">
            <p className="medium cut" dir="auto">{work.file ? work.file.name : t('A staged list')}</p>
            <p className="dim num">{info ? [plural(info.rows, '{n} row', '{n} rows'), bytes(work.file?.size ?? 0), info.kind === 'csv' ? info.encoding : info.sheet, t('read here in {ms} ms', { ms: count(info.millis) })].join(' · ') : total === undefined ? '' : plural(total, '{n} row', '{n} rows')}{resumed && expires && <> · {t('kept until {time} IST', { time: when(expires) })}</>}</p>
            {work.phase === 'sending' && <p className="mid num" role="status">{t('Sending to the service: {share}', { share: percent(work.progress, 0) })}</p>}
            <Made work={work} />
          </div>
          <FileTrigger acceptedFileTypes={ACCEPTED} onSelect={choose}><Button small kind="bare" icon={RefreshCw}>{t('Another file')}</Button></FileTrigger>
        </div>
      </section>
    );
  }
  return (
    <DropZone className="dropzone" onDrop={(event) => { const item = event.items.find((one) => one.kind === 'file'); if (item?.kind === 'file') void item.getFile().then(work.read); }}>
      <Icon of={Upload} />
      <h2>{t('A spreadsheet with the people to call')}</h2>
      <p className="mid">{t('CSV or XLSX, up to {most} rows, with a column of numbers. It is read here, and nobody is dialled.', { most: count(MOST_ROWS) })}</p>
      <FileTrigger acceptedFileTypes={ACCEPTED} onSelect={choose}><Button icon={FileSpreadsheet} isPending={work.phase === 'reading'}>{t('Choose a file')}</Button></FileTrigger>
      {work.fault && <p className="fault" role="alert">{faultWords(work.fault)}</p>}
    </DropZone>
  );
}

/** What reading changed, so that nothing happens silently. */
function Made({ work }: { work: Import }) {
  if (!work.made || work.phase !== 'sent') return null;
  const { otherDigits, exponents, cut, leftOut } = work.made;
  const said = [
    otherDigits > 0 && plural(otherDigits, '{n} number in other digits, read as 0 to 9', '{n} numbers in other digits, read as 0 to 9'),
    exponents > 0 && plural(exponents, '{n} number lost digits in a spreadsheet', '{n} numbers lost digits in a spreadsheet'),
    cut > 0 && plural(cut, '{n} name cut to 200 letters', '{n} names cut to 200 letters'),
    leftOut > 0 && plural(leftOut, '{n} row left out', '{n} rows left out'),
  ].filter((one) => one !== false);
  return said.length > 0 ? <p className="mid num" data-made>{said.join(' · ')}</p> : null;
}

/** Lists that were staged before and not put in force. */
function Staged({ campaign, open }: { campaign: Campaign; open: (list: string) => void }) {
  const lists = useRead('listStagedLists', { path: { id: campaign.id } });
  const [, navigate] = useLocation();
  const data = (lists.data?.data ?? []).filter((one) => one.total > 0);
  if (data.length === 0) return null;
  return <Box title={t('Staged before')} inside={false}><ul className="found">{data.map((one) => <li key={one.stagedListId}><span className="num medium">{count(one.total)}</span><span className="mid num">{one.openedAt ? t('from {time} IST', { time: when(one.openedAt) }) : ''} · {t('kept until {time} IST', { time: when(one.expiresAt) })}</span><Button small onPress={() => { open(String(one.stagedListId)); navigate(`/campaigns/${campaign.id}/list/import?list=${one.stagedListId}`); }}>{t('Go on with it')}</Button></li>)}</ul></Box>;
}
