// What every long list of rows has in common: bars first, an error in the place of the rows, nothing, and newer rows that wait behind a pill.
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Button as KitButton } from 'react-aria-components';
import { Bars, ErrorBlock } from './problem.tsx';
import type { Rows } from './rows.ts';
import { plural } from './words.ts';

/** The rows, or what is there instead of them. */
export function Listed<T>({ rows, what, none, children }: { rows: Rows<T>; what: string; none: ReactNode; children: ReactNode }) {
  if (rows.loading) return <Bars rows={12} />;
  if (rows.error && rows.count === 0) return <ErrorBlock what={what} error={rows.error} again={rows.again} />;
  return rows.count === 0 ? <>{none}</> : <>{children}</>;
}

/**
 * How many rows are newer than those that are shown. `newest` are the ids of the first rows as they are now, `shown` as they are in the list.
 * While the pointer is over the list they wait; else `take` is called.
 */
export function useNewer(newest: readonly string[] | undefined, shown: readonly string[], take: () => void): { count: number; onHover: (inside: boolean) => void; pill: ReactNode } {
  const [inside, setInside] = useState(false);
  const taken = useRef('');
  const first = shown[0];
  const count = !newest || newest.length === 0 ? 0 : first === undefined ? newest.length : newest.includes(first) ? newest.indexOf(first) : newest.length;
  const mark = newest?.[0] ?? '';
  useEffect(() => { if (count > 0 && !inside && taken.current !== mark) { taken.current = mark; take(); } }, [count, inside, mark, take]);
  const all = count > 0 && count === newest?.length;
  return { count, onHover: setInside, pill: inside && count > 0 ? <KitButton className="fresh" onPress={take}>{all ? plural(count, '{n}+ newer', '{n}+ newer') : plural(count, '{n} newer', '{n} newer')}</KitButton> : null };
}
