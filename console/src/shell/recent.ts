// The pages that were open lately, of this tab only. Nothing of it is kept.

interface Visit { readonly path: string; readonly title: string }
let visits: readonly Visit[] = [];

export function visited(path: string, title: string): void {
  visits = [{ path, title }, ...visits.filter((one) => one.path !== path)].slice(0, 6);
}
/** All but the page that is open. */
export const recent = (): readonly Visit[] => visits.slice(1);
export const forgetRecent = (): void => { visits = []; };
