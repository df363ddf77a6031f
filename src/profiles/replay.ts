import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { hint } from '../base/hints.ts';
import { pagesOf, walkPages } from '../base/pages.ts';
import * as identity from '../identity/identity.ts';
import type { Scanned } from '../identity/identity.ts';
import * as ingest from '../ingest/ingest.ts';
import { findErasure, insertErasure, insertTombstones, markProfiles } from './erase_queries.ts';
import { eraseHint, tombstoneOf } from './erasures.ts';
import { listLedgerRows } from './ledger_queries.ts';
import type { LedgerRow } from './ledger_queries.ts';
import { unlinkPeople } from './link.ts';
import { seeEvents } from './people.ts';

/** What has to be kept outside the backups of a project, one line per erase: nothing in it tells of a person. */
export const LedgerEntry = z.strictObject({
  erasure_id: z.uuid(),
  profile_id: z.uuid(),
  requested_at: z.iso.datetime(),
  /** Keyed hashes of everything that the person was known by, in base64url. */
  identifier_hashes: z.array(z.string()),
});
export type LedgerEntry = z.output<typeof LedgerEntry>;

const LEDGER_PAGE_MAX = 200;
const FLUSHES_AT_ONCE = 10;
const IDENTITIES_AT_ONCE = 1_000;

type ReplayDeps = Pick<Deps, 'db' | 'keys' | 'log'>;

/** The ledger of a project, oldest erase first. */
export async function* listLedger(
  deps: ReplayDeps,
  projectId: string,
): AsyncGenerator<LedgerEntry> {
  const pages = pagesOf<LedgerRow>(LEDGER_PAGE_MAX, (last) =>
    inProject(deps, projectId, (scope) =>
      listLedgerRows(scope, last?.erasure_id ?? null, LEDGER_PAGE_MAX),
    ),
  );
  for await (const page of pages)
    for (const { erasure_id, profile_id, requested_at, hashes } of page)
      yield {
        erasure_id,
        profile_id,
        requested_at: requested_at.toISOString(),
        identifier_hashes: hashes.map((hash) => hash.toString('base64url')),
      };
}

/** Makes the identities of events that wait to be processed, so that everybody there is can be found. */
const seeEverybody = (deps: ReplayDeps, projectId: string): Promise<void> =>
  walkPages<string>(FLUSHES_AT_ONCE, (last) =>
    inProject(deps, projectId, async (scope) => {
      const ids = await ingest.listPending(scope, last, FLUSHES_AT_ONCE);
      await seeEvents(scope, ids);
      return ids;
    }),
  );

/** An erase that this database knows nothing of, and whom here it is about. */
type Missing = { entry: LedgerEntry; found: Scanned[] };

/** The erases of the ledger that this database knows nothing of, in its order. */
const findMissing = async (
  deps: ReplayDeps,
  projectId: string,
  ledger: AsyncIterable<LedgerEntry> | Iterable<LedgerEntry>,
): Promise<Missing[]> => {
  const missing: Missing[] = [];
  for await (const told of ledger) {
    const entry = LedgerEntry.parse(told);
    const known = await inProject(deps, projectId, (scope) => findErasure(scope, entry.erasure_id));
    if (!known) missing.push({ entry, found: [] });
  }
  return missing;
};

/**
 * The erase that each hash goes with. An identifier that was erased twice was another person's the second
 * time, and the backup, which knows of neither, has the first.
 */
const toFirst = (missing: readonly Missing[]): Map<string, Missing> =>
  new Map(
    missing
      .toReversed()
      .flatMap((erase) => erase.entry.identifier_hashes.map((hash) => [hash, erase] as const)),
  );

/**
 * Undoes links between identities of which only one is erased: such a link was undone after the backup was made, or
 * is to be. An undo may restore a link that is undone in turn.
 */
const unlinkOthers = async (scope: Scope, found: readonly Scanned[]): Promise<void> => {
  const own = new Set(found.map(({ own_profile_id }) => own_profile_id));
  for (;;) {
    const links = await identity.listActiveLinks(scope, [...own]);
    const foreign = links.filter(
      (link) => !own.has(link.profile_id) || !own.has(link.anonymous_profile_id),
    );
    if (foreign.length === 0) return;
    for (const { link_id } of foreign) await unlinkPeople(scope, link_id, 'ledger');
  }
};

/** Asks for an erase again, with everybody it is about, both or neither. */
const request = (deps: ReplayDeps, projectId: string, { entry, found }: Missing): Promise<void> =>
  inProject(deps, projectId, async (scope) => {
    const { erasure_id: erasureId, profile_id: profileId } = entry;
    const erasure = { erasureId, profileId, reason: null, requestedBy: 'ledger' } as const;
    if (!(await insertErasure(scope, erasure))) return;
    const hashes = entry.identifier_hashes.map((hash) => Buffer.from(hash, 'base64url'));
    await insertTombstones(scope, erasureId, hashes);
    await unlinkOthers(scope, found);
    await identity.markErased(
      scope,
      erasureId,
      found.map(({ identity_id }) => identity_id),
    );
    await markProfiles(
      scope,
      erasureId,
      found.map(({ own_profile_id }) => own_profile_id),
    );
  });

/**
 * Erases again, after a backup was restored, whom the ledger says was erased since it was made. Before
 * anybody may send events: what came in under those identifiers until now goes. Answers how many erases
 * were asked for anew; jobs do them. Asking twice asks for nothing more.
 */
export const replayErasures = async (
  deps: ReplayDeps,
  projectId: string,
  ledger: AsyncIterable<LedgerEntry> | Iterable<LedgerEntry>,
): Promise<number> => {
  const missing = await findMissing(deps, projectId, ledger);
  if (missing.length === 0) return 0;
  const byHash = toFirst(missing);
  await seeEverybody(deps, projectId);
  await walkPages<Scanned>(IDENTITIES_AT_ONCE, (last) =>
    inProject(deps, projectId, async (scope) => {
      const after = last?.identity_id ?? null;
      const page = await identity.scanIdentities(scope, after, IDENTITIES_AT_ONCE);
      for (const known of page)
        byHash.get(tombstoneOf(scope, known).toString('base64url'))?.found.push(known);
      return page;
    }),
  );
  for (const erase of missing) {
    await request(deps, projectId, erase);
    await hint(deps, eraseHint(projectId, erase.entry.erasure_id));
  }
  return missing.length;
};
