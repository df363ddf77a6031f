import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { addImport } from '../../src/suppression/suppression.ts';
import { testDatabase } from '../support/database.ts';
import { addressIn, importIn } from './said.ts';

const database = testDatabase();
const KEYS = [1, 2, 3].map((byte) => Buffer.alloc(32, byte));

const imported = (projectId = newId()) => ({
  projectId,
  ...importIn(database, projectId),
  addresses: KEYS.map((key) => addressIn(database, projectId, key)),
});

test('every address of the list is suppressed, with the import in its history', async () => {
  const { importId, add, addresses } = imported();
  expect(await add(KEYS, 'hard_bounce')).toBe(3);
  for (const one of addresses) {
    expect(await one.row()).toMatchObject({ reason: 'hard_bounce', source: 'import' });
    expect(await one.history()).toMatchObject([{ change: 'suppressed', import_id: importId }]);
  }
});

test('unsubscribes are kept apart from suppressions', async () => {
  const { add, addresses } = imported();
  await add(KEYS, 'unsubscribed');
  expect(await addresses[0]?.row()).toMatchObject({ reason: null, is_unsubscribed: true });
});

test('what is there already is not weakened', async () => {
  const { add, addresses } = imported();
  const [ann] = addresses;
  await ann?.suppress('complaint');
  const before = await ann?.row();
  await add(KEYS, 'manual');
  expect(await ann?.row()).toEqual(before);
});

test('an import frees nobody, whatever it says of them', async () => {
  const { add, addresses } = imported();
  const [ann] = addresses;
  await ann?.suppress('manual');
  await ann?.subscribe('unsubscribed');
  for (const reason of ['unsubscribed', 'manual', 'soft_bounces']) {
    await add(KEYS, reason);
    expect(await ann?.row()).toMatchObject({ is_unsubscribed: true });
    expect((await ann?.row())?.['reason']).not.toBeNull();
  }
});

test('the same import again says nothing new', async () => {
  const { add, addresses } = imported();
  await add(KEYS);
  expect(await add(KEYS)).toBe(0);
  expect(await addresses[0]?.history()).toHaveLength(1);
});

test('imports of the same addresses in other orders at once all succeed', async () => {
  const projectId = newId();
  const items = ['ann@example.com', 'bob@example.com', 'cat@example.com'].map((email) => ({
    email,
    reason: 'manual' as const,
  }));
  const adding = Array.from({ length: 6 }, (_, at) =>
    inProject(database.deps, projectId, (scope) =>
      addImport(
        scope,
        { importId: newId(), source: 'import', note: null },
        at % 2 === 0 ? items : items.toReversed(),
      ),
    ),
  );
  expect(await Promise.all(adding)).toEqual(Array<number>(6).fill(3));
});
