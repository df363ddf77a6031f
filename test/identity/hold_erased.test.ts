import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { connectTo, untilWaiting } from '../base/connections.ts';
import { newPerson } from '../profiles/people.ts';
import type { Someone } from '../profiles/people.ts';
import { testDatabase } from '../support/database.ts';
import { TRIAL } from '../support/recorded.ts';

const database = testDatabase();
const HOLD = 'select identity_id from identity.hold_erased(project_id => $1, erasure_id => $2)';

const mark = async ({ identityId }: Someone, erasureId: string) =>
  database.owner.query('update identity.identities set erasure_id = $1 where identity_id = $2', [
    erasureId,
    identityId,
  ]);

test('the identities that an erase is about are held, and no others', async () => {
  const ann = await newPerson(database);
  const bob = await newPerson(database, ann.projectId);
  const erasureId = newId();
  await mark(ann, erasureId);
  await mark(bob, newId());
  const client = await connectTo(database, ann.projectId);
  const { rows } = await client.query(HOLD, [ann.projectId, erasureId]);
  expect(rows).toEqual([{ identity_id: ann.identityId }]);
});

test('whoever an erase came to be about while it waited is held too', async () => {
  const ann = await newPerson(database);
  const bob = await newPerson(database, ann.projectId);
  const erasureId = newId();
  await mark(ann, erasureId);
  const linking = await connectTo(database, ann.projectId);
  await linking.query('begin');
  await linking.query(
    `select ${TRIAL} from identity.identities where identity_id = $1 for update`,
    [ann.identityId],
  );
  await linking.query(
    `update ${TRIAL} identity.identities set erasure_id = $1 where identity_id = $2`,
    [erasureId, bob.identityId],
  );
  const client = await connectTo(database, ann.projectId);
  const held = client.query(HOLD, [ann.projectId, erasureId]);
  await untilWaiting(database);
  await linking.query('commit');
  expect((await held).rowCount).toBe(2);
});
