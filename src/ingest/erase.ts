import type { Scope } from '../base/db.ts';
import type {
  InStep,
  KnownIdentity,
  NoteAddresses,
  Person,
  RowCounts,
} from '../base/whole_person.ts';
import { readEmail } from '../base/email_address.ts';
import { eraseEventsFrom } from './erase_queries.ts';
import type { Batch } from './erase_queries.ts';

/** How many events one transaction of an erase removes, whosever they are of its identities. */
export const ERASE_EVENTS_MAX = 1_000;
/** Before any event: retention is counted in months. */
export const BEGINNING = new Date(0);

/** Where a walk over identities goes on: the first of them from a moment on, then the others. */
type Place = { identities: readonly KnownIdentity[]; since: Date };

const startOf = (identities: readonly KnownIdentity[]): Place => ({ identities, since: BEGINNING });

const placeAfter = (
  { identities }: Place,
  { events, last_ordinal, last_at }: Batch,
): Place | null =>
  events < ERASE_EVENTS_MAX || last_ordinal === null || last_at === null
    ? null
    : { identities: identities.slice(last_ordinal - 1), since: last_at };

/** Does a batch of a walk; answers where the next one goes on, or null at the end. */
const removeEvents = async (scope: Scope, place: Place, note: NoteAddresses) => {
  const batch = await eraseEventsFrom(scope, place, ERASE_EVENTS_MAX);
  await note(
    scope,
    (batch.emails ?? []).filter((email) => readEmail(email) !== null),
  );
  return { rows: { 'ingest.events': batch.events }, value: placeAfter(place, batch) };
};

/** Removes everything that a person did, step by step. */
export const eraseEvents = async (
  { identities }: Person,
  inStep: InStep,
  note: NoteAddresses,
): Promise<void> => {
  for (let place: Place | null = startOf(identities); place !== null;) {
    const from: Place = place;
    place = await inStep((scope) => removeEvents(scope, from, note));
  }
};

/** Removes what came since, one batch in one transaction. Answers whether that was all. */
export const eraseLatecomers = async (
  scope: Scope,
  identities: readonly KnownIdentity[],
  note: NoteAddresses,
): Promise<{ rows: RowCounts; isAll: boolean }> => {
  const { rows, value } = await removeEvents(scope, startOf(identities), note);
  return { rows, isAll: value === null };
};
