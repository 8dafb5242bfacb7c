// A service of its own in a temporary folder: sandbox carrier, a clock that is moved by hand, a demo workspace with one member of each role.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export type Role = 'viewer' | 'editor' | 'admin' | 'owner';
export const ROLES: readonly Role[] = ['viewer', 'editor', 'admin', 'owner'];
export const PASSWORD = 'a long password of tests';
interface Answer<T> { readonly status: number; readonly body: T; readonly cookies: readonly string[] }
// Answers of the API are read by tests that know their shape.
export type Shape = { [member: string]: any };

export interface Service {
  readonly url: string;
  readonly workspace: string;
  readonly agent: string;
  readonly campaign: string;
  readonly stream: string;
  /** Calls the API: with a key of a mode, or the operator's token. Fails unless the answer is a success. */
  api: (method: string, path: string, body?: unknown, as?: 'live' | 'test' | 'operator') => Promise<Shape>;
  /** The cookie of a member with this role. */
  cookie: (role: Role) => Promise<string>;
  email: (role: Role) => string;
  /** A link that signs in once: /console/link#… */
  link: (email: string, more?: Shape) => Promise<string>;
  /** Calls an operation as a member, as the console does. */
  as: (role: Role, method: string, path: string, body?: unknown, mode?: 'live' | 'test') => Promise<Shape>;
  /** Moves the clock; what is due until then has happened when it answers. */
  advance: (seconds: number) => Promise<void>;
  now: () => Promise<string>;
  stop: () => Promise<void>;
}

export function send<T = Shape>(url: string, method: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer<T>> {
  return new Promise((resolve, reject) => {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const asked = request(url, { method, headers: { ...(content ? { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(content)) } : {}), ...headers } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => { text += piece; });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: (text && text.startsWith('{') ? JSON.parse(text) : text) as T, cookies: answer.headers['set-cookie'] ?? [] }));
    });
    asked.on('error', reject);
    asked.end(content);
  });
}

export async function startService(options: { clock?: 'manual' | 'real' } = {}): Promise<Service> {
  const binary = process.env.DASTAK;
  if (!binary) throw new Error('DASTAK names no binary of the service');
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  const database = newDatabase();
  const child = spawn(binary, ['dev', '--listen', '127.0.0.1:0', '--clock', options.clock ?? 'manual', ...(database ? ['--database-url', database.url] : [])], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.on('data', (piece: Buffer) => { log = (log + String(piece)).slice(-20_000); });
  const url = await ready(child, () => log);
  const demo = Object.fromEntries(readFileSync(join(folder, 'dastak-data/demo.env'), 'utf8').trim().split('\n').map((line) => line.split('=') as [string, string]));
  const token = readFileSync(join(folder, 'dastak-data/operator.token'), 'utf8').trim();
  const bearer = { live: demo.LIVE_KEY ?? '', test: demo.TEST_KEY ?? '', operator: token };

  const checked = <T extends Shape>(what: string, answer: Answer<T>): T => {
    if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const api: Service['api'] = async (method, path, body, as = 'live') =>
    checked(`${method} ${path}`, await send(url + (as === 'operator' ? `/operator${path}` : path), method, body, { authorization: `Bearer ${bearer[as]}` }));
  const workspace = String((await api('GET', '/v1/me').catch((cause: unknown) => { child.kill('SIGKILL'); throw cause; })).data.workspace.id);
  const email = (role: Role): string => `${role}@example.com`;
  const link: Service['link'] = async (address, more = {}) => String((await api('POST', '/v1/sign-in-links', { email: address, ...more }, 'operator')).data.url);
  const cookies = new Map<Role, Promise<string>>();
  const signIn = async (role: Role): Promise<string> => {
    const made = await link(email(role), { name: NAMES[role], workspaceId: workspace, role, operator: role === 'owner' });
    const used = await send(`${url}/console/api/sign-in/link`, 'POST', { token: made.split('#')[1], password: PASSWORD }, { origin: url });
    checked('sign-in', used);
    return used.cookies.map((one) => one.split(';')[0]).join('; ');
  };
  const cookie = (role: Role): Promise<string> => {
    let one = cookies.get(role);
    if (!one) { one = signIn(role); cookies.set(role, one); }
    return one;
  };
  return {
    url, workspace, agent: demo.AGENT ?? '', campaign: demo.CAMPAIGN ?? '', stream: demo.STREAM ?? '', api, cookie, email, link,
    as: async (role, method, path, body, mode = 'live') => checked(`${role}: ${method} ${path}`, await send(`${url}/console/api/${workspace}/${mode}${path}`, method, body, { cookie: await cookie(role), origin: url })),
    advance: async (seconds) => { checked('clock', await send(`${url}/dev/clock`, 'POST', { advanceSeconds: seconds })); },
    now: async () => String((await send(`${url}/dev/clock`, 'GET')).body.now),
    stop: async () => { await ended(child, folder); database?.drop(); },
  };
}

const NAMES: Record<Role, string> = { viewer: 'Vani Reader', editor: 'Kavya Rao', admin: 'Arjun Mehta', owner: 'Asha Kulkarni' };

/** With CONSOLE_DATABASE, the address of a PostgreSQL server, each service has a database of its own there; else the embedded store. */
function newDatabase(): { url: string; drop: () => void } | null {
  const server = process.env.CONSOLE_DATABASE;
  if (!server) return null;
  const name = `console_${process.pid}_${Date.now()}`;
  const psql = (statement: string): void => { execFileSync('psql', [server, '--quiet', '--command', statement]); };
  psql(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => psql(`drop database ${name} with (force)`) };
}

function ready(child: ChildProcess, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) return reject(new Error('no output'));
    createInterface(child.stdout).once('line', (line) => resolve(String((JSON.parse(line) as { url: string }).url)));
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${log()}`)));
  });
}

function ended(child: ChildProcess, folder: string): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => { rmSync(folder, { recursive: true, force: true }); resolve(); });
    child.kill('SIGTERM');
  });
}
