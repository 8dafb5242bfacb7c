// What spreadsheets do to numbers, and what can be undone.

const DIGITS: Readonly<Record<string, number>> = Object.fromEntries([0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0xff10].map((zero) => [zero, zero]));
const zeros = Object.values(DIGITS);

/** Digits of Indian scripts as 0 to 9; anything else stays. */
export function latinDigits(text: string): string {
  let changed = '';
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    const zero = zeros.find((one) => code >= one && code < one + 10);
    changed += zero === undefined ? letter : String(code - zero);
  }
  return changed;
}
export const hasOtherDigits = (text: string): boolean => latinDigits(text) !== text;

const EXPONENT = /^([+-]?)(\d)(?:[.,](\d+))?[eE]\+?(\d{1,2})$/;
export const isExponent = (text: string): boolean => EXPONENT.test(text.trim());

/** A number without its exponent, if no digit was dropped: `9.812345678E+09` is 9812345678, and `9.8E+09` stays what it is. */
export function plainNumber(text: string): string {
  const found = EXPONENT.exec(text.trim());
  if (!found) return text;
  const [, sign = '', first = '', rest = '', power = '0'] = found;
  const digits = first + rest;
  const wanted = Number(power) + 1;
  return digits.length === wanted ? sign.replace('+', '') + digits : text;
}

const DATE = /^\s*(\d{1,2})[/.-](\d{1,2})[/.-](\d{2}|\d{4})\s*$/;
/** A date that is written month first, as `2026-11-05`; anything else stays. */
export function monthFirst(text: string): string {
  const found = DATE.exec(text);
  if (!found) return text;
  const [, month = '', day = '', year = ''] = found;
  if (Number(month) > 12 || Number(day) > 31) return text;
  return `${year.length === 2 ? `20${year}` : year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** A number as it is sent: Latin digits, the exponent undone where that loses nothing, the leading apostrophe of spreadsheets gone. */
export const phoneText = (text: string): string => plainNumber(latinDigits(text.trim().replace(/^'/, ''))).replace(/\.0$/, '');
