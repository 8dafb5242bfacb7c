// What the columns of a file are for, guessed from their names and from what is in them.
import { latinDigits } from './cells.ts';

/** `phone`, `name`, `none`, or `var:` with the name of a variable. */
export type Target = 'phone' | 'name' | 'none' | `var:${string}`;
export interface SheetColumn { readonly name: string; readonly sample: string; readonly filled: number }

const PHONE = /^(?:mobile|phone|cell|tel|telephone|msisdn|whatsapp|contact|मोबाइल|मोबाईल|फ़ोन|फोन|दूरभाष)(?:no|num|number|नंबर|नम्बर|संख्या)?$|(?:mobile|phone|msisdn|contactn)|मोबाइल|नंबर/;
const NAME = /^(?:name|fullname|customer|customername|person|borrower|client|contactname|नाम|ग्राहक|ग्राहककानाम|पूरानाम)$/;
export const plainName = (text: string): string => latinDigits(text.normalize('NFKC')).toLocaleLowerCase().replace(/[\s_.\-/()#:*"']+/gu, '');
/** How a variable is called whose column nothing else names. */
export const variableName = (text: string): string => text.normalize('NFKC').trim().toLocaleLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, '_').replace(/^_+|_+$/g, '').slice(0, 60) || 'value';

export const looksLikePhone = (text: string): boolean => /^\+?[\d\s().-]{8,20}$/.test(latinDigits(text.trim())) && latinDigits(text).replace(/\D/g, '').length >= 8;

export function guess(columns: readonly SheetColumn[], rows: readonly (readonly string[])[], variables: readonly string[]): Target[] {
  const targets: Target[] = columns.map(() => 'none');
  const phone = byName(columns, (name) => PHONE.test(name)) ?? byContent(columns, rows);
  if (phone !== null) targets[phone] = 'phone';
  const name = byName(columns, (one, at) => at !== phone && NAME.test(one)) ?? byName(columns, (one, at) => at !== phone && one.endsWith('name'));
  if (name !== null) targets[name] = 'name';
  const taken = new Set<string>();
  const fits = [(column: string, variable: string) => column === variable, (column: string, variable: string) => column.length > 2 && (variable.startsWith(column) || column.startsWith(variable))];
  for (const fit of fits) {
    columns.forEach((column, at) => {
      if (targets[at] !== 'none') return;
      const found = variables.find((one) => !taken.has(one) && fit(plainName(column.name), plainName(one)));
      if (found === undefined) return;
      targets[at] = `var:${found}`;
      taken.add(found);
    });
  }
  return targets;
}

function byName(columns: readonly SheetColumn[], fits: (name: string, at: number) => boolean): number | null {
  const at = columns.findIndex((column, place) => fits(plainName(column.name), place));
  return at < 0 ? null : at;
}

/** The column of which most of the first cells look like numbers of phones. */
function byContent(columns: readonly SheetColumn[], rows: readonly (readonly string[])[]): number | null {
  const some = rows.slice(0, 50);
  const shares = columns.map((_, at) => some.filter((row) => looksLikePhone(row[at] ?? '')).length / Math.max(1, some.length));
  const most = Math.max(0, ...shares);
  return most >= 0.5 ? shares.indexOf(most) : null;
}
