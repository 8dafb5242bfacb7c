// Server-sent events out of a body that is read piece by piece.

import { heard } from './connection.ts';

export interface StreamEvent { readonly id: string | null; readonly event: string; readonly data: Readonly<Record<string, unknown>> }

/** The service says something every 15 seconds; who is silent for three times as long is gone. */
const SILENCE = 45_000;

export async function* events(body: ReadableStream<Uint8Array>, connection: AbortController): AsyncGenerator<StreamEvent> {
  let watch: ReturnType<typeof setTimeout> | undefined;
  try {
    yield* read(body, () => {
      heard();
      clearTimeout(watch);
      watch = setTimeout(() => connection.abort('silent'), SILENCE);
    });
  } finally {
    clearTimeout(watch);
  }
}

async function* read(body: ReadableStream<Uint8Array>, alive: () => void): AsyncGenerator<StreamEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    alive();
    rest += value.replaceAll('\r', '');
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const event = parse(rest.slice(0, end));
      rest = rest.slice(end + 2);
      if (event) yield event;
    }
  }
}

function parse(block: string): StreamEvent | null {
  let id: string | null = null;
  let event = 'message';
  let data = '';
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, '');
    const field = line.slice(0, colon);
    if (field === 'id') id = value;
    if (field === 'event') event = value;
    if (field === 'data') data += value;
  }
  return data === '' && event === 'message' ? null : { id, event, data: data === '' ? {} : (JSON.parse(data) as Record<string, unknown>) };
}
