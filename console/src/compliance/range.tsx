import { Dates, indiaDay, useFilters } from '../parts/index.ts';

const DAYS = 90;

/** The days of the address, else the last 90. `to` is absent when it is open. */
export function useRange(): { from: string; to?: string } {
  const filters = useFilters();
  const to = filters.one('to');
  return { from: filters.one('from') || indiaDay(DAYS - 1), ...(to ? { to } : {}) };
}

export function DateRange() {
  const filters = useFilters();
  const { from, to } = useRange();
  return <Dates value={{ start: from, end: to ?? indiaDay() }} onChange={(range) => { filters.set('from', range.start); filters.set('to', range.end === indiaDay() ? null : range.end, true); }} />;
}
