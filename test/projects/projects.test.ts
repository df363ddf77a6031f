import { expect, test } from 'vitest';
import { openDb } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { Resources } from '../../src/base/resources.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import {
  createProject,
  findCaller,
  findProject,
  findProjectByName,
  issueKey,
  KEY_CACHE_MS,
} from '../../src/projects/projects.ts';
import { testDatabase } from '../support/database.ts';
import { makeUpKey } from '../support/made_up_key.ts';

const database = testDatabase();
const NOW = 1_800_000_000_000;

/** A process of its own: nothing cached, and a count of the statements it makes. */
const openProcess = async () => {
  let statements = 0;
  const counter = {
    name: 'count',
    beforeQueryExecution: () => {
      statements += 1;
      return null;
    },
  };
  const db = await openDb(runtimeUrl(database.url, database.deps.keys), 2, [counter]);
  const deps = { ...database.deps, db, resources: new Resources() };
  const asked = () => statements;
  return { deps, asked, [Symbol.asyncDispose]: () => db.end() };
};

const revoke = (projectId: string) =>
  database.owner.query('update projects.api_keys set revoked_at = now() where project_id = $1', [
    projectId,
  ]);

test('a project comes with a key of each kind, and each says whose it is', async () => {
  const project = await createProject(database.deps, 'shop');
  const caller = (token: string) => findCaller(database.deps, token);
  const projectId = project.project_id;
  expect(await caller(project.publishable_key)).toMatchObject({ projectId, kind: 'publishable' });
  expect(await caller(project.server_key)).toMatchObject({ projectId, kind: 'server' });
  expect(await caller(project.hook_token)).toMatchObject({ projectId, kind: 'hook' });
  expect(await findProject(database.deps.db, projectId)).toEqual({
    project_id: projectId,
    name: 'shop',
  });
  expect(await findProjectByName(database.deps.db, 'shop')).toMatchObject({
    project_id: projectId,
  });
  expect(await findProjectByName(database.deps.db, 'none')).toBeNull();
});

test('a key is kept only as a hash that needs the master key, and its last four characters', async () => {
  const { server_key: token, project_id } = await createProject(database.deps, 'hashed');
  const { rows } = await database.owner.query(
    "select key_hash, last_four from projects.api_keys where project_id = $1 and kind = 'server'",
    [project_id],
  );
  expect(rows).toEqual([
    { key_hash: database.deps.keys.hash('api-key-pepper', token), last_four: token.slice(-4) },
  ]);
  const { rows: dump } = await database.owner.query(
    "select string_agg(api_keys::text, '') as everything from projects.api_keys",
  );
  expect(dump[0].everything).not.toContain(token.slice(0, -4));
});

test('several keys of a kind work at once, and revoking one leaves the other', async () => {
  const { project_id, server_key } = await createProject(database.deps, 'rotating');
  const second = await issueKey(database.deps, project_id, 'server');
  await database.owner.query(
    'update projects.api_keys set revoked_at = now() where key_hash = $1',
    [database.deps.keys.hash('api-key-pepper', server_key)],
  );
  expect(await findCaller(database.deps, server_key)).toBeNull();
  expect(await findCaller(database.deps, second)).toMatchObject({ projectId: project_id });
});

test('a well-formed token that nobody issued is nobody’s, each time it is asked', async () => {
  await using process = await openProcess();
  const token = makeUpKey('server');
  expect(await findCaller(process.deps, token)).toBeNull();
  expect(await findCaller(process.deps, token)).toBeNull();
  expect(process.asked()).toBe(2);
});

test('a malformed token costs no statement', async () => {
  await using process = await openProcess();
  const { server_key } = await createProject(database.deps, 'typing');
  for (const token of [
    '',
    'x',
    server_key.slice(0, -1),
    `${server_key}x`,
    server_key.toUpperCase(),
  ])
    expect(await findCaller(process.deps, token)).toBeNull();
  expect(process.asked()).toBe(0);
});

test('a key is looked up once and then known for a while', async () => {
  await using process = await openProcess();
  const { server_key } = await createProject(database.deps, 'cached');
  for (const later of [0, 1, KEY_CACHE_MS - 1])
    expect(await findCaller(process.deps, server_key, { now: NOW + later })).not.toBeNull();
  expect(process.asked()).toBe(1);
  await findCaller(process.deps, server_key, { now: NOW + KEY_CACHE_MS });
  expect(process.asked()).toBe(2);
});

test('a revoked key stops working within the time that it may be known', async () => {
  await using process = await openProcess();
  const { server_key, project_id } = await createProject(database.deps, 'revoked');
  await findCaller(process.deps, server_key, { now: NOW });
  await revoke(project_id);
  expect(
    await findCaller(process.deps, server_key, { now: NOW + KEY_CACHE_MS - 1 }),
  ).not.toBeNull();
  expect(await findCaller(process.deps, server_key, { now: NOW + KEY_CACHE_MS })).toBeNull();
  expect(await findCaller(process.deps, server_key, { now: NOW + 1 })).toBeNull();
  expect(KEY_CACHE_MS).toBeLessThanOrEqual(60_000);
});

test('a use of a known key does not make it known for longer', async () => {
  await using process = await openProcess();
  const { server_key, project_id } = await createProject(database.deps, 'used');
  await findCaller(process.deps, server_key, { now: NOW });
  await revoke(project_id);
  for (let at = 0; at < KEY_CACHE_MS; at += 1_000)
    await findCaller(process.deps, server_key, { now: NOW + at });
  expect(await findCaller(process.deps, server_key, { now: NOW + KEY_CACHE_MS })).toBeNull();
});

test('a key that is revoked already is never known', async () => {
  await using process = await openProcess();
  const { server_key, project_id } = await createProject(database.deps, 'never');
  await revoke(project_id);
  expect(await findCaller(process.deps, server_key)).toBeNull();
});

test('the same key cannot be kept twice', async () => {
  const { project_id } = await createProject(database.deps, 'twice');
  const copy = `insert into projects.api_keys
    select project_id, $2, kind, key_hash, last_four, created_at from projects.api_keys
    where project_id = $1 and kind = 'server'`;
  await expect(database.owner.query(copy, [project_id, newId()])).rejects.toThrow(
    /api_keys_hash_is_unique/,
  );
});
