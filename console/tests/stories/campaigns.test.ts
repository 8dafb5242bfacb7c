// A list on its way into a campaign and out to the phones, and a card that is moved and moved back; each also without a mouse.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { axe, noConsoleErrors, noSidewaysScroll, shot, startStage, type Stage } from '../browser.ts';
import { ATTACKS } from '../fixtures.ts';
import { unsure } from '../pages/boards.ts';
import { intoHours, people } from '../pages/campaigns.ts';
import type { Shape } from '../service.ts';
import { plainNumber, monthFirst, phoneText } from '../../src/campaigns/sheet/cells.ts';
import { guess } from '../../src/campaigns/sheet/columns.ts';
import { decode, delimiterOf, parse } from '../../src/campaigns/sheet/csv.ts';
import { SheetError } from '../../src/campaigns/sheet/fault.ts';
import { dateOf, readXlsx } from '../../src/campaigns/sheet/xlsx.ts';
import { xlsx, type Value } from './sheets.ts';

let stage: Stage;
let agent: string;
before(async () => {
  stage = await startStage();
  await intoHours(stage.service);
  agent = String((await stage.service.api('POST', '/v1/agents', { name: 'Collections', systemPrompt: 'Remind {{name}} of {{emi_amount}}, due {{due_date}}.' })).data.id);
  await stage.service.api('POST', `/v1/agents/${agent}/status`, { status: 'active' });
});
after(() => stage?.close());

const campaign = async (name: string, rows: readonly Shape[] = []): Promise<string> => {
  const id = String((await stage.service.api('POST', '/v1/campaigns', { name, agentId: agent, settings: { retryCount: 1, cooldownMinutes: 60 } })).data.id);
  if (rows.length > 0) await stage.service.api('POST', `/v1/campaigns/${id}/contacts`, { contacts: rows });
  return id;
};

const HEAD: readonly Value[] = ['Mobile No', 'Customer', 'EMI', 'Due', 'Branch'];
const SHEET: readonly (readonly Value[])[] = [
  HEAD,
  [9812346101, 'Lakshmi Nair', 4250, { date: 46331 }, 'Pune, Kothrud'],
  ['९८१२३४६१०२', 'रमेश यादव', 2750, { date: 46331 }, ATTACKS.markup],
  ['98123461', 'Harish Patil', 3900, { date: 46331 }, ''],
  ['+971 50 123 4567', 'Omar Siddiqui', 12000, { date: 46331 }, ''],
  [9812346101, 'Divya Menon', 5100, { date: 46331 }, ''],
  ['9.8E+09', ATTACKS.markup.slice(0, 190), 100, { date: 46331 }, ''],
  [9812346103, ATTACKS.rightToLeft, '', { date: 46331 }, ''],
  [9812346104, ATTACKS.devanagari, ATTACKS.long, { date: 46331 }, ''],
];
const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'application/octet-stream', buffer });
const judged = (page: Page) => page.locator('[data-judged="true"]').waitFor();
const finding = (page: Page, code: string) => page.locator(`[data-finding="${code}"]`);
const verdict = async (page: Page): Promise<string> => (await page.locator('[data-verdict]').innerText()).split('\n')[0]?.trim().split(' ')[0] ?? '';
/** Waits for the verdict to become a number of people. */
const called = (page: Page, n: number) => page.locator('[data-verdict]', { hasText: new RegExp(`^${n}\\s`) }).waitFor();

describe('what spreadsheets write', () => {
  const bytes = (text: string | Buffer): ArrayBuffer => { const one = Buffer.from(text as string); return one.buffer.slice(one.byteOffset, one.byteOffset + one.byteLength) as ArrayBuffer; };

  test('delimiters, quotes, encodings', () => {
    for (const [text, delimiter] of [['a,b\n1,2', ','], ['a;b\n"1;1,5";2,5', ';'], ['a\tb\n1,0\t2', '\t'], ['a|b\n1|2', '|'], ['sep=;\na;b', ';']] as const) assert.equal(delimiterOf(text), delimiter, text);
    assert.deepEqual(parse('a,"b ""c"", d\ne"\r\n,\r\nlast', ','), [['a', 'b "c", d\ne'], ['', ''], ['last']]);
    assert.deepEqual(decode(bytes(Buffer.from('\ufeffनाम', 'utf16le'))), { text: 'नाम', encoding: 'UTF-16' });
    assert.deepEqual(decode(bytes('\ufeffनाम')), { text: 'नाम', encoding: 'UTF-8' });
    assert.deepEqual(decode(bytes(Buffer.from('Zo\u00eb', 'latin1'))), { text: 'Zoë', encoding: 'Windows-1252' });
  });

  test('numbers and dates', () => {
    assert.equal(plainNumber('9.812345678E+09'), '9812345678');
    assert.equal(plainNumber('9.8E+09'), '9.8E+09');
    assert.equal(phoneText("'९८१२३ ४५६७८"), '98123 45678');
    assert.equal(phoneText('9812345678.0'), '9812345678');
    assert.deepEqual([monthFirst('11/05/2026'), monthFirst('25/11/2026'), monthFirst('1-2-26'), monthFirst('soon')], ['2026-11-05', '25/11/2026', '2026-01-02', 'soon']);
    assert.deepEqual([dateOf(46331, false), dateOf(1, false), dateOf(44869, true)], ['2026-11-05', '1900-01-01', '2026-11-05']);
  });

  test('a workbook, and what only looks like one', async () => {
    const { rows, sheet } = await readXlsx(bytes(xlsx([['a & <b>', 9812345678], ['', { date: 46331 }]])));
    assert.deepEqual([rows, sheet], [[['a & <b>', '9812345678'], ['', '2026-11-05']], 'Overdue']);
    const whole = xlsx([['a', 1]]);
    const packed = whole.indexOf('xl/workbook.xml') + 15;
    for (const broken of [whole.subarray(0, 200), Buffer.from('PK\u0003\u0004'), Buffer.concat([whole.subarray(0, packed), Buffer.alloc(30, 0xff), whole.subarray(packed + 30)])]) await assert.rejects(readXlsx(bytes(broken)), SheetError);
  });

  test('columns are guessed', () => {
    const columns = (names: readonly string[]) => names.map((name) => ({ name, sample: '', filled: 1 }));
    assert.deepEqual(guess(columns(['Sr No', 'Mobile No.', 'Customer Name', 'EMI', 'Branch']), [], ['emi_amount']), ['none', 'phone', 'name', 'var:emi_amount', 'none']);
    assert.deepEqual(guess(columns(['मोबाइल', 'नाम']), [], []), ['phone', 'name']);
    assert.deepEqual(guess(columns(['', '']), [['A', '9812345678'], ['B', '98123 45679']], []), ['none', 'phone']);
  });
});

describe('a spreadsheet becomes calls', () => {
  test('read, mended in place, put in force, launched, watched', async () => {
    const id = await campaign('EMI reminder, December');
    const page = await stage.open(`/campaigns/${id}/list/import`);
    await page.locator('input[type=file]').setInputFiles(file('overdue.xlsx', xlsx(SHEET)));
    await judged(page);
    await page.getByText('overdue.xlsx').waitFor();
    // The number that Excel wrote as 9.812346101E9 is whole, the Devanagari one is read, the date is no day number.
    await page.getByText('1 number in other digits, read as 0 to 9').waitFor();
    await page.getByText('1 number lost digits in a spreadsheet').waitFor();
    assert.equal(await verdict(page), '3');
    for (const [code, n] of [['missing_required_variables', '1'], ['invalid_phone', '2'], ['not_indian', '1'], ['duplicate', '1']] as const) assert.match(await finding(page, code).innerText(), new RegExp(`^${n}\\s`), code);
    await axe(page);
    await noSidewaysScroll(page);
    await shot(page, 'campaign-import-1440-light');

    // Stopped until somebody decides.
    await page.getByRole('button', { name: 'Put in force…' }).click();
    await page.getByText('Decide about 1 row first.').waitFor();
    await page.getByRole('button', { name: /^Change emi_amount of row 7/ }).click();
    await page.getByRole('textbox', { name: 'Change emi_amount of row 7' }).fill('3300');
    await page.keyboard.press('Enter');
    await page.getByText('Mended').waitFor();
    await finding(page, 'missing_required_variables').waitFor({ state: 'detached' });
    await called(page, 4);

    // A bad number, written anew where it stands.
    await finding(page, 'invalid_phone').getByRole('button', { name: 'Look at them' }).click();
    await page.getByRole('button', { name: /^Change number of row 3/ }).click();
    await page.getByRole('textbox', { name: 'Change number of row 3' }).fill('98123 46105');
    await page.keyboard.press('Enter');
    await called(page, 5);

    await page.getByRole('button', { name: 'Put in force…' }).click();
    await page.getByRole('button', { name: 'Put 5 people in force' }).click();
    await page.getByRole('tab', { name: /List 8/ }).waitFor();
    const list = await stage.service.api('GET', `/v1/campaigns/${id}/contacts`);
    assert.deepEqual(list.data.slice(0, 2).map((row: Shape) => [row.phone, row.name, row.variables.due_date]), [['+919812346101', 'Lakshmi Nair', '2026-11-05'], ['+919812346102', 'रमेश यादव', '2026-11-05']]);
    assert.equal(list.data[6].variables.emi_amount, '3300');
    assert.equal(list.data[7].variables.emi_amount, ATTACKS.long.trim());

    await page.getByRole('button', { name: 'Launch…' }).click();
    await page.getByRole('button', { name: /^Call 5 people, about ₹[\d,]+$/ }).click();
    await page.getByText('Dialling', { exact: true }).waitFor();
    await stage.service.advance(5);
    await page.locator('[data-count="in_progress"]', { hasText: '5' }).waitFor();
    await stage.service.advance(60);
    await page.locator('[data-count="reached"]', { hasText: '5' }).waitFor();
    await page.locator('[data-count="invalid"]', { hasText: '3' }).waitFor();
    await page.getByText('Over', { exact: true }).waitFor();
    noConsoleErrors(page);
    await page.context().close();
  });

  test('without a mouse', async () => {
    const id = await campaign('Keys only');
    const page = await stage.open(`/campaigns/${id}`);
    await page.getByRole('link', { name: 'New list…' }).first().focus();
    await page.keyboard.press('Enter');
    const button = page.getByRole('button', { name: 'Choose a file' });
    await button.focus();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
    // Another delimiter, quotes, a line break within a cell, Windows-1252.
    const text = 'Mobile No;Customer;EMI;Due\r\n9812347001;"Zo\u00eb ""Z""\nRao";4250;05/11/2026\r\n9812347;Short;1;05/11/2026\r\n';
    await chooser.setFiles(file('list.csv', Buffer.from(text, 'latin1')));
    await judged(page);
    await page.getByText(/Windows-1252/).waitFor();
    await page.getByRole('button', { name: /^Change number of row 2/ }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('9812347002');
    await page.keyboard.press('Enter');
    await page.getByText('Mended').waitFor();
    await called(page, 2);
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Put 2 people in force' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: /List 2/ }).waitFor();
    const { data } = await stage.service.api('GET', `/v1/campaigns/${id}/contacts`);
    assert.deepEqual(data.map((row: Shape) => row.name), ['Zoë "Z"\nRao'.replace('\n', data[0].name.includes('\n') ? '\n' : ' '), 'Short']);
    await page.keyboard.press('l');
    await page.getByRole('button', { name: /^Call 2 people/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Dialling', { exact: true }).waitFor();
    noConsoleErrors(page);
    await page.context().close();
  });

  test('columns are mapped anew, values given, people left out, and an edit stays', async () => {
    const id = await campaign('Mapped');
    const page = await stage.open(`/campaigns/${id}/list/import`);
    const text = `Ref,Tel.,Name,Sum\n1,9812348001,A,100\n2,9812348002,B,\n3,981234,C,300\n`;
    await page.locator('input[type=file]').setInputFiles(file('a.csv', Buffer.from(text)));
    await judged(page);
    await finding(page, 'invalid_phone').getByRole('button', { name: 'Look at them' }).click();
    await page.getByRole('button', { name: /^Change number of row 3/ }).click();
    await page.getByRole('textbox', { name: 'Change number of row 3' }).fill('9812348003');
    await page.keyboard.press('Enter');
    await page.locator('[data-row="3"] td[data-column="phone"]:not(.cellbad)').waitFor();
    await page.getByRole('button', { name: /What Sum becomes/ }).click();
    await page.getByRole('option', { name: 'emi_amount' }).click();
    await judged(page);
    await page.locator('[data-finding="missing_required_variables"][data-column="variables.due_date"]').getByRole('button', { name: 'Give a value' }).click();
    await page.getByRole('textbox', { name: 'due_date' }).fill('30 November');
    await page.getByRole('button', { name: /Give it to/ }).click();
    await page.locator('[data-finding="missing_required_variables"][data-column="variables.due_date"]').waitFor({ state: 'detached' });
    await page.locator('[data-finding="missing_required_variables"][data-column="variables.emi_amount"]').getByRole('button', { name: 'Leave them out' }).click();
    await page.getByText('1 row left out').waitFor();
    await called(page, 2);
    noConsoleErrors(page);
    await page.context().close();
  });

  test('a closed tab leaves the staged list for an hour', async () => {
    const id = await campaign('Later');
    const first = await stage.open(`/campaigns/${id}/list/import`);
    await first.locator('input[type=file]').setInputFiles(file('b.csv', Buffer.from('mobile,name,emi_amount,due_date\n9812349001,A,1,x\n981,B,2,x\n')));
    await judged(first);
    const address = new URL(first.url());
    assert.match(address.search, /list=\d+/);
    await first.context().close();
    const page = await stage.open(`/campaigns/${id}/list/import${address.search}`);
    await judged(page);
    await called(page, 1);
    await page.getByRole('button', { name: /^Change number of row 2/ }).waitFor();
    await stage.service.advance(3_700);
    await page.reload();
    await page.getByText('This list is not there any more').waitFor();
    await page.context().close();
  });

  test('what is no list is said', async () => {
    const id = await campaign('Not a list');
    const page = await stage.open(`/campaigns/${id}/list/import`);
    for (const [name, content, says] of [['x.xlsx', Buffer.from('PK\u0003\u0004nothing'), /no CSV and no XLSX/], ['y.csv', Buffer.from('\n\n'), /has no rows/], ['old.xls', Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), /old Excel format/], ['big.csv', Buffer.from(`mobile\n${'9812345678\n'.repeat(50_001)}`), /has 50,001 rows/]] as const) {
      await page.locator('input[type=file]').setInputFiles(file(name, content));
      await page.getByText(says).waitFor();
    }
    noConsoleErrors(page);
    await page.context().close();
  });

  test('fifty thousand rows go up in pieces', async () => {
    const id = await campaign('Long');
    const page = await stage.open(`/campaigns/${id}/list/import`);
    const rows = Array.from({ length: 50_000 }, (_, at) => `98${String(10_000_000 + at)},Person ${at},${at},30 November`);
    await page.locator('input[type=file]').setInputFiles(file('long.csv', Buffer.from(`mobile,name,emi_amount,due_date\n${rows.join('\n')}\n`)));
    await page.locator('[data-judged="true"]').waitFor({ timeout: 90_000 });
    assert.ok(Number((await verdict(page)).replaceAll(',', '')) > 49_900);
    noConsoleErrors(page);
    await page.context().close();
  });

  test('a campaign that cannot dial says so in red, with the cause and what helps', async () => {
    const id = await campaign('Stands still', people(2, 9_700_000_000).map((row) => ({ ...row, variables: { name: 'x', emi_amount: '1', due_date: 'x' } })));
    const page = await stage.open('~/console/sign-in');
    await page.route(/\/v1\/campaigns\/[^/]+$/, async (route) => { const answer = await route.fetch(); const json = (await answer.json()) as Shape; await route.fulfill({ response: answer, json: { data: { ...json.data, status: 'active' } } }); });
    await page.route(/\/runs\?limit=1$/, (route) => route.fulfill({ json: { data: [{ id: 'run_1', campaignId: id, status: 'skipped', source: 'schedule', attempted: 0, placed: 0, rejected: 0, skippedReason: 'insufficient_balance', error: null, createdAt: new Date().toISOString(), finishedAt: null }] } }));
    await page.goto(stage.address(`/campaigns/${id}`));
    const band = page.locator('[data-band="stopped"]');
    await band.waitFor();
    assert.match(await band.innerText(), /The service stopped dialling\. The wallet is empty\. Top it up.*\s+Since .* IST/);
    assert.equal(await band.getByRole('link', { name: 'Go there' }).getAttribute('href'), `/console/${stage.service.workspace}/settings/wallet`);
    await axe(page);
    await page.context().close();
  });

  test('a viewer is told whom to ask, and an editor cannot launch', async () => {
    const id = await campaign('Roles', people(3, 9_400_000_000).map((row) => ({ ...row, variables: { emi_amount: '1', due_date: 'x', name: 'y' } })));
    const viewer = await stage.open(`/campaigns/${id}/list/import`, { role: 'viewer' });
    await viewer.getByText(/changing it takes an editor/).waitFor();
    assert.equal(await viewer.locator('input[type=file]').count(), 0);
    const editor = await stage.open(`/campaigns/${id}`, { role: 'editor' });
    await editor.getByRole('link', { name: 'Replace the list…' }).waitFor();
    assert.equal(await editor.getByRole('button', { name: 'Launch…' }).count(), 0);
    const test = await stage.open(`/campaigns/${id}`, { mode: 'test' });
    await test.getByText('Test mode only reads this page.').waitFor();
    assert.equal(await test.getByRole('button', { name: 'Launch…' }).count(), 0);
    for (const page of [viewer, editor, test]) { noConsoleErrors(page); await page.context().close(); }
  });
});

describe('a card is moved and moved back', () => {
  let owner = '';
  before(async () => {
    owner = await campaign('Board', people(70, 9_500_000_000).map((row) => ({ ...row, variables: { name: 'x', emi_amount: '1', due_date: 'x' } })));
    await stage.service.api('POST', `/v1/campaigns/${owner}/status`, { status: 'active' });
    await stage.service.advance(90);
  });
  const counts = async (): Promise<Record<string, number>> => Object.fromEntries((await stage.service.api('GET', `/v1/campaigns/${owner}/board`)).data.columns.map((one: Shape) => [one.key, one.count]));
  const shown = (page: Page, key: string, n: number) => page.locator(`[data-column="${key}"] [data-cards]`, { hasText: new RegExp(`^${n}$`) }).waitFor();

  test('dragged, undone, its history', async () => {
    const first = await counts();
    const page = await stage.open(`/boards/${owner}`);
    const card = page.locator('[data-column="open"] [data-card]').first();
    await card.waitFor();
    const id = await card.getAttribute('data-card');
    await card.dragTo(page.locator('[data-column="won"] [role="grid"]'));
    await shown(page, 'won', 1);
    assert.equal((await counts()).won, (first.won ?? 0) + 1);
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('Moved back').waitFor();
    await shown(page, 'won', 0);
    assert.deepEqual(await counts(), first);
    await page.locator(`[data-card="${id}"]`).click();
    await page.locator('[data-history] [data-undone="true"]').waitFor();
    await axe(page);
    noConsoleErrors(page);
    await page.context().close();
  });

  test('without a mouse', async () => {
    const page = await stage.open(`/boards/${owner}`);
    const card = page.locator('[data-column="open"] [data-card]').first();
    await card.waitFor();
    await card.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    for (let n = 0; n < 8; n += 1) {
      if (await page.evaluate(() => document.activeElement?.closest('[data-column="won"]') !== null)) break;
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await shown(page, 'won', 1);
    await page.keyboard.press('z');
    await page.getByText('Moved back').waitFor();
    await shown(page, 'won', 0);
    noConsoleErrors(page);
    await page.context().close();
  });

  test('by touch, with the menu of the card', async () => {
    const page = await stage.open(`/boards/${owner}`, { width: 360 });
    await page.locator('[data-column="open"] [data-card]').first().getByRole('button', { name: /^Move or look at/ }).tap();
    await page.getByRole('menuitem', { name: 'To Paid' }).tap();
    await page.getByText(/is now in Paid/).waitFor();
    await page.getByRole('button', { name: 'Undo', exact: true }).tap();
    await page.getByText('Moved back').waitFor();
    assert.equal((await counts()).won, 0);
    await page.context().close();
  });

  test('one by one, with keys', async () => {
    const page = await stage.open(`/boards/${owner}`);
    await unsure(page);
    await page.keyboard.press('r');
    const first = await page.locator('[data-review-card]').getAttribute('data-review-card');
    await page.keyboard.press('y');
    await page.getByText(/is now in Promised to pay/).waitFor();
    await page.locator(`[data-review-card]:not([data-review-card="${first}"])`).waitFor();
    assert.equal((await counts()).advancing, 1);
    await page.keyboard.press('z');
    await page.getByText('Moved back').waitFor();
    await page.context().close();
  });

  test('a column more, and one less', async () => {
    const page = await stage.open(`/boards/${owner}/columns`, { role: 'editor' });
    await page.getByRole('button', { name: 'Add a column' }).click();
    await page.getByRole('textbox', { name: 'Name' }).last().fill(ATTACKS.markup.slice(0, 60));
    await page.getByRole('button', { name: 'Remove Contacted' }).click();
    await page.getByText(/Where the \d+ cards of Contacted go/).waitFor();
    await page.getByRole('button', { name: 'Save the columns' }).click();
    await page.locator('h2', { hasText: '<img src=x' }).waitFor();
    assert.equal((await counts()).open, undefined);
    noConsoleErrors(page);
    await page.context().close();
  });
});

describe('a stream', () => {
  test('a new token is shown once, and the old one stops', async () => {
    const { service } = stage;
    const page = await stage.open(`/streams/${service.stream}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'New token…' }).click();
    await page.getByRole('button', { name: 'Replace the token' }).click();
    const token = await page.locator('[data-token]').innerText();
    assert.match(token, /^dsk_/);
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.locator('[data-token]').waitFor({ state: 'detached' });
    const sent = await fetch(`${service.url}/ingest/streams/${service.stream}`, { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body: JSON.stringify([{ mobile: '9812399101', full_name: ATTACKS.markup }, { mobile: '12' }]) });
    assert.equal(sent.status, 202);
    await page.reload();
    await page.locator('[data-record="accepted"]').waitFor();
    await page.getByText('Its number is not a phone number').waitFor();
    assert.equal((await page.content()).includes(token), false);
    noConsoleErrors(page);
    await page.context().close();
    const editor = await stage.open(`/streams/${service.stream}`, { role: 'editor' });
    await editor.getByRole('button', { name: 'More actions' }).click();
    await editor.getByRole('menuitem', { name: 'Open as JSON' }).waitFor();
    assert.equal(await editor.getByRole('menuitem', { name: 'New token…' }).count(), 0);
    await editor.context().close();
  });
});
