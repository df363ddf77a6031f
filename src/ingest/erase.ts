import type { Scope } from '../base/db.ts';
import type { KnownIdentity, WholePerson, InStep, NoteAddresses } from '../base/whole_person.ts';
import { readEmail } from '../base/email_address.ts';
import {
  deleteMessageIds,
  eraseEventsSince,
  eraseMentions,
  listWithEvents,
} from './erase_queries.ts';

/** How many events one transaction of an erase removes. */
export const ERASE_EVENTS_MAX = 1_000;
/** Before any event: retention is counted in months. */
const BEGINNING = new Date(0);

/** Removes a batch of events from a moment on; answers where the next one goes on, or null at the end. */
const eraseBatch = async (
  scope: Scope,
  identity: KnownIdentity,
  since: Date,
  note: NoteAddresses,
) => {
  const { events, message_ids, emails, last_at } = await eraseEventsSince(
    scope,
    identity,
    since,
    ERASE_EVENTS_MAX,
  );
  await note(
    scope,
    (emails ?? []).filter((email) => readEmail(email) !== null),
  );
  return {
    rows: { 'ingest.events': events, 'ingest.message_ids': message_ids },
    value: events < ERASE_EVENTS_MAX ? null : last_at,
  };
};

/** The same of what is no event of the person's: their device on others' events, what identify claimed. */
const eraseTraces = async (scope: Scope, { kind, value, identity_id }: KnownIdentity) => {
  const mentions = kind === 'anonymous' ? await eraseMentions(scope, value, ERASE_EVENTS_MAX) : 0;
  const claimed = await deleteMessageIds(scope, identity_id, ERASE_EVENTS_MAX);
  return {
    rows: { 'ingest.events': mentions, 'ingest.message_ids': claimed },
    value: mentions === ERASE_EVENTS_MAX || claimed === ERASE_EVENTS_MAX,
  };
};

/** Known people first: their events go, so nothing is to be taken out of them. */
const inOrder = (identities: readonly KnownIdentity[]): KnownIdentity[] =>
  identities.toSorted((a, b) => (a.kind === b.kind ? 0 : a.kind === 'external' ? -1 : 1));

/** Removes everything that a person did, step by step. */
export const eraseEvents = async (
  { identities }: WholePerson,
  inStep: InStep,
  note: NoteAddresses,
): Promise<void> => {
  for (const identity of inOrder(identities)) {
    for (let since: Date | null = BEGINNING; since !== null;) {
      const from: Date = since;
      since = await inStep((scope) => eraseBatch(scope, identity, from, note));
    }
    while (await inStep((scope) => eraseTraces(scope, identity)));
  }
};

/**
 * Removes what came since, one bounded batch of each identity in one transaction. Answers how many rows
 * it was, and whether that was all.
 */
export const eraseLatecomers = async (
  scope: Scope,
  identities: readonly KnownIdentity[],
  note: NoteAddresses,
): Promise<{ events: number; messageIds: number; isAll: boolean }> => {
  const left = new Set((await listWithEvents(scope, identities)).map((row) => row.identity_id));
  const result = { events: 0, messageIds: 0, isAll: true };
  for (const identity of inOrder(identities).filter((one) => left.has(one.identity_id))) {
    const batch = await eraseBatch(scope, identity, BEGINNING, note);
    const traces = await eraseTraces(scope, identity);
    for (const { rows } of [batch, traces]) {
      result.events += rows['ingest.events'];
      result.messageIds += rows['ingest.message_ids'];
    }
    result.isAll &&= batch.value === null && !traces.value;
  }
  return result;
};
