/** What the tests share. */

import { readFileSync } from "node:fs";

import { Client, type ClientOptions } from "dastak";

export interface Requested {
  method: string;
  path: string;
  key: string | null;
  body: string;
  headers: Record<string, string>;
}

function environment(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run scripts/sdk.sh`);
  return value;
}

export function vectors<T>(name: string): T {
  return JSON.parse(readFileSync(`${environment("DASTAK_SDK")}/vectors/${name}.json`, "utf8")) as T;
}

let made = 0;

/** A client of the server that misbehaves as this scenario says, and what was requested there or of another scenario. */
export function at(scenario: string, options: ClientOptions = {}): { client: Client; log: (of?: string) => Promise<Requested[]> } {
  made += 1;
  const segment = `${scenario}~typescript-${process.pid}-${made}`;
  const stub = environment("DASTAK_STUB");
  const client = new Client({ apiKey: "dastak_test_1", baseUrl: `${stub}/${segment}`, ...options });
  const log = async (of = scenario): Promise<Requested[]> => {
    const answer = await fetch(`${stub}/log/${segment.replace(scenario, of)}`);
    return ((await answer.json()) as { data: Requested[] }).data;
  };
  return { client, log };
}

/** The service that the tests run against. */
export function service(): { url: string; live: string; test: string } {
  return JSON.parse(environment("DASTAK_TEST_SERVICE")) as { url: string; live: string; test: string };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
