// Random lists, taken back and repeated, about people who are linked, suppressed and unsubscribed meanwhile, held to
// a model: whoever is named, by any of their identifiers, by a list that stands is in, if they may be mailed.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inProject, sql } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import { alias, identify } from '../../src/profiles/identify.ts';
import { changeTraits, linkPeople, seePeople } from '../../src/profiles/profiles.ts';
import { importPeople, undoImport } from '../../src/segments/import_people.ts';
import { createSegment } from '../../src/segments/segments.ts';
import { untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { refreshOn } from './recount.ts';
import { deeds, perform } from './steps.ts';
import type { Step } from './steps.ts';

const database = testDatabase();
const SEED = 815;
const SCRIPTS = 60;
const PEOPLE = ['ann', 'bob', 'cid'] as const;

const person = fc.oneof(
  fc.record({ external_id: fc.constantFrom(...PEOPLE, 'nobody') }),
  fc.record({
    email: fc.constantFrom('ann@example.com', 'BOB@example.com', 'nobody@example.com'),
  }),
);
type Listed = { external_id: string } | { email: string };
const imports = fc.record({
  kind: fc.constant('import' as const),
  segment: fc.constantFrom(0, 1),
  people: fc.array(person, { minLength: 1, maxLength: 5 }),
  isCsv: fc.boolean(),
  repeats: fc.boolean(),
});
const undos = fc.record({ kind: fc.constant('undo_import' as const), which: fc.nat() });
const scripts = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: imports },
    { weight: 3, arbitrary: undos },
    { weight: 4, arbitrary: deeds },
    { weight: 1, arbitrary: fc.constant({ kind: 'refresh' as const }) },
  ),
  { minLength: 3, maxLength: 20 },
);

const toCsv = (people: readonly Listed[]): string =>
  [
    'email,external_id',
    ...people.map((one) => ('email' in one ? `${one.email},` : `,${one.external_id}`)),
    'bad line,',
  ].join('\n');

/** A list: the identities that it named when it came; empty once it was taken back. */
type List = { importId: string; segmentId: string; identityIds: Set<string>; given: Listed[] };

type Known = {
  identity_id: string;
  value: string;
  profile_id: string;
  tags: string[];
  email: string | null;
};
const listKnown = async (projectId: string): Promise<Known[]> => {
  const { rows } = await database.owner.query<Known>(
    `select identity_id, value, profile_id, tags, email from identity.identities
     join profiles.profiles using (project_id, profile_id)
     where project_id = $1 and identities.erasure_id is null order by kind desc, value`,
    [projectId],
  );
  return rows;
};

/** Whom a list names: by id, or whoever has the address, by the first of their identifiers. */
const namedBy = (people: readonly Listed[], known: readonly Known[]): Set<string> =>
  new Set(
    people.flatMap((one) => {
      if ('external_id' in one)
        return known.filter(({ value }) => value === one.external_id).map((row) => row.identity_id);
      const holders = known.filter(({ email }) => email?.toLowerCase() === one.email.toLowerCase());
      const firstOf = new Map(holders.toReversed().map((row) => [row.profile_id, row.identity_id]));
      return [...firstOf.values()];
    }),
  );

const isMailable = ({ tags }: Known): boolean => tags.length === 0;
const expectedOf = (
  lists: readonly List[],
  segmentId: string,
  known: readonly Known[],
): string[] => {
  const listed = new Set(
    lists.flatMap((list) => (list.segmentId === segmentId ? [...list.identityIds] : [])),
  );
  const ids = known
    .filter((row) => listed.has(row.identity_id) && isMailable(row))
    .map(({ profile_id }) => profile_id);
  return [...new Set(ids)].toSorted();
};

const listMembers = async (segmentId: string): Promise<string[]> => {
  const { rows } = await database.owner.query<{ profile_id: string }>(
    'select profile_id from segments.members where segment_id = $1 order by profile_id',
    [segmentId],
  );
  return rows.map(({ profile_id }) => profile_id);
};

const makeStatic = async (projectId: string): Promise<string> => {
  const segmentId = newId();
  await inProject(database.deps, projectId, (scope) =>
    createSegment(scope, { segmentId, name: 'a', definition: null }),
  );
  return segmentId;
};

type Script = (typeof scripts extends fc.Arbitrary<infer T> ? T : never)[number];
const seen = { members: 0, undone: 0, repeated: 0 };

const play = async (
  projectId: string,
  segmentIds: readonly string[],
  script: readonly Script[],
) => {
  const lists: List[] = [];
  const bring = (list: List, isCsv: boolean) =>
    inProject(database.deps, projectId, (scope) =>
      importPeople(scope, list, isCsv ? { csv: toCsv(list.given) } : { people: list.given }),
    );
  for (const step of script) {
    if (step.kind === 'import') {
      const known = await listKnown(projectId);
      const [newest] = lists.slice(-1);
      if (step.repeats && newest) {
        seen.repeated += 1;
        await bring(newest, step.isCsv);
        continue;
      }
      const list = {
        importId: newId(),
        segmentId: segmentIds[step.segment] ?? '',
        identityIds: namedBy(step.people, known),
        given: step.people,
      };
      lists.push(list);
      const said = await bring(list, step.isCsv);
      expect(said.people).toBe(list.identityIds.size);
    } else if (step.kind === 'undo_import') {
      const list = lists[step.which % Math.max(1, lists.length)];
      if (!list) continue;
      seen.undone += 1;
      list.identityIds.clear();
      await inProject(database.deps, projectId, (scope) => undoImport(scope, list.importId));
    } else if (step.kind === 'refresh') await refreshOn(database, projectId);
    else await perform(database, projectId, step as Step);
  }
  return lists;
};

test('members are whom the lists name that stand, in whatever order they came and were taken back', async () => {
  const property = fc.asyncProperty(scripts, async (script) => {
    const projectId = newId();
    for (const external_id of PEOPLE) {
      const traits = { email: `${external_id}@example.com` };
      await identify(database.deps, { projectId, kind: 'server' }, { external_id, traits });
    }
    const segmentIds = [await makeStatic(projectId), await makeStatic(projectId)];
    const lists = await play(projectId, segmentIds, script);
    await refreshOn(database, projectId);
    const known = await listKnown(projectId);
    for (const segmentId of segmentIds) {
      const members = await listMembers(segmentId);
      expect(members).toEqual(expectedOf(lists, segmentId, known));
      seen.members += members.length;
    }
  });
  await fc.assert(property, { seed: SEED, numRuns: SCRIPTS });
  expect(seen.members).toBeGreaterThan(30);
  expect(seen.undone).toBeGreaterThan(30);
  expect(seen.repeated).toBeGreaterThan(30);
}, 300_000);

/** Somebody known by a device and an address alone, to be linked to bob. */
const withPad = async () => {
  const projectId = newId();
  const server = { projectId, kind: 'server' as const };
  for (const external_id of ['bob', 'zoe']) await identify(database.deps, server, { external_id });
  const setAt = new Date();
  await inProject(database.deps, projectId, async (scope) => {
    const seen = {
      kind: 'anonymous' as const,
      value: 'pad',
      first_seen_at: setAt,
      last_seen_at: setAt,
    };
    const [pad] = await seePeople(scope, await identity.see(scope, [seen]));
    const told = { traits: { email: 'pad@example.com' }, setAt, authority: 'server' as const };
    if (pad) await changeTraits(scope, { identityId: pad.identity_id, ...told });
  });
  const segmentId = await makeStatic(projectId);
  await refreshOn(database, projectId);
  /** Something whose commit waits until it is told to go on. */
  const begin = async (work: (scope: Scope) => Promise<unknown>) => {
    const [done, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ended = inProject(database.deps, projectId, async (scope) => {
      await work(scope);
      done.resolve();
      await goOn.promise;
    });
    await done.promise;
    return async () => {
      goOn.resolve();
      await ended;
    };
  };
  const bring = (importId: string, people: Listed[]) =>
    inProject(database.deps, projectId, (scope) =>
      importPeople(scope, { segmentId, importId }, { people }),
    );
  const link = () => alias(database.deps, server, { anonymous_id: 'pad', external_id: 'bob' });
  const refresh = () => refreshOn(database, projectId);
  const members = async () => {
    const ids = await listMembers(segmentId);
    return (await listKnown(projectId)).flatMap(({ value, profile_id }) =>
      ids.includes(profile_id) ? value : [],
    );
  };
  return { projectId, begin, bring, link, refresh, members };
};
const pad = { email: 'pad@example.com' };

test('whoever is linked while a list with them is taken back leaves with it', async () => {
  const { begin, bring, link, refresh, members } = await withPad();
  const importId = newId();
  await bring(importId, [pad]);
  await refresh();
  expect(await members()).toEqual(['pad']);
  const commit = await begin((scope) => undoImport(scope, importId));
  const linked = link();
  await Promise.race([untilWaiting(database), linked]);
  await refresh();
  await commit();
  await linked;
  await refresh();
  expect(await members()).toEqual([]);
});

test('whoever is linked while a list with them comes is in the segment as who they are by then', async () => {
  const { projectId, begin, bring, refresh, members } = await withPad();
  const wish = { anonymous_id: 'pad', external_id: 'bob', source: 'alias' as const };
  const commitLink = await begin((scope) => linkPeople(scope, { ...wish, key_type: 'server' }));
  const { rows } = await database.owner.query<{ identity_id: string }>(
    "select identity_id from identity.identities where project_id = $1 and value = 'zoe'",
    [projectId],
  );
  // So that the list still waits for zoe when the link is there and was looked at.
  const letGo = await begin((scope) =>
    scope.tx.query(sql.unsafe`
      select from identity.identities
      where project_id = ${projectId} and identity_id = ${rows[0]?.identity_id ?? ''}
      for update
    `),
  );
  const importing = bring(newId(), [pad, { external_id: 'zoe' }]);
  await untilWaiting(database);
  await commitLink();
  await untilWaiting(database);
  await refresh();
  await letGo();
  await importing;
  await refresh();
  expect((await members()).toSorted()).toEqual(['bob', 'pad', 'zoe']);
});
