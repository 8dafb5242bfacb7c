// Reads a ZIP by its directory. The browser itself inflates; nothing is trusted about the sizes that the archive names.
import { SheetError } from './fault.ts';

const MOST = 300_000_000;
const END = 0x06054b50;
const ENTRY = 0x02014b50;

export interface Archive { readonly names: readonly string[]; read: (name: string) => Promise<string | null> }

export function openArchive(bytes: ArrayBuffer): Archive {
  const view = new DataView(bytes);
  const entries = directory(view);
  let left = MOST;
  return {
    names: [...entries.keys()],
    read: async (name) => {
      const entry = entries.get(name);
      if (!entry) return null;
      const text = await inflated(view, entry, left);
      left -= text.length;
      return text;
    },
  };
}

interface Entry { readonly method: number; readonly size: number; readonly at: number }

function directory(view: DataView): Map<string, Entry> {
  let end = view.byteLength - 22;
  while (end >= 0 && end > view.byteLength - 66_000 && view.getUint32(end, true) !== END) end -= 1;
  if (end < 0 || view.getUint32(end, true) !== END) throw new SheetError('not_a_sheet');
  const entries = new Map<string, Entry>();
  let at = view.getUint32(end + 16, true);
  for (let n = view.getUint16(end + 10, true); n > 0 && at + 46 <= view.byteLength && view.getUint32(at, true) === ENTRY; n -= 1) {
    const [name, extra, comment] = [view.getUint16(at + 28, true), view.getUint16(at + 30, true), view.getUint16(at + 32, true)];
    const text = new TextDecoder().decode(new Uint8Array(view.buffer, at + 46, name));
    entries.set(text, { method: view.getUint16(at + 10, true), size: view.getUint32(at + 20, true), at: view.getUint32(at + 42, true) });
    at += 46 + name + extra + comment;
  }
  return entries;
}

async function inflated(view: DataView, entry: Entry, most: number): Promise<string> {
  if (entry.at + 30 > view.byteLength) throw new SheetError('not_a_sheet');
  const begin = entry.at + 30 + view.getUint16(entry.at + 26, true) + view.getUint16(entry.at + 28, true);
  if (begin + entry.size > view.byteLength) throw new SheetError('not_a_sheet');
  const packed = new Uint8Array(view.buffer as ArrayBuffer, begin, entry.size);
  if (entry.method === 0) return new TextDecoder().decode(packed);
  if (entry.method !== 8) throw new SheetError('not_a_sheet');
  const decoder = new TextDecoder();
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read().catch(() => { throw new SheetError('not_a_sheet'); });
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > most) { void reader.cancel(); throw new SheetError('too_large'); }
  }
}
