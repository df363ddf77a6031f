import { beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { Keys } from '../../src/base/keys.ts';
import { readMasterKey } from '../../src/config/master_key.ts';
import { createProject } from '../../src/projects/projects.ts';
import { openCredential, rewrapDataKeys, sealCredential } from '../../src/providers/credentials.ts';
import { nextMasterKey, rewrapAll } from '../../src/runtime/rewrap.ts';
import { testDatabase } from '../support/database.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';

const database = testDatabase();

const keysOf = (...texts: string[]): Keys =>
  new Keys(
    readMasterKey(texts[0] ?? '').root,
    texts.map((text) => readMasterKey(text).outer),
  );

type Kept = { projectId: string; recordId: string; sealed: Buffer; keyVersion: number };
const place = ({ recordId }: { recordId: string }) => ({ recordId, field: 'password' });

/** Seals a password for a project, as a process with some keys does. */
const seal = async (projectId: string, keys: Keys): Promise<Kept> => {
  const recordId = newId();
  const sealed = await inProject({ ...database.deps, keys }, projectId, (scope) =>
    sealCredential(scope, place({ recordId }), recordId),
  );
  return { projectId, recordId, ...sealed };
};
const opens = async (kept: Kept, keys: Keys): Promise<boolean> => {
  const opened = await inProject({ ...database.deps, keys }, kept.projectId, (scope) =>
    openCredential(scope, place(kept), kept),
  ).catch(() => null);
  return opened === kept.recordId;
};
const rewrap = (keys: Keys) => rewrapAll({ ...database.deps, keys });
const versions = async (): Promise<number[]> =>
  (await database.owner.query('select distinct master_version from providers.data_keys')).rows.map(
    ({ master_version }) => master_version as number,
  );
const newProjects = (count: number) =>
  Promise.all(
    Array.from({ length: count }, async () => (await createProject(database.deps, 'a')).project_id),
  );

beforeEach(() => database.owner.query('truncate providers.data_keys cascade'));

const FIRST = TEST_MASTER_KEY;
const SECOND = nextMasterKey(FIRST);

describe('a master key that follows another', () => {
  test('has a new outer key of the next version, and the same root', () => {
    const third = nextMasterKey(SECOND);
    const [one, two, three] = [FIRST, SECOND, third].map(readMasterKey);
    expect([one, two, three].map((key) => key?.outer.version)).toEqual([1, 2, 3]);
    expect(new Set([one, two, three].map((key) => key?.outer.key.toString('hex'))).size).toBe(3);
    expect([two?.root, three?.root]).toEqual([one?.root, one?.root]);
  });

  test('changes nothing that follows from the root', () => {
    const [before, after] = [keysOf(FIRST), keysOf(SECOND)];
    for (const purpose of ['api-key-pepper', 'address-hash', 'session', 'tombstone'] as const)
      expect(after.of(purpose)).toEqual(before.of(purpose));
    expect(after.outer(2)).not.toEqual(before.outer(1));
  });

  test('is what an installation began with, where it was never rotated', () => {
    const { root } = readMasterKey(FIRST);
    expect(new Keys(root).outer(1)).toEqual(keysOf(FIRST).outer(1));
  });
});

test('after a rotation the new key opens everything, and the old one nothing', async () => {
  const kept = [];
  for (const projectId of await newProjects(3)) kept.push(await seal(projectId, keysOf(FIRST)));
  expect(await rewrap(keysOf(SECOND, FIRST))).toBe(3);
  for (const one of kept) {
    expect(await opens(one, keysOf(SECOND))).toBe(true);
    expect(await opens(one, keysOf(FIRST))).toBe(false);
  }
  expect(await rewrap(keysOf(SECOND, FIRST))).toBe(0);
});

test('stopped in between, both keys open everything, and it goes on where it was', async () => {
  const [one = '', other = ''] = await newProjects(2);
  const kept = [await seal(one, keysOf(FIRST)), await seal(other, keysOf(FIRST))];
  const both = keysOf(SECOND, FIRST);
  await inProject({ ...database.deps, keys: both }, one, rewrapDataKeys);
  expect((await versions()).toSorted((a, b) => a - b)).toEqual([1, 2]);
  for (const each of kept) expect(await opens(each, both)).toBe(true);
  expect(await rewrap(both)).toBe(1);
  expect(await versions()).toEqual([2]);
});

test('without the key before it, nothing is lost: it says which one is missing', async () => {
  const [projectId = ''] = await newProjects(1);
  const kept = await seal(projectId, keysOf(FIRST));
  await expect(rewrap(keysOf(SECOND))).rejects.toThrow('no outer key of version 1');
  expect(await opens(kept, keysOf(FIRST))).toBe(true);
});

test('rotation under traffic loses nothing', async () => {
  const projects = await newProjects(20);
  const both = keysOf(SECOND, FIRST);
  const kept: Kept[] = [];
  for (const projectId of projects.slice(0, 10)) kept.push(await seal(projectId, keysOf(FIRST)));

  let isDone = false;
  let uses = 0;
  const traffic = async (worker: number): Promise<void> => {
    for (let turn = 0; !isDone; turn += 1) {
      const known = kept[(turn + worker) % kept.length] as Kept;
      expect(await opens(known, both)).toBe(true);
      kept.push(await seal(projects[(turn * 7 + worker) % projects.length] ?? '', both));
      uses += 1;
    }
  };
  const running = [0, 1, 2, 3].map(traffic);
  const rewrapped = await Promise.all([rewrap(both), rewrap(both)]);
  isDone = true;
  await Promise.all(running);
  expect(uses).toBeGreaterThan(3);
  expect(rewrapped[0] + rewrapped[1]).toBe(10);
  expect(await versions()).toEqual([2]);
  for (const each of kept) expect(await opens(each, keysOf(SECOND))).toBe(true);
});
