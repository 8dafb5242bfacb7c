import { startStage, axe, shot, noSidewaysScroll, noConsoleErrors } from './browser.ts';
import { fill } from './fixtures.ts';
const [mod, only, themes = 'light', widths = '1440'] = process.argv.slice(2);
const { rows } = await import(`./pages/${mod}.ts`);
const stage = await startStage();
try {
  const fixtures = await fill(stage.service);
  for (const row of rows) {
    if (only && only !== '-' && !only.split(',').includes(row.name)) continue;
    await row.prepare?.(stage, fixtures);
    for (const theme of themes.split(',')) for (const width of widths.split(',').map(Number)) {
      const page = await stage.open(row.path(fixtures, stage), { theme: theme as never, width, lang: process.env.LANG_UI as never ?? 'en' });
      const run = async (name: string, f: () => Promise<unknown>) => { try { await f(); } catch (e) { console.log(`!! ${row.name} ${theme} ${width} ${name}:`, String((e as Error).message).slice(0, 700)); } };
      await run('axe', () => axe(page)); await run('side', () => noSidewaysScroll(page));
      await shot(page, `look-${row.name}-${width}-${theme}`);
      for (const [name, show] of Object.entries(row.states ?? {})) { await run(name, () => (show as any)(page)); await run(name + ' axe', () => axe(page)); await run('side', () => noSidewaysScroll(page)); await shot(page, `look-${row.name}-${name}-${width}-${theme}`); }
      await run('console', async () => noConsoleErrors(page));
      await page.context().close();
    }
  }
} finally { await stage.close(); }
process.exit(0);
