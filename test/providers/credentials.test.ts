import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { Keys } from '../../src/base/keys.ts';
import { openCredential, sealCredential } from '../../src/providers/credentials.ts';
import type { CredentialPlace } from '../../src/providers/credentials.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

type Sealed = { keyVersion: number; sealed: Buffer };
const PASSWORD = 'correct horse battery staple ü👋';

const newPlace = (): CredentialPlace => ({ recordId: newId(), field: 'password' });
const seal = (projectId: string, place: CredentialPlace, plain = PASSWORD): Promise<Sealed> =>
  inProject(database.deps, projectId, (scope) => sealCredential(scope, place, plain));
const open = (
  projectId: string,
  place: CredentialPlace,
  sealed: Sealed,
  keys = database.deps.keys,
) =>
  inProject({ ...database.deps, keys }, projectId, (scope) => openCredential(scope, place, sealed));
const dataKeysOf = async (projectId: string) =>
  (
    await database.owner.query(
      'select key_version, master_version, wrapped_key from providers.data_keys where project_id = $1',
      [projectId],
    )
  ).rows;

test('a credential opens to what it was, where it belongs', async () => {
  const [projectId, place] = [newId(), newPlace()];
  for (const plain of [PASSWORD, '', 'x'.repeat(10_000)])
    expect(await open(projectId, place, await seal(projectId, place, plain))).toBe(plain);
});

describe('moved, it does not open', () => {
  test('to another record, another field, or another project', async () => {
    const [projectId, other, place] = [newId(), newId(), newPlace()];
    const sealed = await seal(projectId, place);
    await seal(other, place);
    await expect(open(projectId, { ...place, recordId: newId() }, sealed)).rejects.toThrow();
    await expect(open(projectId, { ...place, field: 'api_key' }, sealed)).rejects.toThrow();
    await expect(open(other, place, sealed)).rejects.toThrow();
  });

  test('to another project together with its data key', async () => {
    const [projectId, other, place] = [newId(), newId(), newPlace()];
    const sealed = await seal(projectId, place);
    await database.owner.query(
      `insert into providers.data_keys select $2, key_version, master_version, wrapped_key, created_at
      from providers.data_keys where project_id = $1`,
      [projectId, other],
    );
    await expect(open(other, place, sealed)).rejects.toThrow();
  });

  test('under another master key', async () => {
    const [projectId, place] = [newId(), newPlace()];
    const sealed = await seal(projectId, place);
    await expect(open(projectId, place, sealed, new Keys(Buffer.alloc(32, 9)))).rejects.toThrow();
  });

  test('with one bit changed', async () => {
    const [projectId, place] = [newId(), newPlace()];
    const { keyVersion, sealed } = await seal(projectId, place);
    for (const at of [0, 12, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(open(projectId, place, { keyVersion, sealed: changed })).rejects.toThrow();
    }
  });
});

test('a project has one data key for all its credentials, and it is not in the database readable', async () => {
  const projectId = newId();
  for (let made = 0; made < 3; made += 1) await seal(projectId, newPlace());
  const keys = await dataKeysOf(projectId);
  expect(keys).toMatchObject([{ key_version: 1, master_version: 1 }]);
  expect(keys[0].wrapped_key).toHaveLength(12 + 16 + 32);
});

test('two projects have different data keys, and the same password looks different each time', async () => {
  const [one, other] = [newId(), newId()];
  const place = newPlace();
  const sealed = [await seal(one, place), await seal(one, place), await seal(other, place)];
  expect(new Set(sealed.map((each) => each.sealed.toString('hex'))).size).toBe(3);
  expect((await dataKeysOf(one))[0].wrapped_key).not.toEqual(
    (await dataKeysOf(other))[0].wrapped_key,
  );
});

test('many first uses at once agree on one data key', async () => {
  const projectId = newId();
  const places = Array.from({ length: 8 }, newPlace);
  const sealed = await Promise.all(places.map((place) => seal(projectId, place)));
  expect(await dataKeysOf(projectId)).toHaveLength(1);
  for (const [at, place] of places.entries())
    expect(await open(projectId, place, sealed[at] as Sealed)).toBe(PASSWORD);
});

test('opening with a data key that does not exist fails and makes none', async () => {
  const projectId = newId();
  const sealed = { keyVersion: 7, sealed: Buffer.alloc(64) };
  await inProject(database.deps, projectId, async (scope) => {
    await openCredential(scope, newPlace(), sealed).catch(() => {});
  });
  expect(await dataKeysOf(projectId)).toEqual([]);
});
