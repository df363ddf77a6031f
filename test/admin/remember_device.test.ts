import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { rememberDevice } from '../../src/admin/device_queries.ts';
import {
  ACCOUNTS_PER_DEVICE_MAX,
  findKnownDevice,
  rememberDevice as makeKnown,
} from '../../src/admin/devices.ts';
import type { Db } from '../../src/base/db.ts';
import { issueToken } from '../../src/base/issued_tokens.ts';
import { Resources } from '../../src/base/resources.ts';
import { LOOKUP_WINDOW_SECONDS } from '../../src/base/token_lookups.ts';
import { testDatabase } from '../support/database.ts';
import { strangersKeys } from '../support/made_up_key.ts';
import { makePerson } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';

const database = testDatabase();
const DEVICES_MAX = 3;
const ADDRESS = '198.51.100.7';

const remember = (personId: string, newHash: Buffer, oldHash: Buffer | null = null) =>
  rememberDevice(database.deps.db, {
    personId,
    oldHash,
    newHash,
    livesForDays: 10,
    devicesMax: DEVICES_MAX,
  });
const devices = async (personId: string): Promise<{ hash: string; device_id: string }[]> =>
  (
    await database.owner.query(
      `select encode(device_hash, 'hex') as hash, device_id from admin.known_devices where person_id = $1
      order by signed_in_at, device_hash`,
      [personId],
    )
  ).rows;
const hashes = async (personId: string) => (await devices(personId)).map((one) => one.hash);
const hash = () => randomBytes(32);
const hex = (...all: Buffer[]) => all.map((one) => one.toString('hex'));
const find = ({ email }: SignedInPerson, deviceCookie: string) =>
  findKnownDevice(database.deps, { email, address: ADDRESS, deviceCookie });

test('a new token takes the place of the old one of its account, and the device keeps its id', async () => {
  const ann = await makePerson(database);
  const [first, second] = [hash(), hash()];
  const id = await remember(ann.personId, first);
  expect(await remember(ann.personId, second, first)).toBe(id);
  expect(await devices(ann.personId)).toEqual([{ hash: hex(second)[0], device_id: id }]);
});

test('attack: a sign-in of another account changes no device of the account', async () => {
  const [ann, bob] = [await makePerson(database), await makePerson(database)];
  const [first, second] = [hash(), hash()];
  await remember(ann.personId, first);
  const before = await devices(ann.personId);
  expect(await remember(bob.personId, second, first)).not.toBe(before[0]?.device_id);
  expect(await devices(ann.personId)).toEqual(before);
  expect(await hashes(bob.personId)).toEqual(hex(second));
});

test('a device that has expired is a new one: it has another id', async () => {
  const { personId } = await makePerson(database);
  const first = hash();
  const id = await remember(personId, first);
  await database.owner.query(
    "update admin.known_devices set expires_at = now() - interval '1 second' where person_id = $1",
    [personId],
  );
  const second = hash();
  expect(await remember(personId, second, first)).not.toBe(id);
  expect(await hashes(personId)).toEqual(hex(second));
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

test('of two sign-ins at once with the same old token one keeps the device, the other is a new one', async () => {
  const { personId } = await makePerson(database);
  const first = hash();
  const id = await remember(personId, first);
  const both = await Promise.all([1, 2].map(() => remember(personId, hash(), first)));
  expect(both.filter((one) => one === id)).toHaveLength(1);
  expect(await hashes(personId)).toHaveLength(2);
});

test('a browser is a known device of several accounts, each by a token of its own', async () => {
  const { deps } = database;
  const [ann, bob] = [await makePerson(database), await makePerson(database)];
  const first = await makeKnown(deps, ann, null);
  const second = await makeKnown(deps, bob, first.cookie);
  expect((await find(ann, second.cookie))?.device_id).toBe(first.deviceId);
  expect((await find(bob, second.cookie))?.device_id).toBe(second.deviceId);
  const third = await makeKnown(deps, ann, second.cookie);
  expect(third.deviceId).toBe(first.deviceId);
  expect(third.cookie.split('.')).toHaveLength(2);
  expect((await find(bob, third.cookie))?.device_id).toBe(second.deviceId);
  expect(await find(ann, second.cookie)).toBeNull();
});

test(`a browser is known to ${ACCOUNTS_PER_DEVICE_MAX} accounts: the next takes the place of the first`, async () => {
  expect(ACCOUNTS_PER_DEVICE_MAX).toBe(5);
  let cookie: string | null = null;
  const people: SignedInPerson[] = [];
  for (let at = 0; at < ACCOUNTS_PER_DEVICE_MAX; at += 1) {
    const person = await makePerson(database);
    people.push(person);
    ({ cookie } = await makeKnown(database.deps, person, cookie));
  }
  const [first, second] = people as [SignedInPerson, SignedInPerson];
  expect(await find(first, cookie ?? '')).not.toBeNull();
  ({ cookie } = await makeKnown(database.deps, await makePerson(database), cookie));
  expect(await find(first, cookie)).toBeNull();
  expect(await find(second, cookie)).not.toBeNull();
  expect(cookie.split('.')).toHaveLength(ACCOUNTS_PER_DEVICE_MAX);
});

test('attack: made-up device tokens cost no statement, and shut out no known device at their address', async () => {
  const { deps } = database;
  const ann = await makePerson(database);
  const { cookie, deviceId } = await makeKnown(deps, ann, null);
  let lookups = 0;
  const maybeOne = ((query: Parameters<Db['maybeOne']>[0]) => {
    lookups += 1;
    return deps.db.maybeOne(query);
  }) as Db['maybeOne'];
  const config = { ...deps.config, rateLimitUnknownKeys: 1 };
  // A process that has not seen the device before.
  const own = { ...deps, db: { ...deps.db, maybeOne }, config, resources: new Resources() };
  const ask = (deviceCookie: string) =>
    findKnownDevice(own, { email: ann.email, address: ADDRESS, deviceCookie });
  const madeUp = [
    randomBytes(32).toString('base64url'),
    issueToken(strangersKeys, 'device', ann.email),
    // Tokens of this service, but for another account or another purpose.
    issueToken(deps.keys, 'device', 'bob@people.test'),
    issueToken(deps.keys, 'session', ann.email),
    '',
    '....',
    'x'.repeat(5_000),
    `${cookie}x`,
  ];
  for (let at = 0; at < 3 * LOOKUP_WINDOW_SECONDS; at += 1)
    for (const one of madeUp) expect(await ask(one)).toBeNull();
  expect(lookups).toBe(0);
  expect((await ask(cookie))?.device_id).toBe(deviceId);
});
