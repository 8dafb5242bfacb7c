import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { callIn, currentScope, scopeKey, useHasRole, useMay, useRead, type ApiError, type Schemas } from '../api/index.ts';

export type Preflight = Schemas['Preflight'];
export type ChatappPreflight = Schemas['ChatappPreflight'];
export const isMessaging = (campaign: Schemas['Campaign']): boolean => campaign.channel === 'chatapp';

export const useCampaigns = () => useRead('listCampaigns', {});
export const useCampaign = (id: string) => useRead('getCampaign', { path: { id } });

const TICK = 5_000;
/** Counts of a campaign; of one that dials they come every five seconds. */
export const useSummary = (id: string, dials: boolean, enabled = true) => useRead('getCampaignSummary', { path: { id } }, { every: dials ? TICK : false, enabled, keep: true });

const MINUTE = 60_000;
/** What a start now would do. It reads the whole list, so it is asked once a minute and not at every change. */
export function usePreflight(id: string, options: { enabled: boolean; fresh?: boolean }): UseQueryResult<Schemas['CampaignPreflight'], ApiError> {
  const scope = currentScope();
  const may = useMay('preflightCampaign');
  return useQuery<Schemas['CampaignPreflight'], ApiError>({
    queryKey: [scopeKey(scope), 'campaign preflight', id, options.fresh ?? false],
    queryFn: async ({ signal }) => (await callIn(scope, 'preflightCampaign', { path: { id }, signal })).data,
    enabled: options.enabled && may, staleTime: options.fresh ? 0 : MINUTE, refetchInterval: options.fresh ? false : MINUTE,
  });
}

/** Who may launch, pause and end: what starts or stops dialling takes an admin. */
export function useMayLaunch(): boolean {
  const admin = useHasRole('admin');
  const may = useMay('setCampaignStatus');
  const live = !(currentScope()?.test ?? false);
  return admin && may && live;
}
/** Who may edit: test mode only reads campaigns. */
export function useMayEdit(): boolean {
  const may = useMay('updateCampaign');
  return may && !(currentScope()?.test ?? false);
}
export const useIsAdmin = (): boolean => useHasRole('admin') && !(currentScope()?.test ?? false);
