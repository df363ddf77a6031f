import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { normaliseEmail } from '../base/email_address.ts';
import type {
  WholePerson,
  Eraser,
  InStep,
  NoteAddresses,
  RowCounts,
} from '../base/whole_person.ts';
import { failpoint } from '../base/failpoint.ts';
import * as identity from '../identity/identity.ts';
import * as ingest from '../ingest/ingest.ts';
import * as suppression from '../suppression/suppression.ts';
import {
  deleteProfiles,
  deleteTraits,
  endErasure,
  holdErasure,
  insertTombstones,
  listCatalogue,
  listEmails,
  listShared,
  markProfiles,
  readClock,
  setAddressKeys,
  setCounts,
} from './erase_queries.ts';
import type { HeldErasure } from './erase_queries.ts';
import { digestOf, tombstoneOf } from './erasures.ts';
import { refold } from './people.ts';

export { eraseHint } from './erasures.ts';

/** Which erasure, by whom else besides this room, and until when. */
export type Erasing = {
  projectId: string;
  erasureId: string;
  erasers: readonly Eraser[];
  signal: AbortSignal;
};

type EraseDeps = Pick<Deps, 'db' | 'keys' | 'config' | 'resources'>;

const addUp = (counts: RowCounts, more: RowCounts): Record<string, number> => {
  const sum = { ...counts };
  for (const [table, rows] of Object.entries(more)) sum[table] = (sum[table] ?? 0) + rows;
  return sum;
};

/** A step that comes after another worker has ended the erase changes nothing any more. */
const makeInStep =
  (deps: EraseDeps, { projectId, erasureId, signal }: Erasing): InStep =>
  async (step) => {
    signal.throwIfAborted();
    const value = await inProject(deps, projectId, async (scope) => {
      const { counts } = await holdErasure(scope, erasureId);
      const done = await step(scope);
      if (Object.values(done.rows).some((rows) => rows > 0))
        await setCounts(scope, erasureId, addUp(counts, done.rows));
      return done.value;
    });
    failpoint('after_erase_step');
    return value;
  };

/** Addresses that a living person has are theirs, and stay. */
const makeNote =
  (erasureId: string): NoteAddresses =>
  async (scope, emails) => {
    if (emails.length === 0) return;
    const addresses = [...new Set(emails.map(normaliseEmail))];
    const shared = new Set(await listShared(scope, addresses));
    const { address_keys: known } = await holdErasure(scope, erasureId);
    const found = addresses
      .filter((address) => !shared.has(address))
      .map((address) => suppression.addressKey(scope, address))
      .filter((key) => !known.some((other) => other.equals(key)));
    if (found.length > 0) await setAddressKeys(scope, erasureId, [...known, ...found]);
  };

const toPerson = (
  members: readonly identity.Member[],
  addressKeys: readonly Buffer[],
): WholePerson => ({
  identities: members,
  profileIds: members.map(({ own_profile_id }) => own_profile_id),
  addressKeys,
});

const noteOwn = async (scope: Scope, person: WholePerson, note: NoteAddresses): Promise<void> => {
  const ids = person.identities.map(({ identity_id }) => identity_id);
  await note(scope, await listEmails(scope, ids, [...person.profileIds]));
};

/** Whom the erase is about as of now; null when it is done. */
const findPerson = (deps: EraseDeps, { projectId, erasureId }: Erasing) =>
  inProject(deps, projectId, async (scope) => {
    const { status, address_keys } = await holdErasure(scope, erasureId);
    if (status === 'done') return null;
    return toPerson(await identity.listErased(scope, erasureId), address_keys);
  });

/** Everything but who they are: what they did, where mail went, what it said, what came back. */
const eraseTraces = async (
  deps: EraseDeps,
  erasing: Erasing,
  person: WholePerson,
): Promise<void> => {
  const inStep = makeInStep(deps, erasing);
  const note = makeNote(erasing.erasureId);
  await ingest.eraseEvents(person, inStep, note);
  await inStep(async (scope) => ({ rows: {}, value: await noteOwn(scope, person, note) }));
  for (const eraser of erasing.erasers) await eraser.noteAddresses?.(person, inStep, note);

  // Before what was written about them: who is told of an address from now on writes nothing down.
  const addressKeys = await inStep(async (scope) => {
    const { address_keys: keys } = await holdErasure(scope, erasing.erasureId);
    const rows = { 'suppression.addresses': await suppression.eraseAddresses(scope, keys) };
    return { rows, value: keys };
  });
  for (const eraser of erasing.erasers) await eraser.erase({ ...person, addressKeys }, inStep);
};

/** Ends the erasure, with a receipt over every table of the catalogue. */
const sign = async (
  scope: Scope,
  erasureId: string,
  held: HeldErasure,
  counts: RowCounts,
): Promise<void> => {
  const rows = addUp(counts, { 'profiles.erasures': held.reason === null ? 0 : 1 });
  const catalogue = (await listCatalogue(scope)).map((table): [string, number] => [table, 0]);
  const tables = { ...Object.fromEntries(catalogue), ...rows };
  const { profile_id: profileId, requested_at: requestedAt } = held;
  const doneAt = await readClock(scope);
  const digest = digestOf(scope, { erasureId, profileId, requestedAt, doneAt }, tables);
  await endErasure(scope, erasureId, { doneAt, receipt: { tables, digest } });
};

/** Forgets who they are, under every lock; people who lose an identity of theirs with it are folded anew. */
const forget = async (scope: Scope, members: readonly identity.Member[]): Promise<RowCounts> => {
  const { profileIds } = toPerson(members, []);
  const traits = await deleteTraits(
    scope,
    members.map(({ identity_id }) => identity_id),
  );
  const { identities, links } = await identity.forget(scope, members);
  const profiles = await deleteProfiles(scope, [...profileIds]);
  const others = members
    .map(({ profile_id }) => profile_id)
    .filter((id) => !profileIds.includes(id));
  for (const id of [...new Set(others)].toSorted()) await refold(scope, id);
  return {
    'profiles.traits': traits,
    'profiles.profiles': profiles,
    'identity.identities': identities,
    'identity.links': links,
  };
};

/**
 * Ends the erase if nothing came up since: somebody linked to the person, an address, more events than
 * one transaction takes. Whoever would name them waits meanwhile, and starts a fresh person after it.
 */
const finish = (deps: EraseDeps, { projectId, erasureId }: Erasing): Promise<boolean> =>
  inProject(deps, projectId, async (scope) => {
    const members = await identity.holdErased(scope, erasureId);
    const person = toPerson(members, []);
    const isGrown = (await markProfiles(scope, erasureId, [...person.profileIds])) > 0;
    const before = await holdErasure(scope, erasureId);
    if (before.status === 'done') return true;

    const note = makeNote(erasureId);
    await noteOwn(scope, person, note);
    const late = await ingest.eraseLatecomers(scope, members, note);
    const held = await holdErasure(scope, erasureId);
    const counts = addUp(before.counts, {
      'ingest.events': late.events,
      'ingest.message_ids': late.messageIds,
    });
    const isNoted = held.address_keys.length > before.address_keys.length;
    if (isGrown || isNoted || !late.isAll) {
      await setCounts(scope, erasureId, counts);
      return false;
    }
    await insertTombstones(
      scope,
      erasureId,
      members.map((member) => tombstoneOf(scope, member)),
    );
    await sign(scope, erasureId, held, addUp(counts, await forget(scope, members)));
    failpoint('before_erase_done');
    return true;
  });

/** The erases that run in this process. */
const makeRunning = () => new Set<symbol>();

/**
 * Erases a person, in steps that each commit. Whatever stops it, the next try goes on: what is done is
 * not there any more. Safe to run twice, also at once: steps of one erasure come one after the other.
 * At most half of a worker's jobs: somebody with a million events must not hold up everybody else. What
 * finds no place, or is stopped with its worker, the sweeper hints at again.
 */
export const erase = async (deps: EraseDeps, erasing: Erasing): Promise<void> => {
  const running = deps.resources.of(makeRunning, undefined);
  if (running.size >= Math.max(1, Math.floor(deps.config.workerConcurrency / 2))) return;
  const place = Symbol(erasing.erasureId);
  running.add(place);
  try {
    for (let isDone = false; !isDone;) {
      const person = await findPerson(deps, erasing);
      if (!person) return;
      await eraseTraces(deps, erasing, person);
      isDone = await finish(deps, erasing);
    }
  } catch (error) {
    if (!erasing.signal.aborted) throw error;
  } finally {
    running.delete(place);
  }
};
