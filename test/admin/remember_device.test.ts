import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { rememberDevice } from '../../src/admin/device_queries.ts';
import { findKnownDevice, rememberDevice as makeKnown } from '../../src/admin/devices.ts';
import type { Db } from '../../src/base/db.ts';
import { Resources } from '../../src/base/resources.ts';
import { LOOKUP_WINDOW_SECONDS } from '../../src/base/token_lookups.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';

const database = testDatabase();
const DEVICES_MAX = 3;

const remember = (personId: string, newHash: Buffer, oldHash: Buffer | null = null) =>
  rememberDevice(database.deps.db, {
    personId,
    oldHash,
    newHash,
    livesForDays: 10,
    devicesMax: DEVICES_MAX,
  });
const hashes = async (personId: string): Promise<string[]> =>
  (
    await database.owner.query(
      `select encode(device_hash, 'hex') as hash from admin.known_devices where person_id = $1
      order by signed_in_at, device_hash`,
      [personId],
    )
  ).rows.map(({ hash }) => hash as string);
const hash = () => randomBytes(32);
const hex = (...all: Buffer[]) => all.map((one) => one.toString('hex'));

test('a new token takes the place of the old one for every account of the browser', async () => {
  const [ann, bob] = [await makePerson(database), await makePerson(database)];
  const [first, second] = [hash(), hash()];
  await remember(ann.personId, first);
  await remember(bob.personId, second, first);
  expect(await hashes(ann.personId)).toEqual(hex(second));
  expect(await hashes(bob.personId)).toEqual(hex(second));
});

test('an account keeps the devices that signed in last, and none that has expired', async () => {
  const { personId } = await makePerson(database);
  const all = [hash(), hash(), hash(), hash()] as const;
  for (const [at, one] of all.entries()) {
    await remember(personId, one);
    await database.owner.query(
      `update admin.known_devices set signed_in_at = now() - make_interval(mins => $2) where device_hash = $1`,
      [one, 10 - at],
    );
  }
  expect(await hashes(personId)).toEqual(hex(...all.slice(1)));
  await database.owner.query(
    `update admin.known_devices set expires_at = now() - interval '1 second' where device_hash = $1`,
    [all[2]],
  );
  const last = hash();
  await remember(personId, last);
  expect(await hashes(personId)).toEqual(hex(all[1], all[3], last));
});

test('of sign-ins of one account at once none is lost, and no more are kept than may be', async () => {
  const { personId } = await makePerson(database);
  await Promise.all(Array.from({ length: 12 }, () => remember(personId, hash())));
  expect(await hashes(personId)).toHaveLength(DEVICES_MAX);
});

test('attack: made-up devices are not looked up past the limit of their address; a known one always is', async () => {
  const { deps } = database;
  const { email, personId } = await makePerson(database);
  const known = await makeKnown(deps, personId, null);
  let lookups = 0;
  const one = ((query: Parameters<Db['one']>[0]) => {
    lookups += 1;
    return deps.db.one(query);
  }) as Db['one'];
  const config = { ...deps.config, rateLimitUnknownKeys: 1 };
  const own = { ...deps, db: { ...deps.db, one }, config, resources: new Resources() };
  const find = (deviceToken: string) =>
    findKnownDevice(own, { email, address: '198.51.100.7', deviceToken });
  expect(await find(known)).not.toBeNull();
  for (let at = 0; at < 3 * LOOKUP_WINDOW_SECONDS; at += 1)
    expect(await find(randomBytes(32).toString('base64url'))).toBeNull();
  expect(lookups).toBe(1 + LOOKUP_WINDOW_SECONDS);
  expect(await find(known)).not.toBeNull();
});
