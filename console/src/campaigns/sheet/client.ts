// The reader as the page uses it: in a worker.
import { SheetError } from './fault.ts';
import type { Change, Made, Mapping, Piece, SheetInfo } from './reader.ts';
import type { Reply, Request } from './reader.worker.ts';
import workerUrl from './reader.worker.ts?worker&url';

export interface Sheet {
  open: (file: File, variables: readonly string[]) => Promise<SheetInfo>;
  make: (mapping: Mapping) => Promise<Made>;
  next: () => Promise<Piece>;
  edit: (row: number, change: Change) => Promise<void>;
  close: () => void;
}

interface Policies { createPolicy: (name: string, rules: { createScriptURL: (url: string) => string }) => { createScriptURL: (url: string) => unknown } }
let policy: ReturnType<Policies['createPolicy']> | undefined;

/** The headers let a script be loaded only by the policy `reader`, and it knows one address. */
function address(): string {
  const types = (globalThis as { trustedTypes?: Policies }).trustedTypes;
  if (!types) return workerUrl;
  policy ??= types.createPolicy('reader', { createScriptURL: (url) => { if (url !== workerUrl) throw new TypeError('another script'); return url; } });
  return policy.createScriptURL(workerUrl) as string;
}

/** Opens the reader, in a worker of its own. */
export function openSheet(): Sheet {
  const worker = new Worker(address(), { type: 'module' });
  const waiting = new Map<number, { done: (value: unknown) => void; failed: (cause: Error) => void }>();
  let last = 0;
  worker.addEventListener('message', (event: MessageEvent<Reply>) => {
    const { n, value, fault, of } = event.data;
    const one = waiting.get(n);
    waiting.delete(n);
    if (fault) one?.failed(new SheetError(fault, of)); else one?.done(value);
  });
  worker.addEventListener('error', () => { waiting.forEach((one) => one.failed(new SheetError('not_a_sheet'))); waiting.clear(); });
  const ask = <T,>(request: Unnumbered): Promise<T> => new Promise<T>((resolve, reject) => {
    last += 1;
    waiting.set(last, { done: (value) => resolve(value as T), failed: reject });
    worker.postMessage({ ...request, n: last });
  });
  return {
    open: (file, variables) => ask({ call: 'open', file, name: file.name, variables }),
    make: (mapping) => ask({ call: 'make', mapping }),
    next: () => ask({ call: 'next' }),
    edit: (row, change) => ask({ call: 'edit', row, change }),
    close: () => worker.terminate(),
  };
}
type Unnumbered = Request extends infer One ? (One extends Request ? Omit<One, 'n'> : never) : never;
