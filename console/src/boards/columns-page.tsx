import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useLocation } from 'wouter';
import { ApiError } from '../api/index.ts';
import { Body, Box, Button, ErrorNote, Head, SelectInput, Shown, TextInput, count, plural, t, toast } from '../parts/index.ts';
import type { PageProps } from '../shell/index.ts';
import { COLOUR_NAMES, TYPES, automationWords, colourName, typeName } from './columns.ts';
import { saveDefinition, useBoard, useDefinition, useRefresh, type ColumnType, type DefinedColumn, type Definition } from './queries.ts';
import './page.css';

export function Page({ params }: PageProps) {
  const owner = params.owner ?? '';
  const board = useBoard(owner);
  const definition = useDefinition(board.data?.data.boardId);
  return (
    <>
      <Head back={{ href: `/boards/${owner}`, text: t('Board') }} title={t('Columns of the board')} />
      <Body><Shown of={board} what={t('The board could not be read.')}>{() => <Shown of={definition} what={t('The columns could not be read.')}>{(data) => <Columns key={data.version} owner={owner} definition={data} />}</Shown>}</Shown></Body>
    </>
  );
}

/** A column of the form. One without `id` is new. */
type Draft = Omit<DefinedColumn, 'count'> & { readonly place: string };
const keyFor = (name: string, taken: ReadonlySet<string>): string => {
  const base = `c_${name.toLocaleLowerCase().normalize('NFKD').replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '')}`.slice(0, 36).replace(/_+$/, '');
  for (let n = 1; ; n += 1) { const key = n === 1 ? base : `${base}_${n}`; if (!taken.has(key)) return key; }
};

function Columns({ owner, definition }: { owner: string; definition: Definition }) {
  const [columns, setColumns] = useState<readonly Draft[]>(() => definition.columns.map(({ count: _, ...column }) => ({ ...column, place: column.id ?? column.key })));
  const [gone, setGone] = useState<Readonly<Record<string, string>>>({});
  const [below, setBelow] = useState(String(Math.round(definition.reviewBelow * 100)));
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const [shown, setShown] = useState(false);
  const refresh = useRefresh();
  const [, navigate] = useLocation();
  const cards = (column: Draft): number => definition.columns.find((one) => one.id === column.id)?.count ?? 0;
  const set = (place: string, change: Partial<Draft>): void => setColumns((before) => before.map((one) => (one.place === place ? { ...one, ...change } : one)));
  const shift = (at: number, by: number): void => setColumns((before) => { const next = [...before]; const [one] = next.splice(at, 1); if (one) next.splice(at + by, 0, one); return next; });
  const remove = (column: Draft): void => {
    setColumns((before) => before.filter((one) => one.place !== column.place));
    const rest = columns.find((one) => one.place !== column.place && one.id);
    if (column.id && cards(column) > 0 && rest?.id) setGone((before) => ({ ...before, [column.id as string]: rest.id as string }));
  };
  const add = (): void => setColumns((before) => [...before, { place: `new-${Date.now()}-${before.length}`, name: '', key: '', type: 'open' as ColumnType, color: null, rules: [], automations: [] }]);
  const share = Number(below);
  const wrong = columns.some((one) => one.name.trim() === '') || !(share >= 0 && share <= 100);
  const submit = async (): Promise<void> => {
    setShown(true);
    if (wrong) return;
    setBusy(true);
    setError(null);
    try {
      const taken = new Set(columns.map((one) => one.key).filter(Boolean));
      const sent = columns.map(({ place: _, ...column }) => { const key = column.key || keyFor(column.name, taken); taken.add(key); return { ...column, key, name: column.name.trim() }; });
      await saveDefinition(definition.id, { columns: sent, moveCards: Object.entries(gone).map(([from, to]) => ({ from, to })), reviewBelow: share / 100, version: definition.version });
      await refresh();
      toast(t('Saved'));
      navigate(`/boards/${owner}`);
    } catch (cause) { setError(cause as ApiError); } finally { setBusy(false); }
  };
  const left = columns.filter((one) => one.id).map((one) => ({ id: one.id as string, text: one.name }));
  return (
    <Form className="columns" onSubmit={(event) => { event.preventDefault(); void submit(); }}>
      {columns.map((column, at) => (
        <Box key={column.place} title={column.name || t('New column')} count={column.id ? count(cards(column)) : undefined} extra={<><Button small kind="bare" icon={ArrowUp} label={t('Left: {name}', { name: column.name })} onPress={() => shift(at, -1)} isDisabled={at === 0} /><Button small kind="bare" icon={ArrowDown} label={t('Right: {name}', { name: column.name })} onPress={() => shift(at, 1)} isDisabled={at === columns.length - 1} />{column.type !== 'new' && <Button small kind="bare" icon={Trash2} label={t('Remove {name}', { name: column.name })} onPress={() => remove(column)} />}</>}>
          <div className="fields">
            <TextInput label={t('Name')} value={column.name} onChange={(name) => set(column.place, { name })} maxLength={60} fault={shown && column.name.trim() === '' ? t('Give it a name.') : null} />
            <SelectInput label={t('What it means')} value={column.type} onChange={(type) => set(column.place, { type })} choices={TYPES.filter((type) => type !== 'new' || column.type === 'new').map((id) => ({ id, text: typeName(id) }))} />
            <SelectInput label={t('Colour')} value={column.color ?? 'none'} onChange={(colour) => set(column.place, { color: colour === 'none' ? null : colour })} choices={[{ id: 'none' as const, text: t('by its meaning') }, ...COLOUR_NAMES.map((id) => ({ id, text: colourName(id) }))]} />
          </div>
          {(column.rules.length > 0 || column.automations.length > 0) && <p className="meta">{[column.rules.length > 0 ? plural(column.rules.length, '{n} rule brings cards here', '{n} rules bring cards here') : '', ...column.automations.map(automationWords)].filter(Boolean).join('. ')}</p>}
        </Box>
      ))}
      {Object.entries(gone).map(([from, to]) => { const old = definition.columns.find((one) => one.id === from); return old && <div key={from} className="note" data-tone="wait"><div className="grow"><SelectInput label={plural(old.count ?? 0, 'Where the {n} card of {column} goes', 'Where the {n} cards of {column} go', { column: old.name })} value={to} onChange={(next: string) => setGone((before) => ({ ...before, [from]: next }))} choices={left} /></div></div>; })}
      <div className="row"><Button icon={Plus} onPress={add} isDisabled={columns.length >= 30}>{t('Add a column')}</Button></div>
      <TextInput label={t('The model moves a card by itself from so many percent on')} value={below} onChange={setBelow} inputMode="numeric" fault={shown && !(share >= 0 && share <= 100) ? t('0 to 100') : null} hint={t('Below it, the card waits for a look.')} />
      {error && <ErrorNote error={error} />}
      {shown && wrong && <p className="fault" role="alert">{t('Mend what is marked first.')}</p>}
      <div className="row"><Button type="submit" kind="primary" isPending={busy}>{t('Save the columns')}</Button></div>
    </Form>
  );
}
