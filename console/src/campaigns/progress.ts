// Six states that add up to the list.
import type { Schemas } from '../api/index.ts';
import type { BarPart } from '../parts/index.ts';
import { rowState, type RowState } from './states.ts';

type Progress = Schemas['CampaignProgress'];
export const ofState = (progress: Progress, state: RowState): number => (state === 'in_progress' ? progress.inProgress : progress[state]);

const IN_BAR: readonly RowState[] = ['reached', 'unreached', 'in_progress', 'held', 'queued'];
export const progressParts = (progress: Progress): readonly BarPart[] => IN_BAR.map((state) => ({ name: rowState(state).text, value: ofState(progress, state), tone: rowState(state).bar }));

/** Share of those who can be called that are done: reached, or not to be tried again. */
export function doneShare(progress: Progress): number {
  const callable = progress.total - progress.invalid;
  return callable > 0 ? (progress.reached + progress.unreached - progress.retryable) / callable : 0;
}
