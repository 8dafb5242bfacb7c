/** When a request is sent again, and after how long. Pure. */

const FIRST_PAUSE = 0.5;
const LONGEST_PAUSE = 8;
/** Seconds. A service that asks for more is not waited for: the error says how long it asked for. */
const LONGEST_RETRY_AFTER = 60;
const IDEMPOTENT = new Set(["GET", "HEAD", "PUT", "DELETE"]);
const NEVER_AGAIN = new Set<string | undefined>(["possibly_placed"]);
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

/** Whether a request may be sent twice: its method says so, or its key makes it so. */
export function repeatable(method: string, idempotencyKey: string | undefined): boolean {
  return IDEMPOTENT.has(method) || idempotencyKey !== undefined;
}

/** Seconds of a `Retry-After`, which is a number of seconds or a date; undefined when it is absent or neither. `now` is in milliseconds. */
export function retryAfter(value: string | null | undefined, now: number): number | undefined {
  if (value === null || value === undefined) return undefined;
  const dated = /^[a-z]+, /i.test(value) ? (Date.parse(value) - now) / 1000 : undefined;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : (dated ?? NaN);
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/**
 * Seconds until attempt `attempt + 1` (the first is 0) after an answer with this status and code, or without any (`status` is undefined);
 * undefined when the answer stays as it is. `asked` is what `Retry-After` said, `draw` is from 0 to 1.
 */
export function pause(
  attempt: number,
  status: number | undefined,
  code: string | undefined,
  asked: number | undefined,
  draw: number,
): number | undefined {
  if (status !== undefined && !passes(status, code)) return undefined;
  if (asked !== undefined) return asked <= LONGEST_RETRY_AFTER ? asked + FIRST_PAUSE * draw : undefined;
  return Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** attempt) * (0.5 + 0.5 * draw);
}

function passes(status: number, code: string | undefined): boolean {
  if (NEVER_AGAIN.has(code)) return false;
  return PASSING.has(status) || (status === 409 && code === "idempotency_in_progress");
}
