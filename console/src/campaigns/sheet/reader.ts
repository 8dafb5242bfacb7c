// Holds a file and makes the rows that are sent. Runs in a worker.
import { MOST_ROWS } from './most.ts';
import { hasOtherDigits, isExponent, monthFirst, phoneText, plainNumber } from './cells.ts';
import { guess, looksLikePhone, type SheetColumn, type Target } from './columns.ts';
import { decode, delimiterOf, parse } from './csv.ts';
import { SheetError } from './fault.ts';
import { readXlsx } from './xlsx.ts';

export interface SheetInfo {
  readonly rows: number; readonly columns: readonly SheetColumn[]; readonly guesses: readonly Target[];
  /** `UTF-8`, or the name of the sheet. */
  readonly kind: 'csv' | 'xlsx'; readonly encoding: string; readonly delimiter: string; readonly sheet: string;
  readonly millis: number;
}
/** What each column becomes, values for all rows, and what is left out. */
export interface Mapping {
  readonly targets: readonly Target[];
  /** Variables that every row gets where it has none. */
  readonly fills: Readonly<Record<string, string>>;
  /** Variables without which a row is left out. */
  readonly needs: readonly string[];
  /** Columns whose dates are written month first. */
  readonly monthFirst: readonly number[];
  /** The flow speaks of `name`: the name of the person is that variable, too. */
  readonly nameIsVariable: boolean;
}
export interface Contact { phone: string; name?: string; variables: Record<string, string> }
export interface Change { readonly phone?: string; readonly name?: string | null; readonly variables?: Readonly<Record<string, string | null>> }
export interface Piece { readonly contacts: readonly Contact[]; readonly last: boolean }
/** What reading changed in the columns that are used. */
export interface Made { readonly total: number; readonly otherDigits: number; readonly exponents: number; readonly cut: number; readonly leftOut: number }

const PIECE_ROWS = 2_000;
const PIECE_SIZE = 1_500_000;
const LARGEST = 100_000_000;

export class Reader {
  private rows: string[][] = [];
  private contacts: Contact[] = [];
  /** Rows of the file that make the rows that are sent, so that edits stay when columns change. */
  private order: number[] = [];
  private readonly edits = new Map<number, Change[]>();
  private sent = 0;

  async open(file: Blob, name: string, variables: readonly string[]): Promise<SheetInfo> {
    const begin = performance.now();
    if (file.size > LARGEST) throw new SheetError('too_large');
    const bytes = await file.arrayBuffer();
    const [a, b] = new Uint8Array(bytes.slice(0, 2));
    if (a === 0xd0 && b === 0xcf) throw new SheetError('old_excel');
    const zipped = a === 0x50 && b === 0x4b;
    const text = zipped ? null : decode(bytes);
    if (text && text.text.slice(0, 2_000).includes('\0')) throw new SheetError('not_a_sheet');
    const delimiter = text ? delimiterOf(text.text) : '';
    const sheet = zipped ? await readXlsx(bytes) : null;
    const all = (sheet ? sheet.rows : parse(text?.text ?? '', delimiter, MOST_ROWS * 2)).filter((row) => row.some((cell) => cell.trim() !== ''));
    const titled = all[0] !== undefined && !all[0].some(looksLikePhone);
    const titles = titled ? all[0] ?? [] : [];
    this.rows = titled ? all.slice(1) : all;
    if (this.rows.length === 0) throw new SheetError('empty');
    if (this.rows.length > MOST_ROWS) throw new SheetError('too_many_rows', this.rows.length);
    this.edits.clear();
    const columns = this.columns(titles);
    return { rows: this.rows.length, columns, guesses: guess(columns, this.rows, variables), kind: zipped ? 'xlsx' : 'csv', encoding: text?.encoding ?? '', delimiter, sheet: sheet?.sheet || name, millis: Math.round(performance.now() - begin) };
  }

  private columns(titles: readonly string[]): SheetColumn[] {
    const width = this.rows.slice(0, 200).reduce((most, row) => Math.max(most, row.length), titles.length);
    return Array.from({ length: width }, (_, at) => {
      const cells = this.rows.slice(0, 200).map((row) => row[at] ?? '');
      return { name: titles[at]?.trim() ?? '', sample: cells.find((cell) => cell.trim() !== '')?.slice(0, 80) ?? '', filled: cells.filter((cell) => cell.trim() !== '').length };
    });
  }

  /** Makes the rows of a mapping; `next` hands them out in pieces. */
  make(mapping: Mapping): Made {
    const made = { otherDigits: 0, exponents: 0, cut: 0, leftOut: 0 };
    this.contacts = [];
    this.order = [];
    this.sent = 0;
    this.rows.forEach((row, at) => {
      const contact = this.contact(row, mapping, made);
      for (const change of this.edits.get(at) ?? []) apply(contact, change);
      for (const [variable, value] of Object.entries(mapping.fills)) if (!contact.variables[variable]?.trim()) contact.variables[variable] = value;
      if (mapping.needs.some((variable) => !contact.variables[variable]?.trim())) { made.leftOut += 1; return; }
      this.contacts.push(contact);
      this.order.push(at);
    });
    return { total: this.contacts.length, ...made };
  }

  private contact(row: readonly string[], mapping: Mapping, made: { otherDigits: number; exponents: number; cut: number }): Contact {
    const contact: Contact = { phone: '-', variables: {} };
    mapping.targets.forEach((target, at) => {
      const raw = (row[at] ?? '').trim();
      if (target === 'none' || raw === '') return;
      if (target === 'phone') {
        if (hasOtherDigits(raw)) made.otherDigits += 1;
        const phone = phoneText(raw);
        if (isExponent(phone)) made.exponents += 1;
        contact.phone = phone.slice(0, 100);
      } else if (target === 'name') {
        if (raw.length > 200) made.cut += 1;
        contact.name = raw.slice(0, 200);
        if (mapping.nameIsVariable) contact.variables.name = raw;
      } else contact.variables[target.slice(4)] = mapping.monthFirst.includes(at) ? monthFirst(raw) : plainNumber(raw);
    });
    return contact;
  }

  next(): Piece {
    const contacts: Contact[] = [];
    let size = 0;
    while (this.sent < this.contacts.length && contacts.length < PIECE_ROWS && size < PIECE_SIZE) {
      const contact = this.contacts[this.sent] as Contact;
      contacts.push(contact);
      size += JSON.stringify(contact).length;
      this.sent += 1;
    }
    return { contacts, last: this.sent >= this.contacts.length };
  }

  /** Keeps an edit of a sent row (from 1), for when the columns change and everything is sent again. */
  edit(row: number, change: Change): void {
    const at = this.order[row - 1];
    if (at !== undefined) this.edits.set(at, [...(this.edits.get(at) ?? []), change]);
  }
}

function apply(contact: Contact, change: Change): void {
  if (change.phone !== undefined) contact.phone = change.phone;
  if (change.name === null) delete contact.name;
  else if (change.name !== undefined) contact.name = change.name;
  for (const [variable, value] of Object.entries(change.variables ?? {})) {
    if (value === null) delete contact.variables[variable]; else contact.variables[variable] = value;
  }
}
