// Licences of the packages that are built into the console.
//
//   licenses.mjs          writes console/THIRD_PARTY_LICENSES.txt, which `dastak licenses` prints after those of the crates
//   licenses.mjs --check  fails when that file is not what package-lock.json asks for, or a licence is not on the list
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';

const ALLOWED = ['Apache-2.0', 'MIT', 'ISC', 'BSD-3-Clause', 'BSD-2-Clause', '0BSD', 'Unlicense'];
const FILE = 'THIRD_PARTY_LICENSES.txt';

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const texts = new Map();
for (const [place, entry] of Object.entries(lock.packages)) {
  if (place === '' || entry.dev || entry.optional) continue;
  const name = place.split('node_modules/').at(-1);
  const { license, version } = JSON.parse(readFileSync(`${place}/package.json`, 'utf8'));
  // Types are not in what is built.
  if (name.startsWith('@types/')) continue;
  if (!ALLOWED.includes(license)) throw new Error(`${name} ${version}: the licence ${license} is not on the list`);
  const file = readdirSync(place).find((candidate) => /^licen[cs]e/i.test(candidate));
  const text = file ? readFileSync(`${place}/${file}`, 'utf8').replaceAll('\r', '').trim() : `Licensed under ${license}.`;
  const users = texts.get(text) ?? [];
  texts.set(text, [...users, `${name} ${version}, ${license}`]);
}
const parts = [...texts].map(([text, users]) => `${[...new Set(users)].sort().join('\n')}\n\n${text}\n`).sort();
const line = `\n${'-'.repeat(78)}\n\n`;
const wanted = `Packages and fonts that are built into the console.\n${line}${parts.join(line)}${line}${readFileSync('fonts/LICENSES.txt', 'utf8').trim()}\n`;

if (process.argv.includes('--check')) {
  if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== wanted) throw new Error(`console/${FILE} is not what package-lock.json asks for: node scripts/licenses.mjs`);
} else {
  writeFileSync(FILE, wanted);
}
