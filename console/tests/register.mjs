// Lets Node 20 run the tests: types are taken off by the transformer that the build uses.
import { readFileSync } from 'node:fs';
import { register } from 'node:module';

if (process.env.CONSOLE_TESTS_HOOK !== 'inside') register(import.meta.url);

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const { transformWithOxc } = await import('vite');
  const { code } = await transformWithOxc(readFileSync(new URL(url), 'utf8'), new URL(url).pathname);
  return { format: 'module', source: code, shortCircuit: true };
}
