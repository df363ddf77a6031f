/** What may become of calls besides that they are taken. The only member of an error to branch on. */
export type TrunklineErrorCode =
  /** The service called this call wrong: it is dropped, because it would be refused again. */
  | 'refused'
  /** The queue is full: the call was not put into it. */
  | 'queue_full'
  /** The service does not know the token, or it is of the wrong kind: nothing more is sent. */
  | 'wrong_token'
  /** What answers at `apiHost` is not the service: nothing more is sent. */
  | 'wrong_host'
  /** The client was closed. */
  | 'closed'
  /** `flush` waited long enough: what is left is tried on. */
  | 'timed_out'
  /** `close` waited long enough, or nothing more could be sent: `unsent` is what is left. */
  | 'not_sent';

/** One thing that is wrong with a call: where, as a JSON Pointer into it, and what to do. */
export type TrunklineIssue = { path: string; message: string };

/** A call as the service is told it; what `unsent` and errors about one call hold. */
export type SentCall =
  | { kind: 'track'; body: WireEvent }
  | { kind: 'identify'; body: WireIdentify }
  | { kind: 'alias'; body: WireAlias };

/** What an event may say: nothing nested. */
export type Value = string | number | boolean | undefined;
export type Properties = { [name: string]: Value };
/** Any JSON; null removes a trait. */
export type Traits = object;

export type WireEvent = {
  event: string;
  external_id?: string;
  anonymous_id?: string;
  properties?: Properties;
  occurred_at: string;
  message_id: string;
};
export type WireIdentify = {
  external_id: string;
  anonymous_id?: string;
  traits?: Traits;
  occurred_at: string;
  message_id: string;
};
export type WireAlias = { anonymous_id: string; external_id: string };

type Details = {
  call?: SentCall;
  issues?: TrunklineIssue[];
  unsent?: SentCall[];
  requestId?: string;
  cause?: unknown;
};

/** What went wrong, and in its message what to do. */
export class TrunklineError extends Error {
  override readonly name = 'TrunklineError';
  readonly code: TrunklineErrorCode;
  /** The call that was refused. */
  readonly call: SentCall | undefined;
  readonly issues: readonly TrunklineIssue[];
  /** What is known not to be taken, or not known to be: sending it again with its `message_id` doubles nothing. */
  readonly unsent: readonly SentCall[];
  /** The service's id of the request, to be quoted. */
  readonly requestId: string | undefined;

  constructor(code: TrunklineErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.call = details.call;
    this.issues = details.issues ?? [];
    this.unsent = details.unsent ?? [];
    this.requestId = details.requestId;
  }
}
