import type { PageRow } from '../table.ts';

export const rows: readonly PageRow[] = [
  {
    name: 'shell', path: () => '/nothing-is-here', heading: /^Not found$/,
    states: {
      palette: async (page) => { await page.keyboard.press('Control+k'); await page.getByPlaceholder('Name, number, id').waitFor(); await page.keyboard.type('e'); },
      keys: async (page) => { await page.keyboard.press('Escape'); await page.getByRole('dialog').waitFor({ state: 'detached' }); await page.keyboard.press('?'); await page.getByRole('heading', { name: 'Everywhere' }).waitFor(); },
    },
    keys: [
      { press: ['g', 'h'], sees: (page) => page.getByRole('heading', { name: /\d+ \w+/, level: 1 }).waitFor() },
      { press: ['Control+k'], sees: (page) => page.getByPlaceholder('Name, number, id').waitFor() },
      { press: ['Escape'], sees: (page) => page.getByRole('dialog').waitFor({ state: 'detached' }) },
    ],
  },
  { name: 'test-mode', path: () => '/', mode: 'test', heading: /\d+ \w+/ },
  { name: 'sign-in', path: () => '~/console/sign-in', role: null, heading: /^Sign in$/, states: { refused: async (page) => { await page.getByRole('button', { name: 'Sign in', exact: true }).click(); await page.getByText('Your password is missing.').waitFor(); } } },
  { name: 'link', path: () => '~/console/link#not-a-token', role: null, heading: /^Sign in with your link$/ },
  { name: 'invitation', path: () => '~/console/invitation#not-a-token', role: null, heading: /^You are invited$/ },
];
