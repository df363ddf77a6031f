// A backup is restored: what was erased since it was made comes back with it, and goes again.
import type pg from 'pg';
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { alias, identify } from '../../src/profiles/identify.ts';
import {
  listLedger,
  listProfiles,
  replayErasures,
  unlinkPeople,
} from '../../src/profiles/profiles.ts';
import type { LedgerEntry } from '../../src/profiles/profiles.ts';
import { listTenantTables } from '../support/catalogue.ts';
import { eraseNow, runErasure } from '../support/erase.ts';
import { testDatabase } from '../support/database.ts';
import { findRemains } from '../support/remains.ts';
import { workOn } from '../support/work_on.ts';

const database = testDatabase();

/** Every row of every tenant table, to be put back as it is. */
const backUp = async (client: pg.Client) => {
  const rows = new Map<string, string[]>();
  for (const table of await listTenantTables(client)) {
    const { rows: found } = await client.query<{ row: string }>(
      `select row_to_json(whole_row)::text as row from ${table} as whole_row`,
    );
    rows.set(
      table,
      found.map(({ row }) => row),
    );
  }
  return rows;
};

/** The columns that are written; the others follow from them. */
const listWritten = async (client: pg.Client, table: string): Promise<string> => {
  const { rows } = await client.query<{ columns: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  );
  return rows[0]?.columns ?? '';
};

const restore = async (client: pg.Client, backup: Map<string, string[]>) => {
  await client.query(`truncate ${[...backup.keys()].join(', ')} cascade`);
  await client.query(`set session_replication_role = replica`);
  for (const [table, rows] of backup) {
    const columns = await listWritten(client, table);
    for (const row of rows)
      await client.query(
        `insert into ${table} (${columns}) select ${columns} from json_populate_record(null::${table}, $1)`,
        [row],
      );
  }
  await client.query(`set session_replication_role = origin`);
};

const opened = () => {
  const projectId = newId();
  const server = { projectId, kind: 'server' } as const;
  const find = async (value: string) =>
    (
      await inProject(database.deps, projectId, (scope) =>
        listProfiles(scope, { by: 'external', value }),
      )
    )[0];
  const track = (...events: object[]) =>
    accept(database.deps, server, { events: events.map((one) => ({ event: 'seen', ...one })) });
  const work = () => workOn(database, projectId);
  const ledger = async () => {
    const entries: LedgerEntry[] = [];
    for await (const entry of listLedger(database.deps, projectId)) entries.push(entry);
    return entries;
  };
  const replay = async (entries: LedgerEntry[]) => {
    const count = await replayErasures(database.deps, projectId, entries);
    const { rows } = await database.owner.query<{ erasure_id: string }>(
      `select erasure_id from profiles.erasures where project_id = $1 and status = 'pending'`,
      [projectId],
    );
    for (const { erasure_id } of rows) await runErasure(database, projectId, erasure_id);
    return count;
  };
  return { projectId, server, find, track, work, ledger, replay };
};

test('the ledger outlives the restored backup, and its erases are done again', async () => {
  const { projectId, server, find, track, work, ledger, replay } = opened();
  const [ann, bob, device, email] = [newId(), newId(), newId(), `${newId()}@x.org`];
  await identify(database.deps, server, { external_id: ann, traits: { email } });
  await identify(database.deps, server, { external_id: bob, traits: { name: 'Bob' } });
  await track({ external_id: ann }, { anonymous_id: device }, { external_id: bob });
  await work();
  // Accepted, and still to be processed when the backup is made.
  await track({ external_id: ann, properties: { late: ann } });
  const backup = await backUp(database.owner);

  await alias(database.deps, server, { anonymous_id: device, external_id: ann });
  const erasureId = await eraseNow(database, projectId, (await find(ann))?.id ?? '');
  const kept = await ledger();
  expect(kept).toMatchObject([
    { erasure_id: erasureId, identifier_hashes: [{}, {}].map(() => expect.any(String)) },
  ]);
  expect(JSON.stringify(kept)).not.toContain(ann);

  await restore(database.owner, backup);
  expect(await findRemains(database.owner, [ann, device, email])).not.toEqual([]);
  const bobBefore = await find(bob);
  expect(await replay(kept)).toBe(1);
  await work();
  expect(await findRemains(database.owner, [ann, device, email])).toEqual([]);
  expect(await find(bob)).toEqual(bobBefore);
  expect(await ledger()).toMatchObject([{ erasure_id: erasureId }]);
});

test('an identifier that was erased twice keeps both erases, and who the backup has is gone', async () => {
  const { projectId, server, find, work, ledger, replay } = opened();
  const [ann, device] = [newId(), newId()];
  await identify(database.deps, server, { external_id: ann, traits: { plan: 'old' } });
  await work();
  const backup = await backUp(database.owner);
  const first = await eraseNow(database, projectId, (await find(ann))?.id ?? '');
  await identify(database.deps, server, { external_id: ann, anonymous_id: device });
  await work();
  const second = await eraseNow(database, projectId, (await find(ann))?.id ?? '');
  const kept = await ledger();
  expect(kept.map(({ identifier_hashes }) => identifier_hashes.length)).toEqual([1, 2]);

  await restore(database.owner, backup);
  expect([await replay(kept), await replay(kept)]).toEqual([2, 0]);
  expect(await findRemains(database.owner, [ann])).toEqual([]);
  expect((await ledger()).map(({ erasure_id }) => erasure_id)).toEqual([first, second]);
});

test('what the database knows of is not asked for again: a person who came after stays', async () => {
  const { projectId, server, find, ledger, replay } = opened();
  await identify(database.deps, server, { external_id: 'ann' });
  await eraseNow(database, projectId, (await find('ann'))?.id ?? '');
  await identify(database.deps, server, { external_id: 'ann', traits: { plan: 'new' } });
  const kept = await ledger();
  expect(await replay(kept)).toBe(0);
  expect(await find('ann')).toMatchObject({ traits: { plan: 'new' } });
});

test('an identifier that the backup does not have asks for nothing to be found, and twice is as once', async () => {
  const { projectId, ledger, replay } = opened();
  const entry = {
    erasure_id: newId(),
    profile_id: newId(),
    requested_at: new Date().toISOString(),
    identifier_hashes: [Buffer.alloc(32, 7).toString('base64url')],
  };
  expect([await replay([entry]), await replay([entry])]).toEqual([1, 0]);
  expect(await ledger()).toMatchObject([{ erasure_id: entry.erasure_id }]);
  expect(projectId).toBeTruthy();
});

test('whose link was undone after the backup keeps what is theirs, on either side', async () => {
  const { projectId, server, find, ledger, replay } = opened();
  const undo = async (linkId: string) =>
    inProject(database.deps, projectId, (scope) => unlinkPeople(scope, linkId, 'test'));
  const findDevice = async (value: string) =>
    (
      await inProject(database.deps, projectId, (scope) =>
        listProfiles(scope, { by: 'anonymous', value }),
      )
    )[0];
  const [ann, bob, ours, lent] = [newId(), newId(), newId(), newId()];
  for (const external_id of [ann, bob])
    await identify(database.deps, server, { external_id, traits: { name: external_id } });
  const links = [
    await alias(database.deps, server, { anonymous_id: ours, external_id: ann }),
    await alias(database.deps, server, { anonymous_id: lent, external_id: bob }),
  ];
  const backup = await backUp(database.owner);
  for (const { link_id } of links) await undo(link_id);
  await eraseNow(database, projectId, (await find(ann))?.id ?? '');
  await eraseNow(database, projectId, (await findDevice(lent))?.id ?? '');
  const kept = await ledger();
  const [device, person] = [await findDevice(ours), await find(bob)];

  await restore(database.owner, backup);
  expect(await replay(kept)).toBe(2);
  expect(await findRemains(database.owner, [ann, lent])).toEqual([]);
  const now = { updated_at: expect.any(String) };
  expect(await findDevice(ours)).toEqual({ ...device, ...now });
  expect(await find(bob)).toEqual({ ...person, ...now });
});

test.each([
  [
    'person',
    'whose server’s link was undone after the backup: the device is the browser’s person’s',
  ],
  ['device', 'that was alone when it was erased: both links of the backup are undone'],
] as const)('a %s %s', async (erased, _why) => {
  const { projectId, server, find, ledger, replay } = opened();
  const browser = { projectId, kind: 'publishable' } as const;
  const undo = (linkId: string) =>
    inProject(database.deps, projectId, (scope) => unlinkPeople(scope, linkId, 'test'));
  const [mallory, ann, device] = [newId(), newId(), newId()];
  const pair = { anonymous_id: device, external_id: mallory };
  await identify(database.deps, browser, pair);
  const { link_id, replaces } = await alias(database.deps, server, { ...pair, external_id: ann });
  const backup = await backUp(database.owner);
  await undo(link_id);
  if (erased === 'device') await undo(replaces ?? '');
  const findDevice = async () =>
    (
      await inProject(database.deps, projectId, (scope) =>
        listProfiles(scope, { by: 'anonymous', value: device }),
      )
    )[0];
  const gone = erased === 'device' ? await findDevice() : await find(ann);
  await eraseNow(database, projectId, gone?.id ?? '');
  const kept = await ledger();
  await restore(database.owner, backup);
  expect(await replay(kept)).toBe(1);
  expect(await findRemains(database.owner, [erased === 'device' ? device : ann])).toEqual([]);
  expect((await find(mallory))?.identifiers.map(({ value }) => value)).toEqual(
    erased === 'device' ? [mallory] : [mallory, device],
  );
});
