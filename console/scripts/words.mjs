// Every sentence of the interface has its Hindi in messages/hi/*.json, and nothing lies there that no page says.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const STRING = String.raw`('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")`;
const SENTENCE = new RegExp(String.raw`(?<![\w.$])(?:t|rich)\(\s*${STRING}`, 'g');
const PLURAL = new RegExp(String.raw`(?<![\w.$])plural\((?:[^'"\n]|\n)*?,\s*${STRING}\s*,\s*${STRING}`, 'g');
const OTHER = /(?<![\w.$'])(?:t|rich)\(\s*(?!['")])/g;

const faults = [];
const said = new Map();
const value = (literal) => (literal.startsWith('"') ? JSON.parse(literal) : JSON.parse(`"${literal.slice(1, -1).replace(/\\'/g, "'").replace(/(?<!\\)"/g, '\\"')}"`));

for (const name of readdirSync(`${root}/src`, { recursive: true })) {
  if (!/\.tsx?$/.test(name) || name.endsWith('parts/words.ts')) continue;
  const text = readFileSync(`${root}/src/${name}`, 'utf8');
  for (const [, literal] of text.matchAll(SENTENCE)) said.set(value(literal), name);
  for (const [, , literal] of text.matchAll(PLURAL)) said.set(value(literal), name);
  for (const match of text.matchAll(OTHER)) faults.push(`src/${name}: a sentence that is not written out: ${text.slice(match.index, match.index + 50).replaceAll('\n', ' ')}`);
}

const hindi = new Map();
for (const name of readdirSync(`${root}/messages/hi`)) {
  for (const [key, message] of Object.entries(JSON.parse(readFileSync(`${root}/messages/hi/${name}`, 'utf8')))) {
    const before = hindi.get(key);
    if (before && JSON.stringify(before.message) !== JSON.stringify(message)) faults.push(`messages/hi/${name}: says “${key}” otherwise than ${before.name}`);
    hindi.set(key, { name, message });
  }
}
const holes = (text) => [...text.matchAll(/\{\w+\}/g)].map(([hole]) => hole).sort().join();
for (const [key, name] of said) {
  const found = hindi.get(key);
  if (!found) { faults.push(`src/${name}: no Hindi for ${JSON.stringify(key)}`); continue; }
  for (const message of typeof found.message === 'string' ? [found.message] : [found.message.one, found.message.other]) {
    const [written, wanted] = [holes(message), holes(key)];
    if (written !== wanted && !(typeof found.message !== 'string' && message === found.message.one)) faults.push(`messages/hi/${found.name}: other places than in ${JSON.stringify(key)}`);
  }
}
// Words that many pages use lie in common.json, whether one uses them now or not.
for (const [key, { name }] of hindi) if (!said.has(key) && name !== 'common.json') faults.push(`messages/hi/${name}: nothing says ${JSON.stringify(key)}`);

if (process.argv.includes('--missing')) {
  console.log(JSON.stringify(Object.fromEntries([...said].filter(([key]) => !hindi.has(key)).map(([key]) => [key, ''])), null, 2));
} else if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
} else console.log(said.size, 'sentences in two languages');
