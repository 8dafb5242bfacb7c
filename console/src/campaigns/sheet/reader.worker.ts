// The reader behind messages: a call with a number, its answer with the same number.
import { SheetError } from './fault.ts';
import { Reader, type Change, type Mapping } from './reader.ts';

export type Request = { readonly n: number } & (
  | { readonly call: 'open'; readonly file: Blob; readonly name: string; readonly variables: readonly string[] }
  | { readonly call: 'make'; readonly mapping: Mapping }
  | { readonly call: 'next' }
  | { readonly call: 'edit'; readonly row: number; readonly change: Change }
);
export interface Reply { readonly n: number; readonly value?: unknown; readonly fault?: SheetError['fault']; readonly of?: number }

const reader = new Reader();
self.addEventListener('message', (event: MessageEvent<Request>) => {
  const { n } = event.data;
  answer(event.data).then((value) => post({ n, value }), (cause: unknown) => post(cause instanceof SheetError ? { n, fault: cause.fault, of: cause.n } : { n, fault: 'not_a_sheet', of: 0 }));
});
const post = (reply: Reply): void => self.postMessage(reply);

async function answer(request: Request): Promise<unknown> {
  switch (request.call) {
    case 'open': return reader.open(request.file, request.name, request.variables);
    case 'make': return reader.make(request.mapping);
    case 'next': return reader.next();
    case 'edit': return reader.edit(request.row, request.change);
  }
}
