// Operations of the operator's API as hooks. Those about a workspace that name a role may be called by its members, too.
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient, type InfiniteData, type UseQueryResult } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import type { Rows } from '../parts/rows.ts';
import { ApiError, operator } from './client.ts';
import { currentScope, scopeKey } from './scope.ts';

const keyOf = (path: string, query?: object): readonly unknown[] => [scopeKey(currentScope()), 'operator', path, query ?? {}];

/** The path of the workspace of the address. */
export const ofWorkspace = (path: string): string => `/workspaces/${currentScope()?.workspace ?? ''}${path}`;

/** Reads: `useOperator<{ data: Key[] }>(ofWorkspace("/keys"))`. */
export function useOperator<T>(path: string, options: { query?: object; enabled?: boolean; every?: number | false; keep?: boolean } = {}): UseQueryResult<T, ApiError> {
  return useQuery<T, ApiError>({
    queryKey: keyOf(path, options.query),
    queryFn: ({ signal }) => operator<T>('GET', path, { ...(options.query ? { query: options.query } : {}), signal }),
    enabled: options.enabled ?? true,
    refetchInterval: options.every ?? false,
    ...(options.keep ? { placeholderData: keepPreviousData } : {}),
  });
}

interface Request { readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'; readonly path: string; readonly query?: object; readonly body?: unknown }

/** Changes, then reads again every answer whose path begins with one of `alters`. */
export function useOperatorSend<I, T = unknown>(request: (input: I) => Request, options: { alters?: readonly string[]; done?: (answer: T, input: I) => void } = {}) {
  const client = useQueryClient();
  return useMutation<T, ApiError, I>({
    mutationFn: (input) => { const { method, path, ...rest } = request(input); return operator<T>(method, path, rest); },
    onSuccess: (answer, input) => {
      void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === 'operator' && (options.alters ?? []).some((path) => String(queryKey[2]).startsWith(path)) });
      options.done?.(answer, input);
    },
  });
}

interface Page<T> { data: T[]; nextCursor: string | null }

/** Pages behind a cursor, as the rows of a grid. */
export function useOperatorRows<T>(path: string, size = 100): Rows<T> & { all: readonly T[]; hasMore: boolean } {
  const pages = useInfiniteQuery<Page<T>, ApiError, InfiniteData<Page<T>>, readonly unknown[], string | undefined>({
    queryKey: [...keyOf(path, { limit: size }), 'pages'],
    initialPageParam: undefined,
    queryFn: ({ pageParam, signal }) => operator<Page<T>>('GET', path, { query: { limit: size, cursor: pageParam }, signal }),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });
  const all = useMemo(() => pages.data?.pages.flatMap((page) => page.data) ?? [], [pages.data]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage, error } = pages;
  const want = useCallback((_: number, last: number) => {
    if (last >= all.length - 20 && hasNextPage && !isFetchingNextPage && !error) void fetchNextPage();
  }, [all.length, hasNextPage, isFetchingNextPage, fetchNextPage, error]);
  return {
    all, want, hasMore: hasNextPage, exact: pages.data !== undefined && !hasNextPage, count: all.length + (hasNextPage ? 20 : 0), at: (index) => all[index],
    error, loading: pages.isPending, again: () => { void pages.refetch(); },
  };
}
