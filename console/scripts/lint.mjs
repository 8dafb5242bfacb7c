// What the compiler does not see: tokens, the borders of modules, what the headers forbid, the length of files.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SHARED = new Set(['parts', 'api', 'shell']);
const faults = [];
const files = readdirSync(`${root}/src`, { recursive: true }).map(String);

const STYLES = [
  [/#[0-9a-f]{3,8}\b/i, 'a colour'], [/\b(?:rgb|hsl|oklch|lab)a?\(/, 'a colour'], [/(?<![-\w])(?:color|background|fill|stroke|border-color)\s*:\s*(?:white|black|red|green|blue|gray|grey)\b/, 'a colour'],
  [/font-size\s*:\s*\d/, 'a type size'], [/(?<![-\w])font\s*:\s*(?:\d|[\w ]*\d+px)/, 'a type size'], [/\b\d*\.?\d+m?s\b(?!\w)/, 'a duration'],
];
const CODE = [
  [/dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write\(/, 'markup from text'], [/\beval\(|new Function\(/, 'code from text'],
  [/:\s*any\b|\bas any\b|<any>/, 'any'], [/@ts-(?:ignore|nocheck|expect-error)/, 'an unchecked line'], [/console\.(?:log|warn|error)\(/, 'a word to the console'],
  [/['"`]https?:\/\/(?!www\.w3\.org)/, 'another host'], [/style=\{\{[^}]*#[0-9a-f]{3,8}/i, 'a colour'], [/fontSize/, 'a type size'],
];
const plain = (text) => text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '));

for (const name of files) {
  if (!/\.(?:tsx?|css)$/.test(name)) continue;
  const raw = readFileSync(`${root}/src/${name}`, 'utf8');
  const lines = plain(raw).split('\n');
  const look = (patterns) => lines.forEach((line, at) => { for (const [pattern, what] of patterns) if (pattern.test(line.replace(/^\s*\/\/.*/, ''))) faults.push(`src/${name}:${at + 1}: ${what}: ${line.trim().slice(0, 90)}`); });
  if (name.endsWith('.css')) { if (!name.endsWith('parts/tokens.css')) look(STYLES); } else look(CODE);
  if (raw.split('\n').length > 401 && !name.endsWith('api/operations.ts')) faults.push(`src/${name}: more than 400 lines`);
  const module = name.includes('/') ? name.split('/')[0] : null;
  if (!module) continue;
  for (const [, path] of raw.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)) {
    const target = new URL(path, `file:///src/${name}`).pathname.split('/')[2];
    if (target === module || SHARED.has(target)) continue;
    if (!target.includes('.')) faults.push(`src/${name}: ${module} imports the page module ${target}`);
  }
}
const html = readFileSync(`${root}/index.html`, 'utf8');
if (/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/.test(html)) faults.push('index.html: something inline');
const lock = readFileSync(`${root}/package-lock.json`, 'utf8');
if (/"resolved"/.test(lock)) faults.push('package-lock.json: names a registry');

if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}
console.log(files.length, 'files are within the rules');
