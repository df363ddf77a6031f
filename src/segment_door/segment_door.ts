import type { Caller } from '../base/caller.ts';
import type { Deps } from '../base/deps.ts';
import { ISSUES_MAX, pointer, toIssues } from '../base/parse.ts';
import { Refusal, refusals } from '../base/refusal.ts';
import type { Issue } from '../base/refusal.ts';
import { accept, EventInput, refuseTime } from '../ingest/ingest.ts';
import type { z } from 'zod';
import { alias, AliasInput, identify, IdentifyInput } from '../profiles/profiles.ts';
import type { OnLinked } from '../profiles/profiles.ts';
import { admit } from '../quotas/quotas.ts';
import { logRefused } from './log_refused.ts';
import type { Refused } from './log_refused.ts';
import { Call, CALLS } from './schema.ts';
import type { CallType, DoneAnswer } from './schema.ts';
import { translate } from './translate.ts';
import type { Clock, Told } from './translate.ts';

type Inbound = {
  deps: Deps;
  caller: Caller;
  keyId: string;
  repetitionId?: string | undefined;
  traceparent?: string | undefined;
  /** What a link means to others. */
  onLinked: OnLinked;
};

/** A call that can be taken, and its place in the request. */
type Ready = { index: number; leftOut: Issue[] } & (
  | { kind: 'event'; input: EventInput }
  | { kind: 'identify'; input: IdentifyInput }
  | { kind: 'alias'; input: AliasInput }
);

/** Our names of members, as the libraries call them. */
const THEIRS: Record<string, string> = {
  external_id: 'userId',
  anonymous_id: 'anonymousId',
  message_id: 'messageId',
  occurred_at: 'timestamp',
};
/** Of an alias, whose anonymous id is the previous one. */
const THEIRS_OF_ALIAS = { ...THEIRS, anonymous_id: 'previousId' };

const toTheirs = (kind: Told['kind'], { path, message }: Issue): Issue => {
  const [, first = '', ...rest] = path.split('/');
  const names: Record<string, string> = kind === 'alias' ? THEIRS_OF_ALIAS : THEIRS;
  return path === ''
    ? { path, message }
    : { path: ['', names[first] ?? first, ...rest].join('/'), message };
};

const inWords = (message: string): string =>
  message.replace('external_id or anonymous_id', 'userId or anonymousId');

const refuse = (kind: Told['kind'], issues: readonly Issue[]): Refusal =>
  new Refusal('invalid_request', {
    issues: issues.map((issue) => {
      const { path, message } = toTheirs(kind, issue);
      return { path, message: inWords(message) };
    }),
  });

const SCHEMAS = { event: EventInput, identify: IdentifyInput, alias: AliasInput } as const;

/** Members of bags are left out when they cannot be kept: the rest of the call is worth more. */
const OF_BAG = /^\/(?:properties|traits)\/[^/]*/;

/** The input without the members of its properties or traits that issues are about. */
const without = (input: Told['input'], issues: readonly Issue[]): Told['input'] => {
  const wrong = new Set(issues.map(({ path }) => OF_BAG.exec(path)?.[0]));
  const rest = { ...input };
  for (const bag of ['properties', 'traits']) {
    if (rest[bag] === undefined) continue;
    const entries = Object.entries(rest[bag] as object);
    rest[bag] = Object.fromEntries(entries.filter(([key]) => !wrong.has(pointer([bag, key]))));
  }
  return rest;
};

/** Parses a translated call as the API parses its own. What alone is wrong in a bag is left out of it. */
const parseTold = ({ kind, input, leftOut }: Told, index: number): Ready => {
  const schema: z.ZodType = SCHEMAS[kind];
  let [given, left] = [input, leftOut];
  for (let result = schema.safeParse(given); ; result = schema.safeParse(given)) {
    if (result.success) return { index, kind, input: result.data, leftOut: left } as Ready;
    const issues = toIssues(result.error);
    if (!issues.every(({ path }) => OF_BAG.test(path))) throw refuse(kind, issues);
    given = without(given, issues);
    left = [
      ...left,
      ...issues.map(({ path, message }) => ({ path, message: `left out: ${message}` })),
    ];
  }
};

const typeOf = (call: Call): CallType => {
  const type = CALLS.find((one) => one === call.type);
  if (type !== undefined) return type;
  const issues = [{ path: '/type', message: `must be one of ${CALLS.join(', ')}` }];
  throw new Refusal('invalid_request', { issues });
};

/** One call of a request, ready to be taken. Throws a refusal of this call alone. */
const read = (
  { deps, caller }: Inbound,
  given: unknown,
  { index, type, clock }: { index: number; type: CallType | null; clock: Clock },
): Ready => {
  const parsed = Call.safeParse(given);
  if (!parsed.success) throw new Refusal('invalid_request', { issues: toIssues(parsed.error) });
  const told = translate(type ?? typeOf(parsed.data), parsed.data, clock);
  const ready = parseTold(told, index);
  if (ready.kind !== 'alias' && ready.input.occurred_at !== undefined)
    refuseTime(deps, caller, new Date(ready.input.occurred_at));
  return ready;
};

/** A refusal of what a call says. Anything else fails the whole request, also a quota that is used up. */
const asRefused = (index: number, error: unknown): Refused => {
  if (!(error instanceof Refusal) || error.reason === 'quota_exceeded') throw error;
  if (refusals[error.reason].status >= 500) throw error;
  const { issues, ...extras } = error.extras;
  const theirs = issues?.map((issue) => toTheirs('event', issue));
  const refusal = new Refusal(error.reason, { ...extras, ...(theirs && { issues: theirs }) });
  return { index, refusal };
};

/** Tells one call that is about who somebody is. A publishable key links as it may: without learning anything. */
const tellPerson = async (
  { deps, caller, repetitionId, onLinked }: Inbound,
  ready: Exclude<Ready, { kind: 'event' }>,
): Promise<void> => {
  const repetition = repetitionId === undefined ? undefined : { repetitionId, at: ready.index };
  if (ready.kind === 'identify')
    await identify(deps, caller, ready.input, { repetition, onLinked });
  else if (caller.kind === 'server') await alias(deps, caller, ready.input, onLinked);
  else await identify(deps, caller, ready.input, { onLinked });
};

/**
 * Takes calls of a request in: what they say of people first, then all events in one commit. Answers those that
 * were refused; whatever fails for another reason fails the request, which may then be repeated whole.
 */
const takeReady = async (inbound: Inbound, ready: readonly Ready[]): Promise<Refused[]> => {
  const refused: Refused[] = [];
  for (const one of ready)
    if (one.kind !== 'event')
      await tellPerson(inbound, one).catch((error: unknown) => {
        refused.push(asRefused(one.index, error));
      });
  const events = ready.filter((one) => one.kind === 'event');
  const { deps, caller, repetitionId, traceparent } = inbound;
  if (events.length > 0)
    await accept(deps, caller, {
      events: events.map(({ input }) => input),
      repetitionId,
      placeOf: (at) => events[at]?.index ?? at,
      traceparent,
      admit,
    });
  return refused;
};

type Asked = { calls: readonly unknown[]; type: CallType | null; sentAt: unknown };

const take = async (inbound: Inbound, { calls, type, sentAt }: Asked) => {
  const clock = { sentAt, now: new Date() };
  const ready: Ready[] = [];
  const refused: Refused[] = [];
  for (const [index, given] of calls.entries())
    try {
      ready.push(read(inbound, given, { index, type, clock }));
    } catch (error) {
      refused.push(asRefused(index, error));
    }
  refused.push(...(await takeReady(inbound, ready)));
  return { ready, refused };
};

const toAnswer = (refused: Issue[], leftOut: Issue[]): DoneAnswer => ({
  success: true,
  ...(refused.length > 0 ? { refused: refused.slice(0, ISSUES_MAX) } : {}),
  ...(leftOut.length > 0 ? { left_out: leftOut.slice(0, ISSUES_MAX) } : {}),
});

/** Takes one call in, or refuses it. */
export const takeCall = async (
  inbound: Inbound,
  type: CallType,
  call: unknown,
): Promise<DoneAnswer> => {
  const { ready, refused } = await take(inbound, { calls: [call], type, sentAt: undefined });
  const leftOut = ready.flatMap((one) => one.leftOut);
  logRefused(inbound, refused, leftOut);
  if (refused[0]) throw refused[0].refusal;
  return toAnswer([], leftOut);
};

const inBatch = (index: number, { path, message }: Issue): Issue => ({
  path: `/batch/${index}${path}`,
  message,
});

/** Takes each call of a batch in that can be, and answers which could not: their sender cannot mend them. */
export const takeBatch = async (
  inbound: Inbound,
  { batch, sentAt }: { batch: readonly unknown[]; sentAt?: unknown },
): Promise<DoneAnswer> => {
  const { ready, refused } = await take(inbound, { calls: batch, type: null, sentAt });
  const leftOut = ready.flatMap(({ index, leftOut: left }) =>
    left.map((one) => inBatch(index, one)),
  );
  const why = refused
    .toSorted((a, b) => a.index - b.index)
    .flatMap(({ index, refusal: { reason, extras } }) =>
      (extras.issues ?? [{ path: '', message: refusals[reason].detail }]).map((one) =>
        inBatch(index, one),
      ),
    );
  logRefused(inbound, refused, leftOut);
  return toAnswer(why, leftOut);
};
