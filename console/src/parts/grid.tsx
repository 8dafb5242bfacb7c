// Rows by index: nothing that is not on the screen exists. One tab stop; arrows or J K move, Enter opens, X selects.
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useId, useRef, useState, type CSSProperties, type KeyboardEvent, type ReactNode } from 'react';
import type { Rows } from './rows.ts';
import { useMedia } from './media.ts';
import { t } from './words.ts';

export interface Column<T> { readonly key: string; readonly head: ReactNode; readonly width: string; readonly right?: boolean; readonly cell: (row: T) => ReactNode }

interface GridProps<T> {
  label: string;
  rows: Rows<T>;
  columns: readonly Column<T>[];
  id: (row: T) => string;
  open?: (row: T) => void;
  /** Told of the row that the keys went to. */
  onActive?: (row: T) => void;
  /** The row that is open beside the list. */
  current?: string | undefined;
  /** The row on a phone, in two lines. */
  thin?: (row: T) => ReactNode;
  /** Least width of a row before the grid scrolls sideways. */
  least?: number;
  rowHeight?: number;
  selected?: ReadonlySet<string>;
  onSelect?: (ids: ReadonlySet<string>) => void;
  /** Told while the pointer is over the rows, so that new ones wait. */
  onHover?: (inside: boolean) => void;
}

const HEAD = 32;

export function Grid<T>({ label, rows, columns, id, open, onActive, current, thin, least = 0, rowHeight, selected, onSelect, onHover }: GridProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const name = useId();
  const [active, setActive] = useState(0);
  const small = useMedia('(max-width: 760px)');
  const height = small && thin ? 64 : rowHeight ?? (small ? 44 : 36);
  const virtual = useVirtualizer({ count: rows.count, getScrollElement: () => box.current, estimateSize: () => height, overscan: 10, scrollPaddingStart: small && thin ? 0 : HEAD });
  useEffect(() => virtual.measure(), [height, virtual]);
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  const { want } = rows;
  useEffect(() => { if (rows.count > 0) want(first, last); }, [want, first, last, rows.count]);
  const at = Math.min(active, Math.max(0, rows.count - 1));

  const go = (index: number): void => {
    const next = Math.max(0, Math.min(rows.count - 1, index));
    setActive(next);
    virtual.scrollToIndex(next);
    const row = rows.at(next);
    if (row !== undefined) onActive?.(row);
  };
  const act = (index: number): void => { const row = rows.at(index); if (row !== undefined) open?.(row); };
  const toggle = (index: number): void => {
    const row = rows.at(index);
    if (row === undefined || !onSelect) return;
    const next = new Set(selected);
    if (!next.delete(id(row))) next.add(id(row));
    onSelect(next);
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.target !== box.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(((box.current?.clientHeight ?? 0) - HEAD) / height));
    const does: Record<string, () => void> = {
      ArrowDown: () => go(at + 1), ArrowUp: () => go(at - 1), j: () => go(at + 1), k: () => go(at - 1), PageDown: () => go(at + page), PageUp: () => go(at - page),
      Home: () => go(0), End: () => go(rows.count - 1), Enter: () => act(at), x: () => toggle(at), ' ': () => toggle(at),
    };
    const does1 = does[event.key];
    if (!does1) return;
    event.preventDefault();
    event.stopPropagation();
    does1();
  };
  const track = small && thin ? '1fr' : columns.map((column) => column.width).join(' ');
  const cells = (row: T | undefined): ReactNode => {
    if (small && thin) return <div role="gridcell">{row === undefined ? <span className="skel" /> : thin(row)}</div>;
    return columns.map((column) => <div role="gridcell" key={column.key} className={column.right ? 'r' : ''}>{row === undefined ? <span className="skel" /> : column.cell(row)}</div>);
  };
  return (
    <div
      ref={box} className="grid" role="grid" tabIndex={0} aria-label={label} aria-rowcount={rows.exact ? rows.count + 1 : -1} aria-colcount={small && thin ? 1 : columns.length} aria-multiselectable={onSelect ? true : undefined}
      aria-activedescendant={rows.count > 0 ? `${name}-${at}` : undefined} onKeyDown={keys} style={{ '--min': `${small ? 0 : least}px` } as CSSProperties}
      onPointerEnter={() => onHover?.(true)} onPointerLeave={() => onHover?.(false)} data-rows={rows.count}
    >
      <div role="rowgroup"><div role="row" aria-rowindex={1} className="gh" style={{ gridTemplateColumns: track }}>{columns.map((column) => <div role="columnheader" key={column.key} className={column.right ? 'r' : ''}>{column.head}</div>)}</div></div>
      <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative', minWidth: 'var(--min)' }}>
        {items.map((item) => {
          const row = rows.at(item.index);
          const key = row === undefined ? undefined : id(row);
          return (
            <div
              role="row" key={item.key} id={`${name}-${item.index}`} aria-rowindex={item.index + 2} className="gr" aria-label={row === undefined ? t('Loading') : undefined}
              aria-selected={onSelect ? key !== undefined && (selected?.has(key) ?? false) : undefined} data-selected={key !== undefined && (selected?.has(key) ?? false)}
              data-active={item.index === at} data-current={key !== undefined && key === current} style={{ gridTemplateColumns: track, transform: `translateY(${item.start}px)`, height }}
              onClick={(event) => { setActive(item.index); if (event.shiftKey) toggle(item.index); else act(item.index); }}
            >{cells(row)}</div>
          );
        })}
      </div>
    </div>
  );
}
