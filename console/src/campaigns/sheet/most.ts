/** Rows that a list takes. */
export const MOST_ROWS = 50_000;
