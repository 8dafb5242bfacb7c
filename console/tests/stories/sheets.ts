// Spreadsheets for tests: a .xlsx as Excel writes it, and text of any encoding.
import { deflateRawSync } from 'node:zlib';

function crc(bytes: Buffer): number {
  let sum = ~0;
  for (const byte of bytes) { sum ^= byte; for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0); }
  return ~sum >>> 0;
}

function zip(files: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const [raw, title] = [Buffer.from(text), Buffer.from(name)];
    const packed = deflateRawSync(raw);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0); head.writeUInt16LE(20, 4); head.writeUInt16LE(8, 8);
    head.writeUInt32LE(crc(raw), 14); head.writeUInt32LE(packed.length, 18); head.writeUInt32LE(raw.length, 22); head.writeUInt16LE(title.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0); entry.writeUInt16LE(20, 4); entry.writeUInt16LE(20, 6); head.copy(entry, 10, 8, 30); entry.writeUInt32LE(at, 42);
    parts.push(head, title, packed);
    directory.push(entry, title);
    at += 30 + title.length + packed.length;
  }
  const end = Buffer.alloc(22);
  const size = directory.reduce((sum, one) => sum + one.length, 0);
  end.writeUInt32LE(0x06054b50, 0); end.writeUInt16LE(directory.length / 2, 8); end.writeUInt16LE(directory.length / 2, 10); end.writeUInt32LE(size, 12); end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, ...directory, end]);
}

export type Value = string | number | { readonly date: number };
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Texts are shared strings, numbers are written as Excel does, dates are day numbers with the style of a date. */
export function xlsx(rows: readonly (readonly Value[])[]): Buffer {
  const shared: string[] = [];
  const cell = (value: Value, column: number, row: number): string => {
    const at = `${String.fromCharCode(65 + column)}${row + 1}`;
    if (typeof value === 'number') return `<c r="${at}"><v>${value >= 1e9 ? value.toExponential().replace('e+', 'E+') : value}</v></c>`;
    if (typeof value !== 'string') return `<c r="${at}" s="1"><v>${value.date}</v></c>`;
    if (value === '') return '';
    shared.push(value);
    return `<c r="${at}" t="s"><v>${shared.length - 1}</v></c>`;
  };
  const sheet = rows.map((row, at) => `<row r="${at + 1}">${row.map((value, column) => cell(value, column, at)).join('')}</row>`).join('');
  const xml = (body: string): string => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${body}`;
  return zip({
    '[Content_Types].xml': xml('<Types/>'),
    'xl/workbook.xml': xml('<workbook xmlns:r="r"><sheets><sheet name="Overdue" sheetId="1" r:id="rId1"/></sheets></workbook>'),
    'xl/_rels/workbook.xml.rels': xml('<Relationships><Relationship Id="rId1" Type="worksheet" Target="worksheets/sheet1.xml"/></Relationships>'),
    'xl/worksheets/sheet1.xml': xml(`<worksheet><sheetData>${sheet}</sheetData></worksheet>`),
    'xl/sharedStrings.xml': xml(`<sst>${shared.map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`).join('')}</sst>`),
    'xl/styles.xml': xml('<styleSheet><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'),
  });
}
