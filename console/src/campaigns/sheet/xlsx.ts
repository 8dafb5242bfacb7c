// The first visible sheet of an .xlsx as rows of text. Its XML is plain: cells with a reference, a type, a style and a value.
import { SheetError } from './fault.ts';
import { plainNumber } from './cells.ts';
import { openArchive, type Archive } from './zip.ts';

export interface Table { readonly rows: string[][]; readonly sheet: string }

export async function readXlsx(bytes: ArrayBuffer): Promise<Table> {
  const archive = openArchive(bytes);
  const book = await archive.read('xl/workbook.xml');
  if (book === null) throw new SheetError('not_a_sheet');
  const { path, name } = await firstSheet(archive, book);
  const [shared, styles, sheet] = await Promise.all([archive.read('xl/sharedStrings.xml'), archive.read('xl/styles.xml'), archive.read(path)]);
  if (sheet === null) throw new SheetError('not_a_sheet');
  return { sheet: name, rows: cells(sheet, strings(shared ?? ''), dateStyles(styles ?? ''), /<workbookPr[^>]*date1904="(?:1|true)"/.test(book)) };
}

async function firstSheet(archive: Archive, book: string): Promise<{ path: string; name: string }> {
  const sheets = [...book.matchAll(/<(?:\w+:)?sheet\b([^>]*)>/g)].map(([, about = '']) => about);
  const chosen = sheets.find((about) => !/state="(?:veryH|h)idden"/.test(about)) ?? sheets[0] ?? '';
  const relation = attribute(chosen, 'r:id') ?? '';
  const relations = (await archive.read('xl/_rels/workbook.xml.rels')) ?? '';
  const target = [...relations.matchAll(/<Relationship\b([^>]*)>/g)].map(([, about = '']) => about).find((about) => attribute(about, 'Id') === relation);
  const path = (target && attribute(target, 'Target')) ?? 'worksheets/sheet1.xml';
  return { path: path.startsWith('/') ? path.slice(1) : `xl/${path}`, name: decoded(attribute(chosen, 'name') ?? '') };
}

const attribute = (about: string, name: string): string | undefined => new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(about)?.[1];

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
/** Text of XML: its five names, its numbers, and Excel's `_x000D_`. */
export const decoded = (text: string): string => (text.includes('&') || text.includes('_x') ? text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));|_x([0-9A-F]{4})_/gi, (whole, hex?: string, decimal?: string, name?: string, escaped?: string) => {
  const code = hex ? parseInt(hex, 16) : decimal ? Number(decimal) : escaped ? parseInt(escaped, 16) : NaN;
  if (Number.isNaN(code)) return NAMED[name ?? ''] ?? whole;
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}) : text);

const texts = (xml: string): string => [...xml.replace(/<(?:\w+:)?rPh\b[\s\S]*?<\/(?:\w+:)?rPh>/g, '').matchAll(/<(?:\w+:)?t\b[^>]*>([\s\S]*?)<\/(?:\w+:)?t>/g)].map(([, text = '']) => decoded(text)).join('');
const strings = (xml: string): string[] => [...xml.matchAll(/<(?:\w+:)?si(?:\s[^>]*)?>([\s\S]*?)<\/(?:\w+:)?si>|<(?:\w+:)?si\s*\/>/g)].map(([, inner = '']) => texts(inner));

/** Which cell styles show a date: the built-in formats, and own ones with days, months or years outside of quotes. */
function dateStyles(xml: string): boolean[] {
  const own = new Map([...xml.matchAll(/<(?:\w+:)?numFmt\b([^>]*)>/g)].map(([, about = '']) => [attribute(about, 'numFmtId'), attribute(about, 'formatCode') ?? '']));
  const formats = /<(?:\w+:)?cellXfs\b[^>]*>([\s\S]*?)<\/(?:\w+:)?cellXfs>/.exec(xml)?.[1] ?? '';
  return [...formats.matchAll(/<(?:\w+:)?xf\b([^>]*)>/g)].map(([, about = '']) => {
    const id = attribute(about, 'numFmtId') ?? '0';
    const code = own.get(id);
    if (code !== undefined) return /[dmy]/i.test(decoded(code).replace(/"[^"]*"|\[[^\]]*\]|\\./g, '')) && !/^[^dy]*$/i.test(code);
    return (Number(id) >= 14 && Number(id) <= 17) || Number(id) === 22;
  });
}

const DAY = 86_400_000;
/** `2026-11-05` of a day number; Excel counts a 29 February 1900 that was none. */
export function dateOf(serial: number, since1904: boolean): string {
  const days = since1904 ? serial + 1_462 : serial < 60 ? serial + 1 : serial;
  return new Date(Date.UTC(1899, 11, 30) + Math.floor(days) * DAY).toISOString().slice(0, 10);
}

function columnOf(reference: string): number {
  let n = 0;
  for (const letter of reference) { const code = letter.charCodeAt(0) - 64; if (code < 1 || code > 26) break; n = n * 26 + code; }
  return n - 1;
}

const CELL = /<(?:\w+:)?c\b([^>]*?)(?:\/>|>([\s\S]*?)<\/(?:\w+:)?c>)/g;
const VALUE = /<(?:\w+:)?v(?:\s[^>]*)?>([\s\S]*?)<\/(?:\w+:)?v>/;
const WIDEST = 600;

function cells(xml: string, shared: readonly string[], dates: readonly boolean[], since1904: boolean): string[][] {
  const rows: string[][] = [];
  for (const [, inner = ''] of xml.matchAll(/<(?:\w+:)?row\b[^>]*?(?:\/>|>([\s\S]*?)<\/(?:\w+:)?row>)/g)) {
    const row: string[] = [];
    for (const [, about = '', content = ''] of inner.matchAll(CELL)) {
      const at = columnOf(attribute(about, 'r') ?? '');
      const place = at >= 0 ? at : row.length;
      if (place >= WIDEST) continue;
      while (row.length < place) row.push('');
      row[place] = cell(about, content, shared, dates, since1904);
    }
    rows.push(row);
  }
  return rows;
}

function cell(about: string, content: string, shared: readonly string[], dates: readonly boolean[], since1904: boolean): string {
  const type = attribute(about, 't');
  if (type === 'inlineStr') return texts(content);
  const value = decoded(VALUE.exec(content)?.[1] ?? '');
  if (type === 's') return shared[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'yes' : 'no';
  if (type === 'e') return '';
  if (type === 'str' || type === 'd' || value === '') return value;
  if (dates[Number(attribute(about, 's') ?? '-1')] && /^\d+(\.\d+)?$/.test(value)) return dateOf(Number(value), since1904);
  return plainNumber(value);
}
