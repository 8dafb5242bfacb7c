// The kit's own strings: English and our Hindi. Its other languages stay out of the build (16 kB gzipped of the first load).
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Plugin } from 'vite';

const STRINGS = /node_modules\/react-(aria|stately)[\w-]*\/dist\/private\/(.*\/)?intlStrings\.mjs$/;

const HINDI: Record<string, Record<string, string>> = {
  calendar: {
    previous: 'पिछला', next: 'अगला', todayDate: 'आज, {date}', todayDateSelected: 'आज, {date} चुना गया', dateSelected: '{date} चुना गया',
    startRangeSelectionPrompt: 'शुरू की तारीख़ चुनने के लिए दबाएँ', finishRangeSelectionPrompt: 'आख़िरी तारीख़ चुनने के लिए दबाएँ',
    minimumDate: 'पहली उपलब्ध तारीख़', maximumDate: 'आख़िरी उपलब्ध तारीख़', dateRange: '{startDate} से {endDate}',
    selectedDateDescription: 'चुनी गई तारीख़: {date}', selectedRangeDescription: 'चुनी गई अवधि: {dateRange}',
  },
  dnd: {
    dragItem: '{itemText} को ले जाएँ', dragDescriptionKeyboard: 'ले जाना शुरू करने के लिए Enter दबाएँ।',
    dragStartedKeyboard: 'ले जाना शुरू हुआ। जगह चुनने के लिए Tab, छोड़ने के लिए Enter, रद्द करने के लिए Escape दबाएँ।',
    dropComplete: 'छोड़ दिया गया।', dropCanceled: 'रद्द किया गया।', insertBefore: '{itemText} से पहले रखें', insertAfter: '{itemText} के बाद रखें', dropOnRoot: 'यहाँ छोड़ें',
  },
  overlays: { dismiss: 'बंद करें' },
  searchfield: { 'Clear search': 'खोज साफ़ करें', clear: 'खोज साफ़ करें' },
  toast: { close: 'बंद करें', notifications: 'सूचनाएँ' },
};

const literal = (text: string): string =>
  text.includes('{') ? `(a) => \`${text.replace(/\{(\w+)\}/g, '${a.$1}')}\`` : JSON.stringify(text);

export function kitStrings(): Plugin {
  return {
    name: 'kit-strings',
    enforce: 'pre',
    load: {
      filter: { id: STRINGS },
      handler(id) {
        const english = /from "([^"]*en-US\.mjs)"/.exec(readFileSync(id, 'utf8'))?.[1];
        if (!english) return null;
        const part = id.includes('react-aria-components') ? 'components' : basename(dirname(id));
        const own = Object.entries(HINDI[part] ?? {}).map(([key, text]) => `${JSON.stringify(key)}: ${literal(text)}`).join(', ');
        return `import en from '${english}'; export default { 'en-US': en, 'hi-IN': { ...en, ${own} } };`;
      },
    },
  };
}
