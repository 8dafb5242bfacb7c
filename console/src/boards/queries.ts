// A board belongs to a campaign or to an agent; both have the same operations.
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { call, currentScope, invalidate, operator, scopeKey, useHasRole, useMay, useRead, type ApiError, type Schemas } from '../api/index.ts';
import { useCursorRows } from '../parts/index.ts';

export type Card = Schemas['Card'];
export type Column = Schemas['BoardColumn'];
export type ColumnType = Schemas['ColumnType'];
export const isCampaign = (owner: string): boolean => owner.startsWith('cmp_');

export const useBoard = (owner: string) => {
  const campaign = isCampaign(owner);
  const ofCampaign = useRead('getCampaignBoard', { path: { id: owner } }, { enabled: campaign, keep: true });
  const ofAgent = useRead('getAgentBoard', { path: { id: owner } }, { enabled: !campaign, keep: true });
  return campaign ? ofCampaign : ofAgent;
};

/** The name of the campaign or the agent. */
export function useOwnerName(owner: string): string | undefined {
  const campaign = isCampaign(owner);
  const one = useRead('getCampaign', { path: { id: owner } }, { enabled: campaign });
  const other = useRead('getAgent', { path: { id: owner } }, { enabled: !campaign });
  return campaign ? one.data?.data.name : other.data?.data.name;
}

export const PAGE = 50;
const cardsOf = (owner: string) => (isCampaign(owner) ? 'listCampaignCards' : 'listAgentCards');
export const useCards = (owner: string, column: string | null, size = PAGE, enabled = true) => useCursorRows<Card>(cardsOf(owner), { path: { id: owner }, ...(column ? { query: { column } } : {}) }, size, { enabled });

const place = (owner: string, cardId: string) => ({ path: { id: owner, cardId } });
export const move = async (owner: string, cardId: string, columnId: string): Promise<Card> => (await call(isCampaign(owner) ? 'moveCampaignCard' : 'moveAgentCard', { ...place(owner, cardId), body: { columnId } })).data;
export const undo = async (owner: string, cardId: string, moveId: string): Promise<Card> => (await call(isCampaign(owner) ? 'undoCampaignCardMove' : 'undoAgentCardMove', { ...place(owner, cardId), body: { moveId } })).data;
export const useHistory = (owner: string, cardId: string) => useCursorRows<Schemas['CardMoved']>(isCampaign(owner) ? 'getCampaignCardHistory' : 'getAgentCardHistory', place(owner, cardId), PAGE);

/** Reads the board and its cards again; done when they are there. */
export function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => invalidate(client, ['boards', 'cards'], null);
}

export function useMayMove(owner: string): boolean {
  const may = useMay(isCampaign(owner) ? 'moveCampaignCard' : 'moveAgentCard');
  return may && !(currentScope()?.test ?? false);
}

/** How many cards wait for a look, as the service counts them. */
export function useToReview(owner: string, boardId: string | undefined): number | undefined {
  const items = useRead('listAttention', {}).data?.data;
  return items?.find((item) => item.kind === 'cards_to_review' && (item.subject.id === owner || item.subject.id === boardId))?.count;
}

export interface Automation { readonly type: string; readonly reason?: string; readonly delayMinutes?: number; readonly [field: string]: unknown }
export interface DefinedColumn { readonly id?: string; readonly name: string; readonly key: string; readonly type: ColumnType; readonly color: Schemas['ColumnColor'] | null; readonly count?: number; readonly rules: readonly unknown[]; readonly automations: readonly Automation[] }
export interface Definition { readonly id: string; readonly reviewBelow: number; readonly version: number; readonly columns: readonly DefinedColumn[] }

const definitionPath = (boardId: string): string => `/workspaces/${currentScope()?.workspace ?? ''}/boards/${boardId}`;
/** Columns with their rules and automations, for those who may change them. */
export function useDefinition(boardId: string | undefined): UseQueryResult<Definition, ApiError> {
  const editor = useHasRole('editor');
  return useQuery<Definition, ApiError>({
    queryKey: [scopeKey(currentScope()), 'board definition', boardId], enabled: editor && boardId !== undefined, staleTime: 30_000,
    queryFn: async ({ signal }) => (await operator<{ data: Definition }>('GET', definitionPath(boardId ?? ''), { signal })).data,
  });
}
export interface DefinitionChange { readonly columns: readonly Omit<DefinedColumn, 'count'>[]; readonly moveCards: readonly { from: string; to: string }[]; readonly reviewBelow: number; readonly version: number }
export const saveDefinition = (boardId: string, change: DefinitionChange): Promise<{ data: Definition }> => operator('PUT', definitionPath(boardId), { body: change });
