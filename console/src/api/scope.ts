// The workspace and the mode stand in the address: /console/{ws}/… is live, /console/{ws}/test/… is test mode.

export interface Scope { readonly workspace: string; readonly test: boolean }

const PLACES = /^\/console\/(ws_[a-z0-9]+)(\/test)?(\/|$)/;

export function scopeOf(pathname: string): Scope | null {
  const found = PLACES.exec(pathname);
  return found?.[1] ? { workspace: found[1], test: found[2] !== undefined } : null;
}

export const currentScope = (): Scope | null => scopeOf(location.pathname);
export const scopeKey = (scope: Scope | null): string => (scope ? `${scope.workspace}/${scope.test ? 'test' : 'live'}` : 'me');
export const rootOf = (scope: Scope): string => `/console/${scope.workspace}${scope.test ? '/test' : ''}`;
