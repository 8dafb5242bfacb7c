// Measures every pair of text and ground of src/parts/tokens.css in both themes against WCAG 2.2 AA.
import { readFileSync } from 'node:fs';

const css = readFileSync(new URL('../src/parts/tokens.css', import.meta.url), 'utf8');
const [, light, rest] = /:root \{([\s\S]*?)\n\}([\s\S]*)/.exec(css);
const colours = (text) => Object.fromEntries([...text.matchAll(/--([\w-]+): (#[0-9a-f]{6})\b/g)].map(([, name, value]) => [name, value]));
const block = (pattern) => colours(pattern.exec(rest)[1]);
const bySwitch = block(/:root\[data-theme='dark'\] \{([\s\S]*?)\n\}/);
const bySystem = block(/:root:not\(\[data-theme\]\) \{([\s\S]*?)\n {2}\}/);
const faults = [];
if (JSON.stringify(bySwitch) !== JSON.stringify(bySystem)) faults.push('the dark theme of the switch is not that of the system');

const luminance = (hex) => {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ratio = (a, b) => { const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y); return (high + 0.05) / (low + 0.05); };

for (const [name, theme] of [['light', colours(light)], ['dark', { ...colours(light), ...bySwitch }]]) {
  let lowest = 21;
  const pair = (text, ground, least) => {
    const found = ratio(theme[text], theme[ground]);
    if (least === 4.5) lowest = Math.min(lowest, found);
    if (found < least) faults.push(`${name}: ${text} on ${ground} is ${found.toFixed(2)}, less than ${least}`);
  };
  for (const text of ['text', 'text-2', 'text-3', 'accent', 'ok', 'wait', 'bad', 'info', 'mute', 'team', 'rule']) {
    for (const ground of ['bg', 'bg-app', 'bg-well', 'bg-hover', 'bg-raised', ...(theme[`${text}-bg`] ? [`${text}-bg`] : [])]) pair(text, ground, 4.5);
  }
  for (const ground of ['bg-press', 'accent-bg']) for (const text of ['text', 'text-2', 'text-3', 'accent']) pair(text, ground, 4.5);
  pair('on-accent', 'accent', 4.5);
  pair('on-solid', 'wait-solid', 4.5);
  for (const solid of ['line-control', 'ok-solid', 'wait-solid', 'bad-solid', 'info-solid', 'mute-solid', 'team-solid', 'rule-solid', 'accent']) pair(solid, 'bg', 3);
  console.log(name, 'text at least', lowest.toFixed(2));
}
if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}
