// The shapes of the operator's API that the pages read.
export interface Features { readonly [name: string]: boolean }
export interface Limits { readonly [name: string]: number }
export interface Workspace {
  readonly id: string; readonly name: string; readonly kybVerified: boolean; readonly suspended: boolean; readonly balanceMinor: number; readonly reservedMinor: number; readonly currency: string;
  readonly costPerMinuteMinor: number; readonly costPerChatMinor: number; readonly costPerEvaluationMinor: number; readonly lowBalanceMinor: number | null; readonly marketingOptInRule: boolean;
  readonly regulatedAs: Entity; readonly dltEntityId: string | null; readonly features: Features; readonly limits: Limits; readonly createdAt: string;
}
export const ENTITIES = ['undeclared', 'unregulated', 'bank', 'payments_bank', 'small_finance_bank', 'cooperative_bank', 'regional_rural_bank', 'large_nbfc', 'nbfc', 'asset_manager', 'pension_manager', 'insurer', 'stock_broker'] as const;
export type Entity = (typeof ENTITIES)[number];
export interface PhoneNumber { readonly id: string; readonly number: string; readonly type: 'mobile' | 'landline'; readonly series: '140' | '1600' | null; readonly status: 'active' | 'released'; readonly inboundAgentId: string | null; readonly carrier: string | null }
export interface Line { readonly id: string; readonly kind: string; readonly amountMinor: number; readonly balanceAfterMinor: number; readonly reference: string; readonly createdAt: string }
export interface Member { readonly id: string; readonly email: string; readonly name: string; readonly role: 'owner' | 'admin' | 'editor' | 'viewer'; readonly createdAt: string }
export interface LogEntry { readonly id: string; readonly at: string; readonly operation: string; readonly workspaceId: string | null; readonly subject: string; readonly requestId: string }
export interface Node { readonly name: string; readonly status: 'in_service' | 'draining' | 'stopping'; readonly since: string; readonly callsHeld: number }
export interface Page<T> { readonly data: T[]; readonly nextCursor: string | null }
export interface Data<T> { readonly data: T }
