// Answering in the inbox, on a service of its own: with the mouse, and with the keyboard alone.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { axe, drawn, noConsoleErrors, noSidewaysScroll, shot, startStage, type Stage } from '../browser.ts';
import { fillInbox, type Chats } from './inbox-room.ts';

let stage: Stage;
let chats: Chats;
before(async () => { stage = await startStage(); chats = await fillInbox(stage.service, { old: true }); });
after(() => stage?.close());

/** The browser's clock is the service's, so that what is left of the 24 hours is true. */
async function open(path: string, look: Parameters<Stage['open']>[1] = {}): Promise<Page> {
  const page = await stage.open(path, look);
  await page.clock.setFixedTime(new Date(await stage.service.now()));
  await page.reload();
  await drawn(page);
  return page;
}
const close = async (page: Page, allowed?: RegExp): Promise<void> => { noConsoleErrors(page, allowed); await page.context().close(); };
const texts = async (chat: string): Promise<string[]> => (await stage.service.api('GET', `/v1/chat/sessions/${chat}`)).data.messages.map((one: { role: string; text: string }) => `${one.role}: ${one.text}`);
const box = (page: Page) => page.locator('.composer textarea');
const CONFLICT = /status of 409/;
/** Presses Tab until the element that is wanted has the focus. */
async function tabTo(page: Page, wanted: string, most = 60): Promise<void> {
  for (let presses = 0; presses < most; presses += 1) {
    if (await page.evaluate((selector) => document.activeElement?.matches(selector) ?? false, wanted)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${wanted} is not reached by Tab`);
}

describe('a chat that waits is answered in Hindi while its agent is silent, and handed back', () => {
  test('with the mouse', async () => {
    const chat = await chats.room.waiting('EMI दो बार कट गई');
    const page = await open('/inbox', { lang: 'hi' });
    await page.locator(`.chats .gr`).last().click();
    await page.waitForURL(new RegExp(chat));
    await page.locator('.chead').getByRole('button', { name: 'सँभालें' }).click();
    await box(page).fill('नमस्ते, मैं देख रही हूँ। आपके पैसे लौटेंगे।');
    await page.getByRole('button', { name: 'भेजें' }).click();
    await page.locator('[data-by="team"]').getByText('आपके पैसे लौटेंगे').waitFor();
    // The agent is silent: what the customer writes now has no reply of it.
    const said = await chats.room.says(chat, 'ठीक है, धन्यवाद');
    assert.deepEqual([said.reply, said.handedOff], [null, true]);
    await page.locator('[data-by="customer"]').getByText('ठीक है, धन्यवाद').waitFor();
    await axe(page, '#root');
    await page.locator('.chead').getByRole('button', { name: /लौटाएँ/ }).click();
    await page.locator('.conv[data-state="ai"]').waitFor();
    assert.ok((await texts(chat)).includes('human: नमस्ते, मैं देख रही हूँ। आपके पैसे लौटेंगे।'));
    await close(page);
  });

  test('with the keyboard alone', async () => {
    const chat = await chats.room.waiting('Loan');
    const page = await open(`/inbox/${chat}`, { lang: 'hi' });
    await page.keyboard.press('r');
    await page.locator('.conv[data-state="human"] .composer textarea:focus').waitFor();
    await page.keyboard.insertText('आपका लोन 12 मार्च को बंद होगा।');
    await page.keyboard.press('Enter');
    await page.locator('[data-by="team"]').getByText('12 मार्च को').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.msgs').focus();
    await page.keyboard.press('e');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await tabTo(page, '.chead .btn:has(.back)');
    await page.keyboard.press('Enter');
    await page.locator('.conv[data-state="ai"]').waitFor();
    assert.equal((await texts(chat)).at(-1)?.startsWith('agent: मैं Aarti फिर से'), true);
    await close(page);
  });

  test('at 360 px it takes two taps', async () => {
    const chat = await chats.room.waiting('Phone');
    const page = await open('/inbox', { width: 360, touch: true });
    await page.locator('.chats .gr').last().tap();
    await page.waitForURL(new RegExp(chat));
    await page.locator('.composer').getByRole('button', { name: 'Reply' }).tap();
    await page.locator('.composer textarea:focus').waitFor();
    await noSidewaysScroll(page);
    await shot(page, 'story-inbox-360');
    await close(page);
  });
});

describe('one chat, two people', () => {
  test('the second sees who has it', async () => {
    const chat = await chats.room.waiting('Both of us');
    const first = await open(`/inbox/${chat}`, { role: 'editor' });
    const second = await open(`/inbox/${chat}`, { role: 'admin' });
    // The second has not heard of it: the request is what decides.
    await second.route(/\/v1\/(stream|inbox\/chatsess_\w+$)/, (route) => (route.request().method() === 'GET' ? route.abort() : route.continue()));
    await first.locator('.chead').getByRole('button', { name: 'Take over' }).click();
    await first.locator('.conv[data-state="human"] textarea').waitFor();
    await second.locator('.chead').getByRole('button', { name: 'Take over' }).click();
    await second.locator('[data-code="held_by_teammate"]').getByText(/^Kavya Rao has it since \d\d:\d\d\.$/).waitFor();
    assert.equal(await second.locator('.composer textarea').count(), 0);
    await second.unroute(/\/v1\/(stream|inbox\/chatsess_\w+$)/);
    await second.reload();
    await second.locator('.composer [data-held]').getByText(/Kavya Rao has it since/).waitFor();
    await axe(second, '#root');
    await close(first);
    await close(second, /status of 409|ERR_FAILED/);
  });

  test('without a mouse, and the stream tells the other', async () => {
    const chat = await chats.room.waiting('By keys');
    const first = await open(`/inbox/${chat}`, { role: 'editor' });
    const second = await open(`/inbox/${chat}`, { role: 'admin' });
    await first.keyboard.press('r');
    await first.locator('.composer textarea:focus').waitFor();
    await second.locator('.composer [data-held]').waitFor();
    await second.keyboard.press('r');
    assert.equal(await second.locator('.composer textarea').count(), 0);
    await close(first);
    await close(second, CONFLICT);
  });
});

describe('a note is not sent to the customer', () => {
  for (const way of ['mouse', 'keyboard'] as const) test(`by ${way}`, async () => {
    const chat = await chats.room.waiting(`Note by ${way}`);
    const secret = `Only for us, by ${way}`;
    const page = await open(`/inbox/${chat}`, { role: 'editor' });
    const before = await texts(chat);
    if (way === 'mouse') await page.getByRole('radio', { name: 'Note' }).click();
    else await page.keyboard.press('n');
    await page.locator('.composer[data-as="note"] textarea').waitFor();
    if (way === 'mouse') { await box(page).fill(secret); await page.getByRole('button', { name: 'Keep the note' }).click(); }
    else { await page.locator('.composer textarea:focus').waitFor(); await page.keyboard.insertText(secret); await page.keyboard.press('Enter'); }
    await page.locator('[data-by="note"]').getByText(secret).waitFor();
    assert.deepEqual(await texts(chat), before);
    await close(page);
  });
});

test('a draft survives a reload, for its chat alone, and a sign-out forgets it', async () => {
  const one = await chats.room.waiting('Draft one');
  const other = await chats.room.waiting('Draft two');
  const page = await open(`/inbox/${one}`);
  await page.keyboard.press('r');
  await page.locator('.composer textarea:focus').waitFor();
  await page.keyboard.insertText('आधा लिखा');
  await page.reload();
  await drawn(page);
  assert.equal(await box(page).inputValue(), 'आधा लिखा');
  await page.goto(stage.address(`/inbox/${other}`));
  await drawn(page);
  await page.keyboard.press('r');
  await page.locator('.composer textarea:focus').waitFor();
  assert.equal(await box(page).inputValue(), '');
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith('draft'))), []);
  assert.equal(await page.evaluate(() => Object.keys(sessionStorage).filter((name) => name.startsWith('draft:usr_')).length), 1);
  await close(page);
});

test('outside of the 24 hours the composer is a template, which is seen before it is sent', async () => {
  const page = await open(`/inbox/${chats.closed}`);
  await page.locator('.chead').getByRole('button', { name: 'Take over' }).click();
  await page.getByRole('button', { name: 'Choose a template…' }).click();
  assert.equal(await page.locator('.composer textarea').count(), 0);
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await dialog.getByText('Choose a template first.').waitFor();
  await dialog.getByRole('button', { name: /Template/ }).click();
  await page.getByRole('option', { name: /reply_later/ }).click();
  await dialog.getByLabel('{{1}}').fill('Bhavna');
  await dialog.getByText('Hello Bhavna, we have an answer for you.').waitFor();
  await axe(page, '[role="dialog"]');
  await dialog.getByRole('button', { name: 'Send “reply_later”' }).click();
  await page.locator('[data-by="team"]').getByText('Hello Bhavna').waitFor();
  await close(page);
});

test('what a customer writes is only ever text', async () => {
  for (const chat of [chats.attack, chats.failed, chats.taken]) {
    const page = await open(`/inbox/${chat}?view=open`);
    await page.locator('.msgs [data-by]').first().waitFor();
    assert.match(await page.title(), /^Inbox/);
    assert.equal(await page.locator('.msgs img, .msgs script').count(), 0);
    await noSidewaysScroll(page);
    await close(page);
  }
});

test('a viewer reads, and has no control that changes anything', async () => {
  const page = await open(`/inbox/${chats.waiting}`, { role: 'viewer' });
  await page.getByText(/changing it takes an editor/).waitFor();
  for (const name of ['Take over', 'Reply', 'Assign', 'Send']) assert.equal(await page.getByRole('button', { name }).count(), 0, name);
  await close(page);
});

describe('a person is erased', () => {
  for (const [way, last] of [['mouse', '5101'], ['keyboard', '5102']] as const) test(`by ${way}`, async () => {
    const made = await stage.service.api('POST', '/v1/contacts', { name: `Erased by ${way}`, phone: `+91981234${last}`, externalRef: `erase-${way}` });
    const id = String(made.data.id);
    const page = await open(`/contacts/${id}`);
    if (way === 'mouse') {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Erase this person…' }).click();
    } else {
      await tabTo(page, '.head .btn[aria-label="More actions"]');
      await page.keyboard.press('Enter');
      await page.getByRole('menu').waitFor();
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
    }
    const field = page.getByLabel('Type the last four digits of the number');
    await field.waitFor();
    await page.keyboard.insertText('0000');
    await page.keyboard.press('Enter');
    await page.getByText(`Type “${last}” to go on.`).waitFor();
    assert.equal((await stage.service.api('GET', `/v1/contacts/${id}`)).data.id, id, 'nothing was erased yet');
    await field.fill(last);
    if (way === 'mouse') await page.getByRole('dialog').getByRole('button', { name: 'Erase this person' }).click();
    else await page.keyboard.press('Enter');
    await page.waitForURL(/\/contacts$/);
    await assert.rejects(stage.service.api('GET', `/v1/contacts/${id}`), /410/);
    await page.goto(stage.address(`/contacts/${id}`));
    await page.getByText('This person was erased').waitFor();
    await close(page, /status of 410/);
  });

  test('an admin has no such control', async () => {
    const made = await stage.service.api('POST', '/v1/contacts', { name: 'Stays', phone: '+919812345103', externalRef: 'stays' });
    const page = await open(`/contacts/${made.data.id}`, { role: 'admin' });
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menu').waitFor();
    assert.equal(await page.getByRole('menuitem', { name: /Erase/ }).count(), 0);
    await close(page);
  });
});
