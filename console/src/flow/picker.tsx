import { ArrowRight, ChevronDown, Search } from 'lucide-react';
import { useState } from 'react';
import { Autocomplete, Button as KitButton, Dialog, DialogTrigger, Input, ListBox, ListBoxItem, Popover, SearchField } from 'react-aria-components';
import { Icon, t } from '../parts/index.ts';
import { edgesOf, inOrder, stepOf, type Graph, type Step } from './graph.ts';
import { edgeName, iconOf, kindName, stepName } from './words.tsx';

const MOST = 60;
const NOWHERE = ' ';

/** One of the steps, found by typing. Only what is shown of the list exists. */
export function StepPicker({ label, graph, value, onPick, nowhere, button }: { label: string; graph: Graph; value: string | null; onPick: (id: string | null) => void; nowhere?: boolean; button?: React.ReactNode }) {
  return (
    <DialogTrigger>
      {button ?? <KitButton className="facet target" aria-label={value === null ? label : `${label} ${stepName(stepOf(graph, value)) || value}`}><span className={value === null ? 'dim grow cut' : 'grow cut'} dir="auto">{value === null ? t('Choose…') : stepName(stepOf(graph, value)) || value}</span><Icon of={ChevronDown} small /></KitButton>}
      <Popover className="pop" placement="bottom end"><Dialog aria-label={label} className="finding">{({ close }) => <Finding label={label} graph={graph} value={value} nowhere={nowhere ?? false} pick={(id) => { close(); onPick(id); }} />}</Dialog></Popover>
    </DialogTrigger>
  );
}

function Finding({ label, graph, value, nowhere, pick }: { label: string; graph: Graph; value: string | null; nowhere: boolean; pick: (id: string | null) => void }) {
  const [text, setText] = useState('');
  const words = text.toLocaleLowerCase();
  const fits = (step: Step): boolean => `${stepName(step)} ${step.id} ${kindName(step.type)}`.toLocaleLowerCase().includes(words);
  const found = inOrder(graph).filter(fits);
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <SearchField aria-label={label} className="ctl quiet" autoFocus data-own-undo><Icon of={Search} small /><Input placeholder={t('Find a step')} dir="auto" /></SearchField>
      <ListBox aria-label={label} className="list fixed" onAction={(key) => pick(key === NOWHERE ? null : String(key))} renderEmptyState={() => <p className="meta pad0">{t('No step matches.')}</p>}>
        {nowhere && value !== null && words === '' && <ListBoxItem id={NOWHERE} textValue={t('Nowhere')} className="opt dim">{t('Nowhere')}</ListBoxItem>}
        {found.slice(0, MOST).map((step) => <ListBoxItem key={step.id} id={step.id} textValue={stepName(step)} className="opt"><Icon of={iconOf(step.type)} small /><span dir="auto" className="cut">{stepName(step)}</span><span className="n">{kindName(step.type)}</span></ListBoxItem>)}
        {found.length > MOST && <ListBoxItem id="more" isDisabled textValue={t('Type to find more.')} className="opt dim">{t('Type to find more.')}</ListBoxItem>}
      </ListBox>
    </Autocomplete>
  );
}

/** Where a step goes to: one row for each of its edges. */
export function GoesTo({ step, graph, connect, shares }: { step: Step; graph: Graph; connect: (path: string, to: string | null) => void; shares: (path: string) => string | null }) {
  const edges = edgesOf(step);
  if (edges.length === 0) return null;
  return (
    <div className="field" role="group" aria-label={t('Goes to')}><p className="lab">{t('Goes to')}</p>
      <ul className="exits">{edges.map(({ path, to }) => {
        const name = edgeName(step, path);
        const share = shares(path);
        return <li key={path}><span className="grow cut" dir="auto">{name}</span>{share && <span className="meta num">{share}</span>}<Icon of={ArrowRight} small /><StepPicker label={t('{edge} goes to', { edge: name })} graph={graph} value={to} onPick={(id) => connect(path, id)} nowhere /></li>;
      })}</ul>
    </div>
  );
}
