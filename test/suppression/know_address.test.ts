import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const KEY = Buffer.alloc(32, 7);

const know = async (projectId: string, email: string, key = KEY) => {
  const client = await connectTo(database, projectId);
  await client.query('select suppression.know_address($1, $2, $3)', [projectId, key, email]);
};
const rowsOf = async (projectId: string) =>
  (
    await database.owner.query(
      'select email, reason, source, suppressed_at from suppression.addresses where project_id = $1',
      [projectId],
    )
  ).rows;

test('an address gets a row that says nothing against it', async () => {
  const projectId = newId();
  await know(projectId, 'ann@example.com');
  expect(await rowsOf(projectId)).toEqual([
    { email: 'ann@example.com', reason: null, source: null, suppressed_at: null },
  ]);
});

test('knowing it again leaves the row as it is', async () => {
  const projectId = newId();
  await know(projectId, 'ann@example.com');
  await know(projectId, 'ANN@example.com');
  expect(await rowsOf(projectId)).toMatchObject([{ email: 'ann@example.com' }]);
});

test('knowing a suppressed address does not release it', async () => {
  const projectId = newId();
  const client = await connectTo(database, projectId);
  await client.query(
    "select suppression.suppress_address($1, $2, 'ann@example.com', $3, 'complaint', 'test', now())",
    [projectId, KEY, newId()],
  );
  await know(projectId, 'ann@example.com');
  expect(await rowsOf(projectId)).toMatchObject([{ reason: 'complaint' }]);
});

test('a key that is no keyed hash is refused', async () => {
  await expect(know(newId(), 'ann@example.com', Buffer.from('ann'))).rejects.toThrow(
    /addresses_key_is_hmac_sha256/,
  );
});

test('an address cannot be made known in another project', async () => {
  const client = await connectTo(database, newId());
  await expect(
    client.query("select suppression.know_address($1, $2, 'ann@example.com')", [newId(), KEY]),
  ).rejects.toThrow(/row-level security/);
});

test('many at once make one row, and none fails', async () => {
  const projectId = newId();
  await Promise.all(Array.from({ length: 10 }, () => know(projectId, 'ann@example.com')));
  expect(await rowsOf(projectId)).toHaveLength(1);
});
