// Operations as hooks. The key of an answer is [workspace and mode, operation, input].
import { MutationCache, QueryCache, QueryClient, keepPreviousData, useMutation, useQuery, useQueryClient, type QueryKey, type UseQueryResult } from '@tanstack/react-query';
import { ApiError, callIn, type Answer, type Input } from './client.ts';
import type { OperationId } from './operations.ts';
import { currentScope, scopeKey } from './scope.ts';
import { topicsOf } from './topics.ts';

/** The key of the person who is signed in. */
export const ME = ['me', 'getMe'] as const;
/** Who lacks a role for something that was offered has another role than this page knows. */
const refused = (error: unknown): void => {
  if (error instanceof ApiError && error.code === 'role_missing') void queries.invalidateQueries({ queryKey: ME });
};

export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: refused }),
  mutationCache: new MutationCache({ onError: refused }),
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      // A refusal stays a refusal. What may pass by itself is tried twice more.
      retry: (failures, error) => failures < 2 && error instanceof ApiError && (error.status === 503 || error.code === 'no_answer'),
      retryDelay: (attempt) => 400 * 2 ** attempt,
    },
    mutations: { retry: false },
  },
});

interface ReadOptions<T> { enabled?: boolean; every?: number | false; keep?: boolean; fresh?: number; select?: (answer: T) => T }

/** Reads with an operation; the stream of changes keeps the answer new. `keep` shows the former answer while another one comes. */
export function useRead<K extends OperationId>(operation: K, input: Input<K>, options: ReadOptions<Answer<K>> = {}): UseQueryResult<Answer<K>, ApiError> {
  const scope = currentScope();
  return useQuery<Answer<K>, ApiError>({
    queryKey: readKey(operation, input),
    queryFn: ({ signal }) => callIn(scope, operation, { ...input, signal }),
    enabled: options.enabled ?? true,
    refetchInterval: options.every ?? false,
    ...(options.fresh === undefined ? {} : { staleTime: options.fresh }),
    ...(options.keep ? { placeholderData: keepPreviousData } : {}),
    ...(options.select ? { select: options.select } : {}),
  });
}

export function readKey<K extends OperationId>(operation: K, input: Input<K>): QueryKey {
  const { signal: _, once: __, ...rest } = input as { signal?: unknown; once?: unknown };
  return [scopeKey(currentScope()), operation, rest];
}

/** Changes something with an operation, then reads again what it made old: its own topics, and the operations that are named. */
export function useSend<K extends OperationId>(operation: K, options: { alters?: readonly OperationId[]; done?: (answer: Answer<K>, input: Input<K>) => void } = {}) {
  const client = useQueryClient();
  return useMutation<Answer<K>, ApiError, Input<K>>({
    mutationFn: (input) => callIn(currentScope(), operation, input),
    onSuccess: (answer, input) => {
      void invalidate(client, topicsOf(operation), null);
      for (const altered of options.alters ?? []) void client.invalidateQueries({ queryKey: [scopeKey(currentScope()), altered] });
      options.done?.(answer, input);
    },
  });
}

/** In the key of an answer that changes only when the reader asks. */
export const STILL = 'still';
const kind = (id: string): string => id.slice(0, id.lastIndexOf('_'));

/** Answers of the topics are read again: all of them, or those that are not about another object of the kind of `id`. */
export function invalidate(client: QueryClient, topics: readonly string[], id: string | null): Promise<void> {
  const scope = scopeKey(currentScope());
  return client.invalidateQueries({
    predicate: ({ queryKey }) => {
      const [place, operation, input] = queryKey as [string, string, { path?: Record<string, string> } | undefined];
      if (place !== scope || queryKey.includes(STILL) || !topicsOf(operation).some((topic) => topics.includes(topic))) return false;
      const about = Object.values(input?.path ?? {});
      return id === null || about.includes(id) || !about.some((other) => kind(other) === kind(id));
    },
  });
}
