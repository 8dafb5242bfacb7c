import { connectionProblem } from './connection.ts';
import { OPERATIONS, type OperationId, type Operations } from './operations.ts';
import { currentScope, type Scope } from './scope.ts';
import { signedInAgain } from './sign-in-gate.ts';

/** What the service answered instead of data. `code` is for programs, `message` for people. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly field: string | null;
  readonly requestId: string | null;
  readonly retryAfter: number | null;
  readonly meta: Readonly<Record<string, unknown>>;

  constructor(about: { status: number; code: string; message: string; requestId?: string | null; retryAfter?: number | null; meta?: Record<string, unknown> }) {
    super(about.message);
    this.name = 'ApiError';
    this.status = about.status;
    this.code = about.code;
    this.requestId = about.requestId ?? null;
    this.retryAfter = about.retryAfter ?? null;
    this.meta = about.meta ?? {};
    this.field = typeof this.meta.field === 'string' ? this.meta.field : null;
  }
}

type Given<T, Name extends string> = T extends undefined ? unknown : Partial<Record<never, never>> extends T ? { [K in Name]?: T } : { [K in Name]: T };

/** What an operation takes: `path`, `query` and `body`, as far as it has them. */
export type Input<K extends OperationId> = Given<Operations[K]['path'], 'path'> & Given<Operations[K]['query'], 'query'> & Given<Operations[K]['body'], 'body'> & {
  signal?: AbortSignal | undefined;
  /** Sent as `Idempotency-Key`: the same action is done once, however often it is sent. */
  once?: string | undefined;
};
export type Answer<K extends OperationId> = Operations[K]['answer'];
interface AnyInput { path?: Record<string, string>; query?: object; body?: unknown; signal?: AbortSignal; once?: string }

/** Calls an operation of the API in the workspace and mode of the address. */
export function call<K extends OperationId>(operation: K, ...[input]: Record<never, never> extends Input<K> ? [Input<K>?] : [Input<K>]): Promise<Answer<K>> {
  return request(operation, (input ?? {}) as AnyInput, currentScope()) as Promise<Answer<K>>;
}

/** The same in a workspace and mode that are named. */
export function callIn<K extends OperationId>(scope: Scope | null, operation: K, input: Input<K>): Promise<Answer<K>> {
  return request(operation, input as AnyInput, scope) as Promise<Answer<K>>;
}

/** Calls the operator's API: `operator("GET", "/workspaces")` is `/console/api/operator/v1/workspaces`. */
export async function operator<T>(method: string, path: string, input: { query?: object; body?: unknown; signal?: AbortSignal } = {}): Promise<T> {
  return (await send(method, `/console/api/operator/v1${path}${queryOf(input.query)}`, input)) as T;
}

/** The address of an operation, for links to files and for 'Copy as curl'. */
export function addressOf(operation: OperationId, input: { path?: Record<string, string>; query?: object } = {}, scope: Scope | null = currentScope()): string {
  const [, template] = OPERATIONS[operation];
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(input.path?.[name] ?? ''));
  return prefix(template, scope) + path + queryOf(input.query);
}

function prefix(template: string, scope: Scope | null): string {
  if (template.startsWith('/console/')) return '';
  if (template.startsWith('/operator/')) return '/console/api';
  if (!scope) throw new ApiError({ status: 404, code: 'not_found', message: 'This address names no workspace.' });
  return `/console/api/${scope.workspace}/${scope.test ? 'test' : 'live'}`;
}

function queryOf(query: object | undefined): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null || value === '') continue;
    parameters.set(name, Array.isArray(value) ? value.join(',') : String(value));
  }
  const text = parameters.toString();
  return text ? `?${text}` : '';
}

function request(operation: OperationId, input: AnyInput, scope: Scope | null): Promise<unknown> {
  const [method] = OPERATIONS[operation];
  return send(method, addressOf(operation, input, scope), input, SIGNS_IN.has(operation));
}

/** Their 401 is an answer, and opens no dialog: a wrong password, or nobody who has signed in yet. */
const SIGNS_IN = new Set<OperationId>(['getMe', 'signIn', 'useSignInLink', 'acceptInvitation', 'getSignInMethods', 'signOut']);

async function send(method: string, address: string, input: AnyInput, signsIn = false): Promise<unknown> {
  const changes = method !== 'GET';
  if (changes && !signsIn) refuseWhileLost();
  for (;;) {
    const answer = await fetched(method, address, input);
    if (answer.status === 401 && !signsIn) {
      await signedInAgain();
      continue;
    }
    return body(answer);
  }
}

function refuseWhileLost(): void {
  const problem = connectionProblem();
  if (problem) throw new ApiError({ status: 0, code: 'connection_lost', message: problem });
}

async function fetched(method: string, address: string, input: AnyInput): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (input.once) headers['idempotency-key'] = input.once;
  const form = input.body instanceof FormData;
  if (input.body !== undefined && !form) headers['content-type'] = 'application/json';
  const content = input.body === undefined ? null : form ? (input.body as FormData) : JSON.stringify(input.body);
  try {
    return await fetch(address, { method, headers, body: content, credentials: 'same-origin', redirect: 'error', signal: input.signal ?? null });
  } catch (cause) {
    if (input.signal?.aborted) throw cause;
    throw new ApiError({ status: 0, code: 'no_answer', message: 'The service did not answer.' });
  }
}

async function body(answer: Response): Promise<unknown> {
  const text = await answer.text();
  const shown = parsed(text);
  if (answer.ok) return shown;
  const told = (shown ?? {}) as { error?: string; code?: string; requestId?: string; meta?: Record<string, unknown> };
  throw new ApiError({
    status: answer.status,
    code: told.code ?? 'unknown',
    message: told.error ?? `The service answered ${answer.status}.`,
    requestId: told.requestId ?? answer.headers.get('x-request-id'),
    retryAfter: Number(answer.headers.get('retry-after')) || null,
    meta: told.meta ?? {},
  });
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
