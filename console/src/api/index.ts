export { ApiError, addressOf, call, callIn, operator, type Answer, type Input } from './client.ts';
export { getConnection, useConnection, type Connection } from './connection.ts';
export { OPERATIONS, type OperationId, type Operations, type Role, type Schemas } from './operations.ts';
export { currentScope, rootOf, scopeKey, scopeOf, type Scope } from './scope.ts';
export { hasRole, signOut, useHasRole, useMay, useMe, useMembership, type Membership, type Person } from './session.ts';
export { useDeltas, type Delta } from './stream.ts';
export { invalidate, queries, readKey, useRead, useSend } from './use.ts';
