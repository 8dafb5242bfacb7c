// What admins and operators do, from the first press to what others see of it; each also without a mouse.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { axe, drawn, noConsoleErrors, startStage, type Stage } from '../browser.ts';
import { ATTACKS, fill, type Fixtures } from '../fixtures.ts';
import { startReceiver, type Receiver } from '../pages/developers.ts';
import { PASSWORD } from '../service.ts';

let stage: Stage;
let fixtures: Fixtures;
before(async () => { stage = await startStage(); fixtures = await fill(stage.service); });
after(() => stage?.close());

/** Presses Tab until the element has the focus, then a key: what somebody without a mouse does. */
async function reach(page: Page, role: 'button' | 'link' | 'textbox' | 'tab' | 'checkbox', name: string | RegExp, key = 'Enter'): Promise<void> {
  const wanted = page.getByRole(role, { name }).first();
  await wanted.waitFor();
  for (let n = 0; n < 80; n += 1) {
    if (await wanted.evaluate((element) => element === document.activeElement || element.contains(document.activeElement))) { await page.keyboard.press(key); return; }
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not reach ${role} ${String(name)}`);
}
const dialog = (page: Page) => page.getByRole('dialog');
const said = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const closed = (page: Page) => dialog(page).waitFor({ state: 'detached' });

async function endpoint(of: Stage, receiver: Receiver, path: string): Promise<string> {
  return String((await of.service.api('POST', '/v1/webhooks', { url: receiver.url + path, events: ['call.completed'], description: ATTACKS.markup.slice(0, 90) })).data.id);
}

for (const mouse of [true, false]) {
  test(`the log is verified${mouse ? '' : ', without a mouse'}`, async () => {
    const page = await stage.open('/compliance');
    await said(page, 'All four chains are whole');
    const asked = page.waitForResponse(/\/v1\/audit\/verify/);
    if (mouse) await page.getByRole('button', { name: 'Verify now' }).click(); else await page.keyboard.press('v');
    assert.equal((await asked).status(), 200);
    await said(page, /^checked \d\d:\d\d:\d\d, \d+ records in/);
    if (mouse) await page.getByRole('link', { name: 'Export…' }).click(); else await page.keyboard.press('e');
    await said(page, /dastak verify-log audit-\d{4}-\d\d-\d\d\.csv/);
    const download = page.waitForEvent('download');
    if (mouse) await page.getByRole('link', { name: /^Export audit-/ }).click(); else await reach(page, 'link', /^Export audit-/);
    const stream = await (await download).createReadStream();
    let file = '';
    for await (const piece of stream) file += String(piece);
    assert.match(file, /^\ufeffseq,timestamp,/);
    assert.match(file.trimEnd().split('\r\n').at(-1) ?? '', /^#/);
    noConsoleErrors(page);
    await page.context().close();
  });

  test(`somebody is invited, signs in, becomes a viewer, is removed${mouse ? '' : ', without a mouse'}`, async () => {
    const email = mouse ? 'meera@example.com' : 'farid@example.com';
    const name = mouse ? 'Meera Iyer' : 'Farid Khan';
    const page = await stage.open('/settings/members', { role: 'admin' });
    if (mouse) await page.getByRole('button', { name: 'Invite', exact: true }).click(); else await page.keyboard.press('n');
    await dialog(page).getByLabel('E-mail').waitFor();
    await page.keyboard.type('nobody');
    await page.keyboard.press('Enter');
    await said(page, 'This is no e-mail address.');
    await dialog(page).getByLabel('E-mail').fill(email);
    if (mouse) await dialog(page).getByRole('button', { name: 'Invite' }).click(); else await page.keyboard.press('Enter');
    const link = await page.locator('[data-once]').innerText();
    if (mouse) await page.getByRole('button', { name: 'I have given it' }).click(); else await reach(page, 'button', 'I have given it');
    await closed(page);
    await page.locator(`[data-invitation="${email}"]`).waitFor();

    const other = await stage.open(`~/console/invitation#${link.split('#')[1] ?? ''}`, { role: null });
    await other.getByLabel('Your name').fill(name);
    await other.getByLabel('Password').fill(PASSWORD);
    await other.getByLabel('Password').press('Enter');
    await other.waitForURL(/\/console\/ws_/);
    await drawn(other);
    await other.goto(stage.address('/settings/labels'));
    await other.getByRole('button', { name: 'New label' }).first().waitFor();

    await page.locator(`[data-invitation="${email}"]`).waitFor({ state: 'detached' }).catch(() => page.reload());
    const actions = `Actions of ${name}`;
    if (mouse) { await page.getByRole('button', { name: actions }).click(); await page.getByRole('menuitem', { name: 'Change the role…' }).click(); } else { await reach(page, 'button', actions); await page.getByRole('menu').waitFor(); await page.keyboard.press('Enter'); }
    await dialog(page).waitFor();
    if (mouse) { await dialog(page).getByRole('button', { name: /Role/ }).click(); await page.getByRole('option', { name: 'Viewer' }).click(); } else { await reach(page, 'button', /Role/); await page.getByRole('option', { name: 'Viewer' }).waitFor(); await page.keyboard.press('Home'); await page.keyboard.press('Enter'); }
    await page.locator('[data-taken]').getByText('answer chats, move cards').waitFor();
    if (mouse) await page.getByRole('button', { name: 'Make this person a viewer' }).click(); else await reach(page, 'button', 'Make this person a viewer');
    await closed(page);
    await said(page, `${name} is now a viewer`);

    await other.reload();
    await said(other, /^You can see this, changing it takes an editor\. Ask: /);
    assert.equal(await other.getByRole('button', { name: 'New label' }).count(), 0);

    if (mouse) { await page.getByRole('button', { name: actions }).click(); await page.getByRole('menuitem', { name: 'Remove…' }).click(); } else { await reach(page, 'button', actions); await page.getByRole('menu').waitFor(); await page.keyboard.press('End'); await page.keyboard.press('Enter'); }
    await said(page, `Remove ${name} from this workspace`);
    if (mouse) await page.getByRole('button', { name: 'Remove this member' }).click(); else await reach(page, 'button', 'Remove this member');
    await said(page, 'The member is removed');
    await page.getByRole('button', { name: actions }).waitFor({ state: 'detached' });
    await other.reload();
    await said(other, /Nothing is at this address|You are no member of a workspace/);
    await page.context().close();
    await other.context().close();
  });
}

test('a viewer sees what only an admin may change, and is told whom to ask', async () => {
  await stage.service.cookie('admin');
  const receiver = await startReceiver(() => 200);
  const id = await endpoint(stage, receiver, '/seen');
  const page = await stage.open('/developers', { role: 'viewer' });
  await said(page, /^You can see this, changing it takes an admin\. Ask: /);
  assert.equal(await page.getByRole('button', { name: 'New endpoint' }).count(), 0);
  assert.equal(await page.getByRole('tab', { name: 'Keys' }).count(), 0);
  for (const path of ['/developers/keys', '/developers/events']) {
    await page.goto(stage.address(path));
    await said(page, /^You can see this, changing it takes an admin\. Ask: .*Arjun Mehta/);
    assert.equal(await page.getByRole('table').count(), 0);
  }
  await page.goto(stage.address(`/developers/endpoints/${id}`));
  await drawn(page);
  for (const name of ['Replay failed…', 'Send a sample']) assert.equal(await page.getByRole('button', { name }).count(), 0, name);
  await page.goto(stage.address('/compliance/exports'));
  await said(page, /changing it takes an admin/);
  assert.equal(await page.getByRole('link', { name: /^Export/ }).count(), 0);
  await page.goto(stage.address('/settings/members'));
  await said(page, /changing it takes an admin/);
  assert.equal(await page.getByRole('button', { name: /^(Invite|Actions of)/ }).count(), 0);
  await page.goto(stage.address('~/console/operator/nodes'));
  await said(page, 'Nothing is at this address');
  noConsoleErrors(page, /status of 40[34]/);
  await page.context().close();
  await receiver.close();
});

for (const mouse of [true, false]) {
  test(`a session is ended while its page is open${mouse ? '' : ', without a mouse'}`, async () => {
    const email = mouse ? 'one@example.com' : 'two@example.com';
    const link = await stage.service.link(email, { name: 'Nadia', workspaceId: stage.service.workspace, role: 'editor' });
    const page = await stage.open(`~/console/link#${link.split('#')[1] ?? ''}`, { role: null });
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByLabel('New password').press('Enter');
    await page.waitForURL(/\/console\/ws_/);
    const other = await stage.open('~/console/sign-in', { role: null });
    await other.getByLabel('E-mail').fill(email);
    await other.getByLabel('Password').fill(PASSWORD);
    await other.getByLabel('Password').press('Enter');
    await other.waitForURL(/\/console\/ws_/);
    await other.goto(stage.address('/settings/labels'));
    await other.getByRole('button', { name: 'New label' }).first().click();
    await other.getByRole('dialog').getByLabel('Text').fill('Refund');

    await page.goto(stage.address('/settings/sessions'));
    await said(page, 'You are signed in at 2 places');
    if (mouse) await page.getByRole('button', { name: 'End it…' }).click(); else await reach(page, 'button', 'End it…');
    await dialog(page).waitFor();
    if (mouse) await page.getByRole('button', { name: 'End the session' }).click(); else await reach(page, 'button', 'End the session');
    await said(page, 'You are signed in at 1 place');

    // The stream tells it: nothing has to be pressed. What was typed is still there after the sign-in.
    const over = other.getByRole('dialog', { name: 'Your session is over' });
    await over.getByLabel('Password').fill(PASSWORD);
    await over.getByLabel('Password').press('Enter');
    await over.waitFor({ state: 'detached' });
    assert.equal(await other.getByRole('dialog').getByLabel('Text').inputValue(), 'Refund');
    await other.getByRole('button', { name: 'Make the label' }).press('Enter');
    await said(other, 'The label is made');
    await other.locator('[data-label]').filter({ hasText: 'Refund' }).first().waitFor();
    const { data } = await stage.service.api('GET', `/v1/workspaces/${stage.service.workspace}/chat-labels`, undefined, 'operator');
    for (const label of data as { id: string }[]) await stage.service.api('DELETE', `/v1/workspaces/${stage.service.workspace}/chat-labels/${label.id}`, undefined, 'operator');
    await page.context().close();
    await other.context().close();
  });

  test(`the operator drains a node and puts it back${mouse ? '' : ', without a mouse'}`, async () => {
    const page = await stage.open('~/console/operator/nodes');
    const node = (status: string) => page.locator(`[data-node="${status}"]`).waitFor();
    await node('in_service');
    await page.locator('[data-ready="true"]').waitFor();
    if (mouse) await page.getByRole('button', { name: 'Drain…' }).click(); else await page.keyboard.press('d');
    await dialog(page).waitFor();
    if (mouse) await page.getByRole('button', { name: 'Drain the node' }).click(); else await reach(page, 'button', 'Drain the node');
    await node('draining');
    await said(page, 'No call is left. The machine can be upgraded.');
    await page.locator('[data-ready="false"]').waitFor();
    await axe(page);
    assert.equal((await stage.service.api('GET', '/v1/node', undefined, 'operator')).data.status, 'draining');
    if (mouse) await page.getByRole('button', { name: 'Put it back in service…' }).click(); else await page.keyboard.press('d');
    await dialog(page).waitFor();
    if (mouse) await dialog(page).getByRole('button', { name: 'Put it back in service' }).click(); else await reach(page, 'button', /^Put it back in service$/);
    await node('in_service');
    await page.locator('[data-ready="true"]').waitFor();
    await page.goto(stage.address('~/console/operator/log'));
    await said(page, 'undrain');
    noConsoleErrors(page, /503/);
    await page.context().close();
  });
}

test('a key is made, shown once, given a new value and revoked; no value stays in the page', async () => {
  const page = await stage.open('/developers/keys', { role: 'admin' });
  await page.getByRole('button', { name: 'New key' }).click();
  await dialog(page).getByLabel('Name').fill(ATTACKS.rightToLeft.slice(0, 20));
  await dialog(page).getByRole('button', { name: 'Make the key' }).click();
  await said(page, 'Choose what the key may do.');
  assert.equal(await dialog(page).getByRole('checkbox', { name: /Erase people/ }).count(), 0, 'erasing is an owner’s to give');
  await dialog(page).getByRole('button', { name: 'Read everything' }).click();
  await dialog(page).getByRole('button', { name: 'Make the key' }).click();
  const value = await page.locator('[data-once]').innerText();
  assert.match(value, /^dastak_live_\w{32}$/);
  await page.getByRole('button', { name: 'I have kept it' }).click();
  await closed(page);
  assert.ok(!(await page.content()).includes(value));
  assert.equal(await page.evaluate((key) => JSON.stringify({ ...localStorage, ...sessionStorage }).includes(key), value), false);
  const row = page.locator('[data-key]').filter({ hasText: value.slice(0, 16) });
  await row.getByRole('button').click();
  await page.getByRole('menuitem', { name: 'New value…' }).click();
  await page.getByRole('button', { name: 'Make a new value' }).click();
  assert.notEqual(await page.locator('[data-once]').innerText(), value);
  await page.getByRole('button', { name: 'I have kept it' }).click();
  await closed(page);
  noConsoleErrors(page);
  await page.context().close();
});

test('text that attacks stays text: endpoints, labels, members, references, the log', async () => {
  const { service } = stage;
  const ws = `/v1/workspaces/${service.workspace}`;
  await service.api('POST', `${ws}/members`, { email: 'attack@example.com', name: ATTACKS.markup.slice(0, 100), role: 'viewer' }, 'operator');
  await service.api('POST', `${ws}/wallet/entries`, { kind: 'topup', amountMinor: 100, reference: ATTACKS.markup.slice(0, 100) }, 'operator');
  const receiver = await startReceiver(() => 500);
  const id = await endpoint(stage, receiver, `/${'long'.repeat(400)}`);
  await service.as('admin', 'POST', `/v1/webhooks/${id}/test`, { type: 'call.completed' });
  await service.advance(2);
  for (const width of [1440, 360]) for (const path of ['/developers', `/developers/endpoints/${id}`, '/settings/members', '/settings/wallet', '/compliance/changes', `~/console/operator/workspaces/${service.workspace}`]) {
    const page = await stage.open(path, { width });
    assert.equal(await page.locator('main img, main script').count(), 0, path);
    assert.doesNotMatch(await page.title(), /^[12]$/, path);
    const [wide, inner] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok((wide ?? 0) <= (inner ?? 0), `${path} at ${width}: ${wide}`);
    noConsoleErrors(page);
    await page.context().close();
  }
  await receiver.close();
  assert.ok(fixtures.contacts.length > 0);
});

// A delivery is given up after a day, and a session that is not used ends before that: these have a service of their own, a day later.
describe('a day later', () => {
  let later: Stage;
  let receiver: Receiver;
  let ids: string[] = [];
  before(async () => {
    later = await startStage();
    receiver = await startReceiver(() => 500);
    ids = [await endpoint(later, receiver, '/crm'), await endpoint(later, receiver, '/keyboard')];
    for (const id of ids) for (let at = 0; at < 4; at += 1) await later.service.api('POST', `/v1/webhooks/${id}/test`, { type: 'call.completed' });
    for (let hours = 0; hours < 34; hours += 2) await later.service.advance(7_200);
    for (const id of ids) assert.equal(((await later.service.api('GET', `/v1/webhooks/${id}/deliveries?status=failed&limit=100`)).data as unknown[]).length, 4, 'all have failed');
    receiver.answers = () => 200;
  });
  after(async () => { await later?.close(); await receiver?.close(); });

  for (const mouse of [true, false]) {
    test(`all failed deliveries are replayed once the receiver is mended${mouse ? '' : ', without a mouse'}`, async () => {
      const id = ids[mouse ? 0 : 1] ?? '';
      const before = receiver.got.length;
      const page = await later.open(`/developers/endpoints/${id}?status=failed`);
      await said(page, /^500 in/);
      if (mouse) {
        await page.getByRole('button', { name: 'Replay failed…' }).click();
        await dialog(page).getByRole('button', { name: /That failed in/ }).click();
        await page.getByRole('option', { name: 'the last 7 days' }).click();
        await dialog(page).getByRole('button', { name: 'Send 4 deliveries again' }).click();
      } else {
        await page.keyboard.press('r');
        await dialog(page).waitFor();
        await reach(page, 'button', /That failed in/, 'Enter');
        await page.getByRole('option', { name: 'the last 7 days' }).waitFor();
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        await page.getByRole('listbox').waitFor({ state: 'detached' });
        await reach(page, 'button', 'Send 4 deliveries again');
      }
      await said(page, '4 deliveries are sent again');
      await closed(page);
      await later.service.advance(5);
      await page.goto(later.address(`/developers/endpoints/${id}?status=succeeded`));
      await said(page, /^200 in/);
      const { data } = await later.service.api('GET', `/v1/webhooks/${id}/deliveries?status=succeeded&limit=100`);
      assert.equal((data as unknown[]).length, 4);
      const sent = receiver.got.slice(before).map((one) => one.delivery);
      assert.equal(new Set(sent).size, 4, 'each once');
      await page.getByRole('grid', { name: 'Deliveries' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('complementary', { name: 'Delivery' }).getByText('Answered 200').first().waitFor();
      await axe(page);
      noConsoleErrors(page);
      await page.context().close();
    });
  }
});
