// Rows of a grid: those that are there, those that are fetched for the window, or pages behind a cursor.
import { useInfiniteQuery, useQueries, type InfiniteData, type UseQueryResult } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { callIn, type ApiError, type Input } from '../api/client.ts';
import type { OperationId } from '../api/operations.ts';
import { currentScope } from '../api/scope.ts';
import { STILL, readKey } from '../api/use.ts';

export interface Rows<T> {
  readonly count: number;
  /** Whether `count` is all there is. */
  readonly exact: boolean;
  readonly at: (index: number) => T | undefined;
  /** The rows that the window shows now. */
  readonly want: (first: number, last: number) => void;
  readonly error: ApiError | null;
  /** Before the first answer. */
  readonly loading: boolean;
  readonly again: () => void;
}

const nothing = (): void => undefined;

/** Rows that are all there. */
export const fixedRows = <T,>(all: readonly T[]): Rows<T> => ({ count: all.length, exact: true, at: (index) => all[index], want: nothing, error: null, loading: false, again: nothing });

interface Page<T> { data: T[]; nextCursor?: string | null; total?: number }
const SIZE = 200;

/** Pages of an operation with `limit` and `offset`, fetched for the rows that the window shows; the scrollbar is true. */
export function useOffsetRows<T>(operation: OperationId, input: { path?: Record<string, string>; query?: object }, size = SIZE): Rows<T> & { total: number | undefined } {
  const scope = currentScope();
  const [pages, setPages] = useState<readonly number[]>([0]);
  const answers = useQueries({
    queries: pages.map((page) => {
      const asked = { ...input, query: { ...input.query, limit: size, offset: page * size } };
      return {
        queryKey: readKey(operation, asked as never),
        queryFn: async ({ signal }: { signal: AbortSignal }) => (await callIn(scope, operation, { ...asked, signal } as unknown as Input<OperationId>)) as unknown as Page<T>,
      };
    }),
  }) as UseQueryResult<Page<T>, ApiError>[];
  const total = answers.find((answer) => answer.data?.total !== undefined)?.data?.total;
  const want = useCallback((first: number, last: number) => {
    const wanted: number[] = [];
    for (let page = Math.floor(first / size); page <= Math.floor(last / size); page += 1) wanted.push(page);
    setPages((before) => (wanted.join() === before.join() ? before : wanted));
  }, [size]);
  const loaded = new Map(pages.map((page, at) => [page, answers[at]?.data?.data]));
  const failed = answers.find((answer) => answer.error);
  return {
    total, want, count: total ?? answers[0]?.data?.data.length ?? 0, exact: total !== undefined,
    at: (index) => loaded.get(Math.floor(index / size))?.[index % size],
    error: failed?.error ?? null, loading: total === undefined && answers.some((answer) => answer.isPending),
    again: () => answers.forEach((answer) => { if (answer.error) void answer.refetch(); }),
  };
}

/** Pages behind a cursor; the next is fetched when the window comes near the last row. `still` rows are not read again by the stream: they wait for `again`. */
export function useCursorRows<T>(operation: OperationId, input: { path?: Record<string, string>; query?: object }, size = SIZE, options: { enabled?: boolean; still?: boolean } = {}): Rows<T> & { hasMore: boolean; all: readonly T[] } {
  const scope = currentScope();
  const asked = { ...input, query: { ...input.query, limit: size } };
  const pages = useInfiniteQuery<Page<T>, ApiError, InfiniteData<Page<T>>, readonly unknown[], string | undefined>({
    queryKey: [...readKey(operation, asked as never), 'pages', ...(options.still ? [STILL] : [])],
    enabled: options.enabled ?? true,
    initialPageParam: undefined,
    queryFn: async ({ pageParam, signal }) => (await callIn(scope, operation, { ...asked, query: { ...asked.query, cursor: pageParam }, signal } as unknown as Input<OperationId>)) as unknown as Page<T>,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });
  const all = useMemo(() => pages.data?.pages.flatMap((page) => page.data) ?? [], [pages.data]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage, error } = pages;
  const want = useCallback((_: number, last: number) => {
    if (last >= all.length - 20 && hasNextPage && !isFetchingNextPage && !error) void fetchNextPage();
  }, [all.length, hasNextPage, isFetchingNextPage, fetchNextPage, error]);
  return {
    all, want, hasMore: hasNextPage, exact: pages.data !== undefined && !hasNextPage,
    count: all.length + (hasNextPage ? 20 : 0), at: (index) => all[index],
    error: pages.error, loading: pages.isPending, again: () => { void pages.refetch(); },
  };
}
