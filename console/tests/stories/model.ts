// A language model for tests: an OpenAI-compatible server on this machine that grades, sums up and talks the same way each time.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Schema { readonly properties?: Readonly<Record<string, { readonly properties?: Readonly<Record<string, unknown>> }>> }
interface Asked { readonly stream?: boolean; readonly messages: readonly { readonly content: string }[]; readonly response_format?: { readonly json_schema?: { readonly name: string; readonly schema: Schema } } }
export interface Model { readonly env: Readonly<Record<string, string>>; readonly close: () => Promise<void> }

export async function startModel(): Promise<Model> {
  const server = createServer((asked, answer) => {
    void body(asked).then((text) => {
      const order = (text ? JSON.parse(text) : { messages: [] }) as Asked;
      if (order.stream) {
        answer.writeHead(200, { 'content-type': 'text/event-stream' });
        answer.write(`data: ${JSON.stringify({ choices: [{ delta: { content: 'Thank you, I have noted it. May I ask one more thing?' } }] })}\n\n`);
        answer.end(`data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`);
        return;
      }
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ choices: [{ message: { content: JSON.stringify(content(order)) } }] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    env: { DASTAK_LANGUAGE_MODEL__PROVIDERS: 'exam,offline', DASTAK_LANGUAGE_MODEL__EXAM__BASE_URL: url, DASTAK_LANGUAGE_MODEL__EXAM__MODEL: 'exam-1', DASTAK_LANGUAGE_MODEL__EXAM__RESIDENT: 'true' },
    close: () => new Promise((resolve) => { server.close(() => resolve()); server.closeAllConnections(); }),
  };
}

function content(order: Asked): unknown {
  const asked = order.response_format?.json_schema;
  if (asked?.name !== 'grades') return { summary: 'The delivery is confirmed for tomorrow.', sentiment: 'positive', outcome: null, fields: {} };
  const lines = JSON.parse(order.messages.at(-1)?.content ?? '[]') as { speaker: string; text: string }[];
  const first = lines.find((line) => line.speaker === 'agent')?.text ?? '';
  const grades = Object.entries(asked.schema.properties ?? {}).map(([key, { properties }], at) => [key, {
    reasoning: `The agent said "${first}" at the beginning.`, quotes: [first],
    ...(properties && 'score' in properties ? { score: 55 } : { verdict: at === 0 ? 'pass' : 'fail' }),
  }]);
  return Object.fromEntries(grades);
}

async function body(asked: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of asked) text += String(piece);
  return text;
}
