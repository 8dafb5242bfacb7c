import type { PageEntry } from '../shell/registry.ts';

export const entries: readonly PageEntry[] = [];
