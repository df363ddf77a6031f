import { toSent } from './calls.ts';
import { TrunklineError } from './errors.ts';
import type { TrunklineIssue } from './errors.ts';
import type { Waiting } from './queue.ts';
import type { Outcome } from './transport.ts';

const PATHS = {
  track: '/v1/events/batch',
  identify: '/v1/identify',
  alias: '/v1/identify/alias',
} as const;

/** The request that a few calls make; `sent_at` lets the service correct our clock. */
export const toRequest = (calls: readonly Waiting[]): { path: string; body: string } => {
  const [first] = calls as [Waiting];
  const path = PATHS[first.kind];
  if (first.kind !== 'track') return { path, body: first.json };
  const events = calls.map(({ json }) => json).join(',');
  return { path, body: `{"sent_at":"${new Date().toISOString()}","events":[${events}]}` };
};

type Refused = Extract<Outcome, { kind: 'refused' }>;

const OF_EVENT = /^\/events\/(\d+)(\/.*)?$/;

/** The issues of each call by its place in the request; none where the answer names no place. */
const groupIssues = (
  calls: readonly Waiting[],
  { issues }: Refused,
): Map<Waiting, TrunklineIssue[]> => {
  const grouped = new Map<Waiting, TrunklineIssue[]>();
  for (const { path, message } of issues) {
    const [, at, rest = ''] = OF_EVENT.exec(path) ?? [];
    const call = at === undefined ? undefined : calls[Number(at)];
    if (call) grouped.set(call, [...(grouped.get(call) ?? []), { path: rest, message }]);
  }
  return grouped;
};

const NAMES = { track: 'An event', identify: 'An identify', alias: 'An alias' } as const;

const toError = (call: Waiting, issues: TrunklineIssue[], refused: Refused): TrunklineError => {
  const { detail, status, requestId } = refused;
  const said = issues.map(({ path, message }) => (path === '' ? message : `${path} ${message}`));
  const why = said.length > 0 ? said.join('; ') : detail;
  const message = `${NAMES[call.kind]} was refused (${status}) and dropped: ${why}`;
  const sent = toSent(call);
  return new TrunklineError('refused', message, {
    call: sent,
    issues,
    ...(requestId === undefined ? {} : { requestId }),
  });
};

/**
 * Whom a refusal is about. Where it does not say, and there are several, nobody is dropped: each is then
 * sent alone.
 */
export const findRefused = (
  calls: readonly Waiting[],
  refused: Refused,
): { call: Waiting; error: TrunklineError }[] => {
  const [only, ...others] = calls;
  const grouped = groupIssues(calls, refused);
  if (grouped.size === 0 && only && others.length === 0)
    return [{ call: only, error: toError(only, refused.issues, refused) }];
  return [...grouped].map(([call, issues]) => ({ call, error: toError(call, issues, refused) }));
};
