import type { Schemas } from '../api/index.ts';

type Campaign = Schemas['Campaign'];
const OVER = new Set(['completed', 'archived']);

/** Campaigns that are not over and call from a number. */
export const campaignsFrom = (all: readonly Campaign[], number: string): readonly Campaign[] =>
  all.filter((one) => !OVER.has(one.status) && one.channel !== 'chatapp' && (one.settings.callerIds.length > 0 ? one.settings.callerIds.some((caller) => caller.number === number) : one.settings.fromNumber === number));

/** The daily caps of a number in these campaigns together, or null where none has one. */
export const capOf = (campaigns: readonly Campaign[], number: string): number | null => {
  const caps = campaigns.flatMap((one) => one.settings.callerIds.filter((caller) => caller.number === number).map((caller) => caller.dailyCap));
  return caps.length > 0 ? caps.reduce((sum, cap) => sum + cap, 0) : null;
};
