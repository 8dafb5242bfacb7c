/**
 * The SDK of dastak: voice and chat agents.
 *
 *     import { Client } from "dastak";
 *     for await (const call of new Client().calls.list()) console.log(call.id, call.state);
 */

export { ChatStream, type ChatDone, type ChatStreamEvent, type ChatText } from "./chat-stream.js";
export { Client, type ClientOptions } from "./client.js";
export {
  AbortedError,
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionFailedError,
  DastakError,
  GoneError,
  InsufficientBalanceError,
  InvalidArgumentError,
  LockedError,
  NoRecordingError,
  NotFoundError,
  PagingError,
  PermissionDeniedError,
  RateLimitError,
  RequestTimeoutError,
  ServerError,
  SignatureError,
  StreamInterruptedError,
  UnexpectedAnswerError,
  UnprocessableError,
  type ApiErrorFields,
  type UnexpectedAnswer,
} from "./errors.js";
export type { EventsByType } from "./events.js";
export type { FollowOptions } from "./extended.js";
export { Download } from "./files.js";
export type * as models from "./models.js";
export { Page, Pager } from "./paging.js";
export { Pending, type RawResponse } from "./pending.js";
export type { KeyedOptions, RequestOptions, Upload } from "./requests.js";
export { VERSION } from "./version.js";
export { TOLERANCE, isEvent, signatureHeader, unwrapWebhook, verifyWebhook, type HeadersLike, type VerifyOptions } from "./webhooks.js";
