import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { normaliseEmail } from '../base/email_address.ts';
import type { Eraser, InStep, NoteAddresses, Person, RowCounts } from '../base/whole_person.ts';
import { failpoint } from '../base/failpoint.ts';
import * as identity from '../identity/identity.ts';
import * as ingest from '../ingest/ingest.ts';
import * as suppression from '../suppression/suppression.ts';
import {
  deleteAddresses,
  insertAddresses,
  listAddresses,
  listEmails,
  listShared,
} from './address_queries.ts';
import {
  deleteBrowserTraits,
  deleteProfiles,
  deleteTraits,
  endErasure,
  holdErasure,
  holdProfiles,
  listCatalogue,
  readClock,
  setCounts,
} from './erase_queries.ts';
import type { HeldErasure } from './erase_queries.ts';
import { digestOf } from './erasures.ts';

export { eraseHint } from './erasures.ts';

/** How many addresses one transaction of an erase looks at. */
const ERASE_ADDRESSES_MAX = ingest.ERASE_EVENTS_MAX;

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

/** What a step meets after another worker has ended the erase: from then on the names are a fresh person's. */
const ENDED = new Error('the erase has ended');

const makeInStep =
  (deps: EraseDeps, { projectId, erasureId, signal }: Erasing): InStep =>
  async (step) => {
    signal.throwIfAborted();
    const value = await inProject(deps, projectId, async (scope) => {
      const { counts, status } = await holdErasure(scope, erasureId);
      if (status === 'done') throw ENDED;
      const done = await step(scope);
      if (Object.values(done.rows).some((rows) => rows > 0))
        await setCounts(scope, erasureId, addUp(counts, done.rows));
      return done.value;
    });
    failpoint('after_erase_step');
    return value;
  };

/** Keeps addresses in mind, as they are compared. Who else has them is asked when they are looked at. */
const makeNote =
  (erasureId: string): NoteAddresses =>
  async (scope, emails) => {
    if (emails.length === 0) return;
    await insertAddresses(scope, erasureId, [...new Set(emails.map(normaliseEmail))]);
  };

const toPerson = (identities: readonly identity.Member[]): Person => ({
  identities,
  profileIds: identities.map(({ own_profile_id }) => own_profile_id),
});

/** Whom the erase is about, which was fixed when it was asked for; null when it is done. */
const findPerson = (deps: EraseDeps, { projectId, erasureId }: Erasing) =>
  inProject(deps, projectId, async (scope) => {
    const { status } = await holdErasure(scope, erasureId);
    return status === 'done' ? null : toPerson(await identity.listErased(scope, erasureId));
  });

/**
 * Erases some of the addresses that were noted, with what was sent to them and told of them. Those that a
 * living person has are theirs, and stay: asked under the locks of the addresses, so that who gets one later
 * finds it erased, and brings it back. Answers whether there may be more.
 */
const eraseAddresses = async (scope: Scope, { erasureId, erasers }: Erasing) => {
  const addresses = await listAddresses(scope, erasureId, ERASE_ADDRESSES_MAX);
  if (addresses.length === 0) return { rows: {}, value: false };
  const keyOf = (address: string) => suppression.addressKey(scope, address);
  await suppression.holdAddresses(scope, addresses.map(keyOf));
  const shared = new Set(await listShared(scope, addresses));
  const keys = addresses.filter((address) => !shared.has(address)).map(keyOf);

  // Before what was written about them: who is told of an address from now on writes nothing down.
  let rows: RowCounts = {
    'suppression.addresses': await suppression.eraseAddresses(scope, keys),
    'suppression.history': await suppression.eraseNotes(scope, keys),
  };
  let isAll = true;
  for (const eraser of erasers) {
    const done = await eraser.eraseAddresses?.(scope, keys);
    rows = addUp(rows, done?.rows ?? {});
    isAll &&= done?.isAll ?? true;
  }
  if (!isAll) return { rows, value: true };
  const looked = await deleteAddresses(scope, erasureId, addresses);
  return {
    rows: addUp(rows, { 'profiles.erasing_addresses': looked }),
    value: addresses.length === ERASE_ADDRESSES_MAX,
  };
};

/** What arrived for them, and the addresses that were found. */
const eraseArrivals = async (deps: EraseDeps, erasing: Erasing, person: Person): Promise<void> => {
  const inStep = makeInStep(deps, erasing);
  await ingest.eraseEvents(person, inStep, makeNote(erasing.erasureId));
  while (await inStep((scope) => eraseAddresses(scope, erasing)));
};

/** Everything but who they are: what they did, where mail went, what it said, what came back. */
const eraseTraces = async (deps: EraseDeps, erasing: Erasing, person: Person): Promise<void> => {
  const inStep = makeInStep(deps, erasing);
  const note = makeNote(erasing.erasureId);
  const ids = person.identities.map(({ identity_id }) => identity_id);
  await inStep(async (scope) => {
    const emails = await listEmails(scope, ids, person.profileIds);
    return { rows: {}, value: await note(scope, emails) };
  });
  for (const eraser of erasing.erasers) await eraser.noteAddresses?.(person, inStep, note);
  await ingest.eraseMentions(person, inStep);
  await eraseArrivals(deps, erasing, person);
  for (const eraser of erasing.erasers) await eraser.erase?.(person, inStep);
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

/** Forgets who they are, under every lock. */
const forget = async (scope: Scope, members: readonly identity.Member[]): Promise<RowCounts> => {
  const ids = members.map(({ identity_id }) => identity_id);
  const traits = await deleteTraits(scope, ids);
  const browserTraits = await deleteBrowserTraits(scope, ids);
  const { identities, links } = await identity.forget(scope, members);
  return {
    'profiles.traits': traits,
    'profiles.browser_traits': browserTraits,
    'profiles.profiles': await deleteProfiles(scope, toPerson(members).profileIds),
    'identity.identities': identities,
    'identity.links': links,
  };
};

/** Erases what arrived until this moment, in so many batches at most; answers whether that was all. */
const eraseLate = async (
  scope: Scope,
  erasing: Erasing,
  { identities }: Person,
  batchesMax: number,
): Promise<{ rows: RowCounts; isAll: boolean }> => {
  let rows: RowCounts = {};
  for (let batch = 0; batch < batchesMax; batch += 1) {
    const late = await ingest.eraseLatecomers(scope, identities, makeNote(erasing.erasureId));
    const addressed = await eraseAddresses(scope, erasing);
    rows = addUp(addUp(rows, late.rows), addressed.rows);
    if (late.isAll && !addressed.value) return { rows, isAll: true };
  }
  return { rows, isAll: false };
};

/**
 * Ends the erase, with what arrived until this moment. Whoever would name them waits meanwhile, and starts a
 * fresh person after it. Does not end it when more arrived since the last look than this one may take.
 */
const finish = (deps: EraseDeps, erasing: Erasing, batchesMax: number): Promise<boolean> =>
  inProject(deps, erasing.projectId, async (scope) => {
    const { erasureId } = erasing;
    const members = await identity.holdErased(scope, erasureId);
    const person = toPerson(members);
    await holdProfiles(scope, person.profileIds);
    const held = await holdErasure(scope, erasureId);
    if (held.status === 'done') return true;

    const late = await eraseLate(scope, erasing, person, batchesMax);
    const counts = addUp(held.counts, late.rows);
    if (!late.isAll) {
      await setCounts(scope, erasureId, counts);
      return false;
    }
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
    const person = await findPerson(deps, erasing);
    if (!person) return;
    await eraseTraces(deps, erasing, person);
    // Each look takes twice as much as the one before: no stream of arrivals keeps it from ending.
    for (let batchesMax = 1; ; batchesMax *= 2) {
      await ingest.eraseWaiting(person, makeInStep(deps, erasing));
      if (await finish(deps, erasing, batchesMax)) break;
      await eraseArrivals(deps, erasing, person);
    }
  } catch (error) {
    if (!erasing.signal.aborted && error !== ENDED) throw error;
  } finally {
    running.delete(place);
  }
};
