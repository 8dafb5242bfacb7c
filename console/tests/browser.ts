// Opens pages in Chromium as a member, and looks at them.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { startFront, type Front } from './front.ts';
import { startService, type Role, type Service } from './service.ts';

export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SHOTS = fileURLToPath(new URL('./shots/', import.meta.url));

export interface Look { theme?: 'light' | 'dark'; width?: number; lang?: 'en' | 'hi'; role?: Role | null; timezone?: string; mode?: 'live' | 'test'; touch?: boolean; /** The browser's clock stands here: that of a service whose clock was moved. */ now?: string }

export interface Stage {
  readonly service: Service;
  readonly front: Front;
  readonly browser: Browser;
  /** Opens an address below the workspace (`/calls`), or of the whole console (`~/console/sign-in`), and waits until it is drawn. */
  open: (path: string, look?: Look) => Promise<Page>;
  /** The whole address of a page. */
  address: (path: string, mode?: 'live' | 'test') => string;
  close: () => Promise<void>;
}

export async function startStage(options: { clock?: 'manual' | 'real' } = {}): Promise<Stage> {
  const service = await startService(options);
  const front = await startFront(service.url);
  const browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
  const contexts: BrowserContext[] = [];
  const address = (path: string, mode: 'live' | 'test' = 'live'): string =>
    path.startsWith('~') ? front.url + path.slice(1) : `${front.url}/console/${service.workspace}${mode === 'test' ? '/test' : ''}${path}`;
  return {
    service, front, browser, address,
    open: async (path, look = {}) => {
      const context = await newContext(browser, service, front, look);
      contexts.push(context);
      const page = await context.newPage();
      if (look.now) await page.clock.setFixedTime(new Date(look.now));
      watch(page, front.url);
      await page.goto(address(path, look.mode));
      await drawn(page);
      return page;
    },
    close: async () => {
      await Promise.all(contexts.map((context) => context.close().catch(() => undefined)));
      await browser.close();
      await front.close();
      await service.stop();
    },
  };
}

async function newContext(browser: Browser, service: Service, front: Front, look: Look): Promise<BrowserContext> {
  const width = look.width ?? 1440;
  const context = await browser.newContext({
    viewport: { width, height: width < 760 ? 780 : 900 }, timezoneId: look.timezone ?? 'Asia/Kolkata', locale: 'en-IN',
    hasTouch: look.touch ?? width < 760, reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(90_000);
  await context.addInitScript(`localStorage.setItem('theme', '${look.theme ?? 'light'}'); localStorage.setItem('language', '${look.lang ?? 'en'}');`);
  if (look.role !== null) {
    const role = look.role ?? 'owner';
    const cookies = (await service.cookie(role)).split('; ').map((one) => { const at = one.indexOf('='); return { name: one.slice(0, at), value: one.slice(at + 1), url: front.url }; });
    await context.addCookies(cookies);
    await language(context, front, look.lang ?? 'en');
  }
  return context;
}

/** The language is the person's; tests of both languages run as one person. */
async function language(context: BrowserContext, front: Front, lang: 'en' | 'hi'): Promise<void> {
  const answer = await context.request.patch(`${front.url}/console/api/me`, { data: { language: lang }, headers: { origin: front.url } });
  assert.equal(answer.status(), 200, await answer.text());
}

/** The page has its heading, no grey bars are left, and no answer has been awaited for a tenth of a second: what a page asks for, it asks after it is drawn. */
export async function drawn(page: Page): Promise<void> {
  await page.waitForSelector('h1', { state: 'attached' });
  await page.waitForFunction(() => {
    const noted = globalThis as { quietSince?: number | undefined };
    const busy = document.documentElement.dataset.fetching !== '0' || document.querySelector('[data-state="loading"]') !== null;
    if (busy) { noted.quietSince = undefined; return false; }
    noted.quietSince ??= performance.now();
    return performance.now() - noted.quietSince > 100;
  });
}

const complaints = new WeakMap<Page, string[]>();
/** Notes what the page complains of, for `noConsoleErrors`. */
export function watch(page: Page, own: string): void {
  const said: string[] = [];
  complaints.set(page, said);
  // A member has a few streams at a time; those of a test's other contexts count, and the page tries again.
  const busy = (url: string, text: string): boolean => url.includes('/v1/stream') && text.includes('429');
  page.on('console', (message) => { if (busy(message.location().url, message.text())) return; if (message.type() === 'error' || message.type() === 'warning') said.push(`${message.text()} ${message.location().url}`); });
  page.on('request', (asked) => { if (!asked.url().startsWith(own) && !/^(data|blob):/.test(asked.url())) said.push(`asked another host: ${asked.url()}`); });
  page.on('pageerror', (error) => said.push(String(error)));
}

/** Nothing was reported, and no other host was asked: no error, no warning, nothing against the headers. `allowed` are failures that the test made itself. */
export function noConsoleErrors(page: Page, allowed?: RegExp): void {
  assert.deepEqual((complaints.get(page) ?? []).filter((said) => !allowed?.test(said)), []);
}

interface Found { id: string; nodes: { target: string[]; failureSummary: string }[] }
/** Known and listed: the palette's list scrolls while the focus stays in its field; `region` on the portal of a popover. */
const KNOWN: Record<string, RegExp> = { 'scrollable-region-focusable': /\.pal/, region: /\.pop|popover|^body > div:nth-child\(\d+\)$/ };

/** What is under a dialog is hidden, and so are the heading and the landmark of its page. */
const PAGE_RULES = new Set(['landmark-one-main', 'page-has-heading-one']);

/** axe-core with WCAG 2.2 AA and its best practices: no violations. Left out: what the kit says aloud of a button after its wait is over. */
export async function axe(page: Page, within?: string): Promise<void> {
  await revealed(page);
  await page.evaluate(AXE);
  const found = await page.evaluate(async (part) => {
    const run = (globalThis as unknown as { axe: { run: (where: unknown, options: unknown) => Promise<{ violations: Found[] }> } }).axe.run;
    // What the kit announced of a button that waited may name an element that is gone by now.
    const { violations } = await run({ include: [part ?? 'html'], exclude: ['[data-live-announcer]'] }, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
    // axe names the palette's list by its classes or by the id that the kit drew for it.
    const named = (target: string[]): string[] => (document.querySelector(target.at(-1) ?? 'html')?.closest('.pal') ? ['.pal', ...target] : target);
    return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target, failureSummary }) => ({ target: named(target), failureSummary })) }));
  }, within);
  const covered = await page.locator('.scrim').count() > 0;
  const left = found.filter((one) => !(covered && PAGE_RULES.has(one.id))).flatMap((one) => one.nodes.filter((node) => !KNOWN[one.id]?.test(node.target.join(' '))).map((node) => `${one.id}: ${node.target.join(' ')}: ${node.failureSummary}`));
  assert.deepEqual(left, []);
}

/** The page does not scroll sideways, and neither does what it is in. */
export async function noSidewaysScroll(page: Page): Promise<void> {
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok((wide[0] ?? 0) <= (wide[1] ?? 0), `the page is ${wide[0]} px wide in ${wide[1]}`);
}

/** A dialog with a field appears when the keyboard of a phone has come, or has not. */
export async function revealed(page: Page): Promise<void> {
  await page.waitForFunction(() => [...document.querySelectorAll<HTMLElement>('.scrim, .pop')].every((one) => one.style.opacity !== '0'));
}

export async function shot(page: Page, name: string): Promise<string> {
  await revealed(page);
  mkdirSync(SHOTS, { recursive: true });
  const path = `${SHOTS}${name}.png`;
  await page.screenshot({ path });
  return path;
}
