import { useState } from 'react';
import { Form, Link } from 'react-aria-components';
import { currentScope, useHasRole, useRead, useSend, type Schemas } from '../api/index.ts';
import { exists } from '../shell/index.ts';
import { Body, Box, Button, Empty, ErrorNote, Figure, Figures, Grid, More, Shown, TextInput, When, count, day, plural, relative, rupees, rupeesWhole, t, toast, useOffsetRows, useRaw, type Column, paise } from '../parts/index.ts';
import { Listed } from '../parts/list.tsx';
import { Frame } from './frame.tsx';

type Line = Schemas['WalletTransaction'];
const HOUR = 3_600_000;
const DAYS = 7;

function kindSaid(kind: string): string {
  switch (kind) {
    case 'signup_grant': return t('First balance');
    case 'topup': return t('Top-up');
    case 'adjustment': return t('Correction');
    case 'call_charge': return t('Call');
    case 'chat_charge': return t('Chat');
    case 'evaluation_charge': return t('Grading');
    default: return kind;
  }
}

/** The page of what was charged, if there is one. */
function Reference({ line }: { line: Line }) {
  const id = line.reference.split(':')[0] ?? '';
  const leg = line.reference.includes(':transfer') ? ` · ${t('transfer')}` : '';
  const href = id.startsWith('call_') && exists('calls') ? `/calls/${id}` : id.startsWith('chatsess_') && exists('inbox') ? `/inbox/${id}` : null;
  return href ? <Link href={href} className="link under mono">{id}{leg}</Link> : <bdi dir="auto" translate="no" className={/^[a-z]+_\w+$/.test(id) ? 'mono' : ''}>{line.reference}</bdi>;
}

/** What was charged an hour, over the last 7 days or as far as the newest 200 lines reach. */
export function paceOf(lines: readonly Line[], now: number): { perHour: number; hours: number } | null {
  const charges = lines.filter((line) => line.kind.endsWith('_charge') && now - Date.parse(line.createdAt) <= DAYS * 24 * HOUR);
  const oldest = charges.at(-1);
  if (!oldest) return null;
  const hours = Math.max(1, (now - Date.parse(oldest.createdAt)) / HOUR);
  return { perHour: -charges.reduce((sum, line) => sum + line.amountMinor, 0) / hours, hours };
}

function Threshold({ workspace }: { workspace: Schemas['Workspace'] }) {
  const may = useHasRole('admin');
  const [rupeesText, setText] = useState(workspace.lowBalanceMinor === null ? '' : String(workspace.lowBalanceMinor / 100));
  const [fault, setFault] = useState<string | null>(null);
  const save = useSend('updateOwnWorkspace', { alters: ['getOwnWorkspace'], done: () => toast(t('Changed')) });
  const usual = rupees(workspace.costPerMinuteMinor * 30);
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    const empty = rupeesText.trim() === '';
    const value = paise(rupeesText);
    const wrong = !empty && (value === null || value < 0);
    setFault(wrong ? t('Write an amount in rupees, or leave it empty.') : null);
    if (!wrong) save.mutate({ body: { lowBalanceMinor: value } });
  };
  if (!may) return <p className="mid">{workspace.lowBalanceMinor === null ? t('Warns below the price of 30 minutes, {money}.', { money: usual }) : t('Warns below {money}.', { money: rupees(workspace.lowBalanceMinor) })}</p>;
  return (
    <Form className="se-inline" onSubmit={submit}>
      <div className="grow"><TextInput label={t('Warn below, in rupees')} hint={t('Empty: the price of 30 minutes, {money}', { money: usual })} value={rupeesText} onChange={setText} fault={fault} inputMode="decimal" dir="ltr" /></div>
      <Button type="submit" isPending={save.isPending}>{t('Save')}</Button>
      {save.error && <ErrorNote error={save.error} />}
    </Form>
  );
}

function Summary({ workspace }: { workspace: Schemas['Workspace'] }) {
  const lines = useRead('listWalletTransactions', { query: { limit: 200 } }, { every: 30_000 });
  const now = Date.now();
  const pace = lines.data ? paceOf(lines.data.data, now) : null;
  const free = Math.max(0, workspace.balanceMinor - workspace.reservedMinor);
  const minutes = workspace.costPerMinuteMinor > 0 ? Math.floor(free / workspace.costPerMinuteMinor) : null;
  const lasts = pace && pace.perHour > 0 ? now + (free / pace.perHour) * HOUR : null;
  const far = lasts !== null && lasts - now > 365 * 24 * HOUR;
  const over = pace ? (pace.hours < 36 ? plural(Math.round(pace.hours), 'over the last {n} hour', 'over the last {n} hours') : plural(Math.round(pace.hours / 24), 'over the last {n} day', 'over the last {n} days')) : t('nothing was charged in 7 days');
  return (
    <Figures>
      <Figure name={t('Balance')} value={<span data-balance>{rupeesWhole(workspace.balanceMinor)}</span>} under={minutes === null ? t('a minute costs nothing') : plural(minutes, '{n} minute of talk', '{n} minutes of talk')} />
      <Figure name={t('Held')} value={rupeesWhole(workspace.reservedMinor)} under={t('by calls and chats that are on')} />
      <Figure name={t('Pace')} value={pace ? rupeesWhole(pace.perHour) : '–'} {...(pace ? { unit: t('an hour') } : {})} under={over} />
      <Figure name={t('Lasts until')} value={lasts === null ? '–' : far ? t('over a year') : day(lasts)} under={lasts === null ? t('unknown without a pace') : far ? t('at this pace') : t('{when}, at this pace', { when: relative(lasts) })} />
    </Figures>
  );
}

const columns = (): readonly Column<Line>[] => [
  { key: 'at', head: 'IST', width: '116px', right: true, cell: (row) => <When at={row.createdAt} /> },
  { key: 'kind', head: t('What'), width: '140px', cell: (row) => kindSaid(row.kind) },
  { key: 'reference', head: t('For'), width: 'minmax(220px, 1fr)', cell: (row) => <Reference line={row} /> },
  { key: 'amount', head: t('Amount'), width: '130px', right: true, cell: (row) => <span className={row.amountMinor > 0 ? 'strong' : ''}>{row.amountMinor > 0 ? '+' : '−'}{rupees(Math.abs(row.amountMinor))}</span> },
  { key: 'after', head: t('Balance after'), width: '140px', right: true, cell: (row) => <span className="mid">{rupees(row.balanceAfterMinor)}</span> },
];

function Ledger() {
  const rows = useOffsetRows<Line>('listWalletTransactions', {});
  return (
    <section className="box se-ledger">
      <header><h2>{t('Ledger')}</h2>{rows.total !== undefined && <span className="dim num">{count(rows.total)}</span>}<span className="grow" /><span className="meta">IST</span></header>
      <Listed rows={rows} what={t('The ledger could not be read.')} none={<Empty title={t('Nothing was booked yet')}>{t('Each charge, top-up and correction is a line here. Lines are never changed.')}</Empty>}>
        <Grid label={t('Ledger')} rows={rows} columns={columns()} id={(row) => row.id} thin={(row) => <div className="se-thin"><div className="row"><span className="grow">{kindSaid(row.kind)}</span><span className="num medium">{row.amountMinor > 0 ? '+' : '−'}{rupees(Math.abs(row.amountMinor))}</span></div><div className="row meta"><span className="grow cut"><When at={row.createdAt} /></span><span className="num">{rupees(row.balanceAfterMinor)}</span></div></div>} />
      </Listed>
    </section>
  );
}

export function Page() {
  const workspace = useRead('getOwnWorkspace', {}, { every: 30_000, fresh: 5_000 });
  const test = currentScope()?.test === true;
  const wallet = useRead('getWallet', {});
  const raw = useRaw('getWallet', {}, wallet.data);
  return (
    <Frame tab="wallet" actions={<More entries={raw.entries} />}>
      <Body>
        {test && <p className="note"><span>{t('Test calls cost nothing. This is the wallet of live mode.')}</span></p>}
        <Shown of={workspace} what={t('The wallet could not be read.')} rows={3}>
          {({ data }) => <><Summary workspace={data} /><Box title={t('When it runs low')}><div className="stack se-gap"><Threshold key={data.lowBalanceMinor} workspace={data} /><p className="mid">{t('Only who runs this service adds money. Below one minute no call is placed; people who are on the phone are not cut off before what is held is used.')}</p></div></Box></>}
        </Shown>
        <Ledger />
      </Body>
      {raw.sheet}
    </Frame>
  );
}
