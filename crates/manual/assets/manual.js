// Search, tabs, copying, and «try it» of the manual's pages. Everything else works without it. Nothing here writes HTML: the
// pages' policy forbids that.
'use strict';

const make = (name, attributes = {}, ...inside) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
};
const kept = (store, key, value) => {
  try { return value === undefined ? store.getItem(key) : store.setItem(key, value); } catch { return null; }
};

// Tabs: the chosen language is kept, and chosen in every group that has it.
const groups = [];
const choose = (label) => {
  for (const { buttons, figures } of groups) {
    const at = buttons.findIndex((button) => button.textContent === label);
    if (at < 0) continue;
    buttons.forEach((button, index) => {
      button.setAttribute('aria-selected', String(index === at));
      button.tabIndex = index === at ? 0 : -1;
      figures[index].hidden = index !== at;
    });
  }
};
document.querySelectorAll('.tabs').forEach((group, number) => {
  const figures = [...group.querySelectorAll(':scope > .code')];
  const buttons = figures.map((figure, index) => {
    figure.id = `m-panel-${number}-${index}`;
    figure.setAttribute('role', 'tabpanel');
    figure.setAttribute('aria-label', figure.dataset.tab);
    const button = make('button', { type: 'button', role: 'tab', 'aria-controls': figure.id, 'aria-selected': 'false' }, figure.dataset.tab);
    button.addEventListener('click', () => {
      const before = group.getBoundingClientRect().top;
      choose(button.textContent);
      kept(localStorage, 'docs-language', button.textContent);
      scrollBy(0, group.getBoundingClientRect().top - before);
    });
    return button;
  });
  const list = make('div', { class: 'tablist', role: 'tablist', 'aria-label': 'Language' }, ...buttons);
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
    next.focus();
    next.click();
  });
  group.prepend(list);
  group.classList.add('on');
  groups.push({ buttons, figures });
  choose(buttons[0].textContent);
});
choose(kept(localStorage, 'docs-language') ?? 'curl');

// Copying.
for (const figure of document.querySelectorAll('.code')) {
  const button = make('button', { type: 'button', class: 'copy' }, 'Copy');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(figure.querySelector('code').textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(figure.querySelector('code'));
      button.textContent = 'Selected';
    }
  });
  figure.append(button);
}

// What is wider than the page can be scrolled with the keyboard.
const reachable = () => {
  for (const element of document.querySelectorAll('pre, .scroll')) {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0; else element.removeAttribute('tabindex');
  }
};
reachable();
addEventListener('resize', reachable);
addEventListener('click', () => requestAnimationFrame(reachable));

// The list of pages shows the page that is open.
const pages = document.getElementById('m-pages'), current = pages.querySelector('[aria-current]');
if (current) pages.scrollTop = current.offsetTop - pages.clientHeight / 2;

// Search.
const MOST = 20;
const find = document.getElementById('m-find');
const results = make('ul', { id: 'm-results', role: 'listbox', 'aria-label': 'Results', hidden: '' });
let index, shown = [], at = -1;
Object.entries({ role: 'combobox', 'aria-controls': 'm-results', 'aria-expanded': 'false', 'aria-autocomplete': 'list' }).forEach(([name, value]) => find.setAttribute(name, value));
find.hidden = false;
find.after(results);
const read = () => { index ??= fetch('/docs/search.json').then((answer) => answer.json()).then((list) => list.map(([title, address, kind, text]) => ({ title, address, kind, text, low: title.toLowerCase(), rest: `${address} ${text}`.toLowerCase() }))); return index; };
// How well an entry fits: every word must be in it; the title counts more, its beginning most. Guides come before the rest.
const score = (entry, words) => {
  let sum = { Guide: 3, Operation: 2, Index: 2 }[entry.kind] ?? 0;
  for (const word of words) {
    if (entry.low === word) sum += 40;
    else if (entry.low.startsWith(word)) sum += 20;
    else if (entry.low.includes(` ${word}`)) sum += 14;
    else if (entry.low.includes(word)) sum += 8;
    else if (entry.rest.includes(word)) sum += 3;
    else return 0;
  }
  return sum;
};
const select = (next) => {
  at = next;
  [...results.children].forEach((item, number) => item.setAttribute('aria-selected', String(number === at)));
  const item = results.children[at];
  if (item) { find.setAttribute('aria-activedescendant', item.id); item.scrollIntoView({ block: 'nearest' }); } else find.removeAttribute('aria-activedescendant');
};
const close = () => { results.hidden = true; find.setAttribute('aria-expanded', 'false'); select(-1); };
const search = async () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const entries = await read();
  if (words.join(' ') !== find.value.toLowerCase().split(/\s+/).filter(Boolean).join(' ')) return;
  if (!words.length) { close(); return; }
  shown = entries.map((entry) => [score(entry, words), entry]).filter(([points]) => points > 0).sort((one, other) => other[0] - one[0]).slice(0, MOST).map(([, entry]) => entry);
  results.replaceChildren(...shown.map((entry, number) => {
    const item = make('li', { role: 'option', id: `m-result-${number}`, 'aria-selected': 'false' }, make('b', {}, entry.title), make('small', {}, `${entry.kind} · ${entry.text.slice(0, 110)}`));
    item.addEventListener('mousedown', (event) => { event.preventDefault(); go(entry); });
    return item;
  }));
  if (!shown.length) results.replaceChildren(make('li', { role: 'option', 'aria-selected': 'false', 'aria-disabled': 'true' }, 'Nothing has all of these words'));
  results.hidden = false;
  find.setAttribute('aria-expanded', 'true');
  select(shown.length ? 0 : -1);
};
const go = (entry) => { close(); find.blur(); location.assign(entry.address); };
find.addEventListener('focus', read);
find.addEventListener('input', search);
find.addEventListener('blur', close);
find.addEventListener('keydown', (event) => {
  const last = shown.length - 1;
  if (event.key === 'ArrowDown' && last >= 0) select(Math.min(at + 1, last));
  else if (event.key === 'ArrowUp' && last >= 0) select(Math.max(at - 1, 0));
  else if (event.key === 'Enter') { if (!results.hidden && shown[at]) go(shown[at]); }
  else if (event.key === 'Escape') close();
  else return;
  event.preventDefault();
});
addEventListener('keydown', (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  find.focus();
});

// «Try it»: sends what the form says, with a test key and no other, and shows the answer. The key stays in this tab.
const KEY = 'docs-test-key';
const prefix = document.documentElement.dataset.keyPrefix;
const most = 20_000;
const refused = (output, text) => output.replaceChildren(make('p', { class: 'refused', role: 'alert' }, text));
const send = async (part, form, output) => {
  const headers = {};
  if (part.dataset.keyed === 'true') {
    const key = form.elements['test key'].value.trim();
    if (!key.startsWith(`${prefix}_test_`)) { refused(output, `Only test keys are used here: they begin with ${prefix}_test_. A live key could call somebody.`); return; }
    kept(sessionStorage, KEY, key);
    headers.Authorization = `Bearer ${key}`;
  }
  let path = part.dataset.path;
  const query = new URLSearchParams();
  for (const input of form.querySelectorAll('input[data-place]')) {
    const { name, value } = input;
    if (!value) continue;
    if (input.dataset.place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (input.dataset.place === 'query') query.append(name, value);
    else headers[name] = value;
  }
  const body = form.elements.body?.value.trim();
  if (body) {
    try { JSON.parse(body); } catch (why) { refused(output, `The body is not JSON: ${why.message}`); return; }
    headers['Content-Type'] = 'application/json';
  }
  const search = String(query);
  try {
    const answer = await fetch(path + (search ? `?${search}` : ''), { method: part.dataset.method, headers, body: body || undefined, credentials: 'omit' });
    const text = await answer.text();
    let said = text;
    try { said = JSON.stringify(JSON.parse(text), null, 2); } catch { /* it is no JSON */ }
    if (said.length > most) said = `${said.slice(0, most)}\n… (${said.length} characters)`;
    output.replaceChildren(make('p', {}, `${answer.status} ${answer.statusText}`), make('pre', { tabindex: '0' }, make('code', {}, said)));
  } catch {
    refused(output, 'The service did not answer.');
  }
};
for (const part of document.querySelectorAll('.try')) {
  const form = part.querySelector('form'), output = part.querySelector('output');
  if (part.dataset.keyed === 'true') {
    const field = make('input', { name: 'test key', type: 'password', autocomplete: 'off', placeholder: `${prefix}_test_…`, required: '' });
    part.addEventListener('toggle', () => { if (!field.value) field.value = kept(sessionStorage, KEY) ?? ''; });
    form.prepend(make('label', {}, 'Test key (it stays in this tab)', field));
  }
  for (const input of form.querySelectorAll('input[data-place="header"]')) {
    if (input.name === 'Idempotency-Key') input.value = `docs-${Date.now()}`;
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const button = form.querySelector('button[type="submit"]');
    button.disabled = true;
    await send(part, form, output);
    button.disabled = false;
  });
  part.hidden = false;
}
