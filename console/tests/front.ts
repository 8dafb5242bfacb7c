// Serves console/dist with the headers of the service and forwards everything else to it, so that pages can be driven by a service without them.
// With CONSOLE_FROM=binary the service serves its own pages.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));
export const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; font-src 'self'; media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const HEADERS = {
  'content-security-policy': CSP, 'cross-origin-opener-policy': 'same-origin', 'referrer-policy': 'no-referrer',
  'permissions-policy': 'microphone=(self)', 'x-content-type-options': 'nosniff',
};
const TYPES: Record<string, string> = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.woff2': 'font/woff2', '.svg': 'image/svg+xml' };

export interface Front {
  readonly url: string;
  /** Cuts every connection and refuses new ones to the service, until it is called with false. */
  cut: (gone: boolean) => void;
  close: () => Promise<void>;
}

export async function startFront(service: string, dist = DIST): Promise<Front> {
  if (dist === DIST && process.env.CONSOLE_FROM !== 'binary' && !existsSync(join(DIST, 'index.html'))) throw new Error('console/dist is missing: scripts/console.sh');
  let gone = false;
  const open = new Set<ServerResponse>();
  const server = createServer((asked, answer) => {
    const path = new URL(asked.url ?? '/', 'http://front').pathname;
    const ours = (dist !== DIST || process.env.CONSOLE_FROM !== 'binary') && /^\/console(\/|$)/.test(path) && !/^\/console\/(api|openid)\//.test(path);
    if (ours) return file(dist, path, answer);
    if (gone) return void answer.destroy();
    open.add(answer);
    answer.on('close', () => open.delete(answer));
    forward(service, asked, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: (now) => { gone = now; if (now) open.forEach((one) => one.destroy()); },
    close: () => new Promise((resolve) => { server.close(() => resolve()); server.closeAllConnections(); }),
  };
}

function file(dist: string, path: string, answer: ServerResponse): void {
  const name = path.replace(/^\/console\/?/, '');
  const found = join(dist, name);
  const there = name !== '' && found.startsWith(dist) && existsSync(found) && statSync(found).isFile();
  if (!there && name.startsWith('assets/')) { answer.writeHead(404, HEADERS).end(); return; }
  const served = there ? found : join(dist, 'index.html');
  answer.writeHead(200, { ...HEADERS, 'content-type': TYPES[extname(served)] ?? 'application/octet-stream', 'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache' }).end(readFileSync(served));
}

function forward(service: string, asked: IncomingMessage, answer: ServerResponse): void {
  const onward = request(service + (asked.url ?? '/'), { method: asked.method ?? 'GET', headers: asked.headers }, (back) => {
    answer.writeHead(back.statusCode ?? 502, back.headers);
    answer.flushHeaders();
    back.pipe(answer);
    back.on('error', () => answer.destroy());
  });
  onward.on('error', () => answer.destroy());
  answer.on('close', () => onward.destroy());
  asked.pipe(onward);
}
