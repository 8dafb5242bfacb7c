import type { ReactNode } from 'react';
import { Bars, ErrorBlock, type Rows } from '../parts/index.ts';

/** Bars, an error or all rows of a list that is shown whole. */
export function ShownRows<T>({ of: rows, what, children }: { of: Rows<T> & { readonly all: readonly T[] }; what: string; children: (all: readonly T[]) => ReactNode }) {
  if (rows.all.length === 0 && rows.error) return <ErrorBlock what={what} error={rows.error} again={rows.again} />;
  if (rows.loading) return <Bars rows={4} />;
  return <>{children(rows.all)}</>;
}
