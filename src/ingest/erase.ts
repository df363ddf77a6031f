import type { Scope } from '../base/db.ts';
import type {
  InStep,
  KnownIdentity,
  NoteAddresses,
  Person,
  RowCounts,
} from '../base/whole_person.ts';
import { readEmail } from '../base/email_address.ts';
import { deleteMessageIds, eraseEventsFrom, eraseMentionsFrom } from './erase_queries.ts';
import type { Batch } from './erase_queries.ts';

/** How many events one transaction of an erase removes, whosever they are of its identities. */
export const ERASE_EVENTS_MAX = 1_000;
/** Before any event: retention is counted in months. */
const BEGINNING = new Date(0);

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
type DoBatch = (
  scope: Scope,
  place: Place,
) => Promise<{
  rows: { 'ingest.events': number; 'ingest.message_ids': number };
  value: Place | null;
}>;

const removeEvents =
  (note: NoteAddresses): DoBatch =>
  async (scope, place) => {
    const batch = await eraseEventsFrom(scope, place, ERASE_EVENTS_MAX);
    await note(
      scope,
      (batch.emails ?? []).filter((email) => readEmail(email) !== null),
    );
    return {
      rows: { 'ingest.events': batch.events, 'ingest.message_ids': batch.message_ids },
      value: placeAfter(place, batch),
    };
  };

/** Takes devices out of the events of others. */
const removeMentions: DoBatch = async (scope, place) => {
  const batch = await eraseMentionsFrom(scope, place, ERASE_EVENTS_MAX);
  return {
    rows: { 'ingest.events': batch.events, 'ingest.message_ids': 0 },
    value: placeAfter(place, batch),
  };
};

/** Removes what identify claimed. */
const removeClaims: DoBatch = async (scope, place) => {
  const ids = place.identities.map(({ identity_id }) => identity_id);
  const claimed = await deleteMessageIds(scope, ids, ERASE_EVENTS_MAX);
  return {
    rows: { 'ingest.events': 0, 'ingest.message_ids': claimed },
    value: claimed < ERASE_EVENTS_MAX ? null : place,
  };
};

/** In this order: the person's own events are gone when devices are taken out of those of others. */
const walksOf = ({ identities }: Pick<Person, 'identities'>, note: NoteAddresses) => [
  { start: startOf(identities), doBatch: removeEvents(note) },
  {
    start: startOf(identities.filter(({ kind }) => kind === 'anonymous')),
    doBatch: removeMentions,
  },
  { start: startOf(identities), doBatch: removeClaims },
];

/** Removes everything that a person did, step by step. */
export const eraseEvents = async (
  person: Person,
  inStep: InStep,
  note: NoteAddresses,
): Promise<void> => {
  for (const { start, doBatch } of walksOf(person, note)) {
    for (let place: Place | null = start; place !== null;) {
      const from: Place = place;
      place = await inStep((scope) => doBatch(scope, from));
    }
  }
};

/** Removes what came since, one batch of each kind in one transaction. Answers whether that was all. */
export const eraseLatecomers = async (
  scope: Scope,
  identities: readonly KnownIdentity[],
  note: NoteAddresses,
): Promise<{ rows: RowCounts; isAll: boolean }> => {
  const rows = { 'ingest.events': 0, 'ingest.message_ids': 0 };
  let isAll = true;
  for (const { start, doBatch } of walksOf({ identities }, note)) {
    const done = await doBatch(scope, start);
    rows['ingest.events'] += done.rows['ingest.events'];
    rows['ingest.message_ids'] += done.rows['ingest.message_ids'];
    isAll &&= done.value === null;
  }
  return { rows, isAll };
};
