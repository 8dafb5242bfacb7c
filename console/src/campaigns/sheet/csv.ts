// Text with a delimiter: which encoding, which delimiter, quotes and line breaks within them.

export interface Decoded { readonly text: string; readonly encoding: string }

export function decode(bytes: ArrayBuffer): Decoded {
  const [a = 0, b = 0, c = 0] = new Uint8Array(bytes.slice(0, 3));
  if (a === 0xef && b === 0xbb && c === 0xbf) return { text: new TextDecoder().decode(bytes), encoding: 'UTF-8' };
  if (a === 0xff && b === 0xfe) return { text: new TextDecoder('utf-16le').decode(bytes), encoding: 'UTF-16' };
  if (a === 0xfe && b === 0xff) return { text: new TextDecoder('utf-16be').decode(bytes), encoding: 'UTF-16' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), encoding: 'UTF-8' };
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), encoding: 'Windows-1252' };
  }
}

const DELIMITERS = [',', ';', '\t', '|'] as const;

/** The one that splits the first lines into the same number of parts, the more the better. */
export function delimiterOf(text: string): string {
  const declared = /^sep=(.)\r?\n/i.exec(text)?.[1];
  if (declared) return declared;
  const begin = text.slice(0, 20_000);
  let best: { delimiter: string; score: number } = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const widths = parse(begin, delimiter, 20).slice(0, 20).map((row) => row.length);
    const first = widths[0] ?? 1;
    const same = widths.filter((width) => width === first).length / Math.max(1, widths.length);
    const score = first > 1 ? first * same * same : 0;
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

/** Rows of a text; `most` ends early. */
export function parse(text: string, delimiter: string, most = Infinity): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let at = /^sep=.\r?\n/i.exec(text)?.[0].length ?? 0;
  const endRow = (): void => { row.push(cell); cell = ''; rows.push(row); row = []; };
  while (at < text.length && rows.length < most) {
    const letter = text[at];
    if (letter === '"' && cell === '') {
      const [inner, after] = quoted(text, at + 1);
      cell = inner;
      at = after;
      continue;
    }
    if (letter === delimiter) { row.push(cell); cell = ''; }
    else if (letter === '\n') endRow();
    else if (letter !== '\r') cell += letter;
    else if (text[at + 1] !== '\n') endRow();
    at += 1;
  }
  if (cell !== '' || row.length > 0) endRow();
  return rows;
}

function quoted(text: string, begin: number): readonly [string, number] {
  let inner = '';
  let at = begin;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return [inner + text.slice(at), text.length];
    inner += text.slice(at, end);
    if (text[end + 1] !== '"') return [inner, end + 1];
    inner += '"';
    at = end + 2;
  }
}
