// The sizes of the build against their lines, gzipped as they are served.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const assets = readdirSync(`${dist}assets`);
const kilobytes = (name: string): number => statSync(`${dist}assets/${name}`).size / 1_000;
const html = readFileSync(`${dist}index.html`, 'utf8');
const first = [...html.matchAll(/assets\/[^"]+\.(?:js|css)/g)].map(([name]) => name.slice('assets/'.length));
/** Chunks that have a line of their own. Everything else is a page's. */
const LARGER: Readonly<Record<string, number>> = { 'dates-panel': 25, hindi: 90, builder: 90 };
const stem = (name: string): string => name.replace(/-[\w-]{8}\.js.*$/, '');

test('the first load: code and styles at most 200 kB', () => {
  const sum = first.reduce((total, name) => total + kilobytes(`${name}.gz`), 0);
  assert.ok(first.length >= 2 && sum <= 200, `${sum.toFixed(1)} kB: ${first.join(' ')}`);
});

test('the first load: Latin fonts at most 35 kB', () => {
  const sum = assets.filter((name) => /^(inter|mono).*\.woff2$/.test(name)).reduce((total, name) => total + kilobytes(name), 0);
  assert.ok(sum > 0 && sum <= 35, `${sum.toFixed(1)} kB`);
});

test('every other chunk keeps to its line', () => {
  const over = assets.filter((name) => name.endsWith('.js') && !first.includes(name)).map((name) => ({ name, size: kilobytes(`${name}.gz`), line: LARGER[stem(name)] ?? 25 })).filter(({ size, line }) => size > line);
  assert.deepEqual(over, []);
});

// Ten pages took 0.7 MB; there are four times as many, and all sentences in Hindi.
test('the whole console: at most 1.4 MB, packed twice and fonts once', () => {
  const sum = assets.filter((name) => /\.(gz|br|woff2)$/.test(name)).reduce((total, name) => total + kilobytes(name), 0);
  assert.ok(sum <= 1_400, `${sum.toFixed(0)} kB`);
});

test('each file lies packed beside itself', () => {
  for (const name of assets.filter((one) => /\.(js|css)$/.test(one))) assert.ok(assets.includes(`${name}.gz`) && assets.includes(`${name}.br`), name);
});
