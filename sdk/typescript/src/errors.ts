/** What the SDK throws. Everything is a `DastakError`. */

import { isObject, text } from "./json.js";
import type { ErrorCode } from "./models.js";

const SHOWN_OF_A_BODY = 500;

/** Base of all errors of this package. */
export class DastakError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An argument is wrong; nothing was sent. The text names it. */
export class InvalidArgumentError extends DastakError {}

/** No whole answer came: the connection could not be made, or broke. What the request asked for may have happened. */
export class ConnectionFailedError extends DastakError {}

/** No whole answer came in time. What the request asked for may have happened. */
export class RequestTimeoutError extends ConnectionFailedError {}

/** A stream of events ended before its last event. */
export class StreamInterruptedError extends ConnectionFailedError {}

/** The request was aborted by the signal that it was given. What it asked for may have happened. */
export class AbortedError extends DastakError {}

/** The pages of a list do not end: a cursor came twice, or more pages came than any list has. */
export class PagingError extends DastakError {}

/** A webhook is not to be trusted: its signature is missing, malformed, wrong, or too old. */
export class SignatureError extends DastakError {}

/** The call has no recording, or not yet: `recording.ready` says when. */
export class NoRecordingError extends DastakError {}

/** What is known of an answer that is not one of this API. */
export interface UnexpectedAnswer {
  status?: number | undefined;
  requestId?: string | undefined;
  body?: string | undefined;
  cause?: unknown;
}

/** The answer is not one of this API: no JSON, another shape than promised, too large, or a redirect. */
export class UnexpectedAnswerError extends DastakError {
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** The beginning of the body. */
  readonly body: string;

  constructor(message: string, about: UnexpectedAnswer = {}) {
    super(message, { cause: about.cause });
    this.status = about.status;
    this.requestId = about.requestId;
    this.body = (about.body ?? "").slice(0, SHOWN_OF_A_BODY);
  }
}

/** What an error of the API says. */
export interface ApiErrorFields {
  status: number;
  code?: string | undefined;
  meta?: Record<string, unknown> | undefined;
  requestId?: string | undefined;
  docUrl?: string | undefined;
  retryAfter?: number | undefined;
  headers?: Headers | undefined;
}

/** The service refused a request. Branch on `code`; the text is for people and may change. */
export class ApiError extends DastakError {
  /** The text of the service, without what `message` adds to it. */
  readonly text: string;
  /** The HTTP status; that of the answer also for an error within a stream. */
  readonly status: number;
  /** The code of the error, such as `call_blocked`; undefined when the answer had none, such as one of a proxy. */
  readonly code: ErrorCode | undefined;
  /** Details, such as `field`, the first wrong field. */
  readonly meta: Record<string, unknown>;
  /** The `X-Request-Id` of the answer, to be quoted to the operator. */
  readonly requestId: string | undefined;
  /** Path of the page about this code, at the address of the service. */
  readonly docUrl: string | undefined;
  /** Seconds to wait before the next request, where the service says so. */
  readonly retryAfter: number | undefined;
  readonly headers: Headers | undefined;

  constructor(text: string, fields: ApiErrorFields) {
    const request = fields.requestId === undefined ? undefined : `request ${fields.requestId}`;
    super(`${text} (${[String(fields.status), fields.code, request].filter((part) => part !== undefined).join(", ")})`);
    this.text = text;
    this.status = fields.status;
    this.code = fields.code;
    this.meta = fields.meta ?? {};
    this.requestId = fields.requestId;
    this.docUrl = fields.docUrl;
    this.retryAfter = fields.retryAfter;
    this.headers = fields.headers;
  }
}

/** 400: the request is wrong; `meta.field` names the first wrong field. */
export class BadRequestError extends ApiError {}
/** 401: the key is not valid. */
export class AuthenticationError extends ApiError {}
/** 402: the wallet does not cover it. */
export class InsufficientBalanceError extends ApiError {}
/** 403: the key may not do this, or the feature is off. */
export class PermissionDeniedError extends ApiError {}
/** 404: there is no such object in the workspace and the mode of the key. */
export class NotFoundError extends ApiError {}
/** 409: the state of the object does not allow it. */
export class ConflictError extends ApiError {}
/** 410: the person was erased. */
export class GoneError extends ApiError {}
/** 422: a rule or a compliance gate refused, or an idempotency key was used for another request. */
export class UnprocessableError extends ApiError {}
/** 423: the operator has locked the agent. */
export class LockedError extends ApiError {}
/** 429: a limit is reached; `retryAfter` says how long to wait. */
export class RateLimitError extends ApiError {}
/** 5xx: the service, or something before it, failed. */
export class ServerError extends ApiError {}

const BY_STATUS = new Map<number, typeof ApiError>([
  [400, BadRequestError],
  [401, AuthenticationError],
  [402, InsufficientBalanceError],
  [403, PermissionDeniedError],
  [404, NotFoundError],
  [409, ConflictError],
  [410, GoneError],
  [422, UnprocessableError],
  [423, LockedError],
  [429, RateLimitError],
]);

/** The error of an answer whose status is not 2xx; its body may be anything. */
export function apiError(status: number, headers: Headers, body: string, retryAfter: number | undefined): ApiError {
  const kind = BY_STATUS.get(status) ?? (status >= 500 ? ServerError : ApiError);
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    parsed = undefined;
  }
  const fields = isObject(parsed) ? parsed : {};
  return new kind(text(fields["error"]) ?? `the server answered ${status}`, {
    status,
    code: text(fields["code"]),
    meta: isObject(fields["meta"]) ? fields["meta"] : undefined,
    requestId: headers.get("x-request-id") ?? text(fields["requestId"]),
    docUrl: text(fields["docUrl"]),
    retryAfter,
    headers,
  });
}
