import { Check, ChevronDown } from 'lucide-react';
import { useMemo } from 'react';
import { Button as KitButton, Dialog, DialogTrigger, ListBox, ListBoxItem, Popover } from 'react-aria-components';
import { useSearchParams } from 'wouter';
import { Icon } from './icon.tsx';
import { count as figure } from './money.ts';

export interface FacetItem { readonly id: string; readonly text: string; readonly count?: number | undefined }

/** A filter as a chip that opens its values with their counts. `single` keeps one value. */
export function Facet({ name, items, on, set, single }: { name: string; items: readonly FacetItem[]; on: readonly string[]; set: (values: string[]) => void; single?: boolean }) {
  const text = (id: string): string => items.find((item) => item.id === id)?.text ?? id;
  return (
    <DialogTrigger>
      <KitButton className="facet" data-on={on.length > 0}>{name}{on.length > 0 && <b dir="auto">{on.length === 1 ? text(on[0] ?? '') : on.length}</b>}<Icon of={ChevronDown} small /></KitButton>
      <Popover className="pop" placement="bottom start">
        <Dialog aria-label={name}>
          <ListBox aria-label={name} escapeKeyBehavior="none" selectionMode={single ? 'single' : 'multiple'} className="list" selectedKeys={on} onSelectionChange={(keys) => set(keys === 'all' ? items.map((item) => item.id) : [...keys].map(String))}>
            {items.map((item) => (
              <ListBoxItem key={item.id} id={item.id} textValue={item.text} className="opt">
                <span className="tick"><Icon of={Check} small /></span><span dir="auto">{item.text}</span>{item.count !== undefined && <span className="n">{figure(item.count)}</span>}
              </ListBoxItem>
            ))}
          </ListBox>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

export interface Filters {
  one: (name: string) => string;
  all: (name: string) => string[];
  /** Sets a filter in the address; Back undoes it. Typing (`quiet`) replaces instead. */
  set: (name: string, value: string | readonly string[] | null, quiet?: boolean) => void;
  clear: (names: readonly string[]) => void;
  any: (names: readonly string[]) => boolean;
}

/** The filters of a page, which stand in its address. */
export function useFilters(): Filters {
  const [query, setQuery] = useSearchParams();
  return useMemo(() => {
    const change = (alter: (next: URLSearchParams) => void, replace: boolean): void => setQuery((before) => { const next = new URLSearchParams(before); alter(next); return next; }, { replace });
    return {
      one: (name) => query.get(name) ?? '',
      all: (name) => query.getAll(name),
      any: (names) => names.some((name) => query.has(name)),
      set: (name, value, quiet = false) => change((next) => {
        next.delete(name);
        for (const one of value === null || value === '' ? [] : [value].flat()) next.append(name, one);
      }, quiet),
      clear: (names) => change((next) => names.forEach((name) => next.delete(name)), false),
    };
  }, [query, setQuery]);
}
