/** The client. */

import { InvalidArgumentError } from "./errors.js";
import type { Pending } from "./pending.js";
import { type KeyedOptions, type Operation, type Settings, checked } from "./requests.js";
import { Resources } from "./resources.js";
import { Transport } from "./transport.js";

const DEFAULT_BASE_URL = "http://127.0.0.1:8080";
const DEFAULT_TIMEOUT = 60_000;
const DEFAULT_MAX_RETRIES = 2;

/** How a client reaches the service. */
export interface ClientOptions {
  /** By default `DASTAK_API_KEY` of the environment. */
  apiKey?: string | undefined;
  /** By default `DASTAK_BASE_URL` of the environment, else http://127.0.0.1:8080, where `dastak dev` listens. */
  baseUrl?: string | undefined;
  /** Milliseconds for a whole answer, and between two pieces of a download or a stream; by default 60,000. */
  timeout?: number | undefined;
  /** How often a request that may be repeated is sent again; by default 2, at most 20. */
  maxRetries?: number | undefined;
  /** Sent with every request. */
  headers?: Record<string, string> | undefined;
  /** A `fetch` of your own, for proxies or certificates. */
  fetch?: typeof fetch | undefined;
}

/** Reaches the service. One client serves a whole program. */
export class Client extends Resources {
  readonly #settings: Settings;
  readonly #transport: Transport;

  constructor(options: ClientOptions = {}) {
    const settings = checked({
      baseUrl: options.baseUrl || process.env["DASTAK_BASE_URL"] || DEFAULT_BASE_URL,
      apiKey: options.apiKey || process.env["DASTAK_API_KEY"] || "",
      timeout: options.timeout ?? DEFAULT_TIMEOUT,
      maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
      headers: { ...options.headers },
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    });
    const transport = new Transport(settings);
    super(transport);
    this.#settings = settings;
    this.#transport = transport;
  }

  get baseUrl(): string {
    return this.#settings.baseUrl;
  }

  /** A client with other options. */
  withOptions(options: ClientOptions): Client {
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    return new Client({ ...this.#settings, ...given, headers: { ...this.#settings.headers, ...options.headers } });
  }

  /** A request that this version has no method for; the answer is the body's JSON. */
  request<T = unknown>(method: string, path: string, { query, body, ...options }: KeyedOptions & { query?: object; body?: unknown } = {}): Pending<T> {
    if (!path.startsWith("/")) throw new InvalidArgumentError("path: it begins with /, such as /v1/me");
    const operation: Operation = {
      method: method.toUpperCase(),
      path: path.replace(/\{/g, "%7B").replace(/\}/g, "%7D"),
      keyed: options.idempotencyKey !== undefined,
      json: body !== undefined,
    };
    return this.#transport.call<T>(operation, { query, body, options });
  }
}
