import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { addressKey, isOnList, suppress } from '../../src/suppression/suppression.ts';
import { connectTo, isSettled, permutationsOf, untilWaiting } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

type Told = { reason: string; source: string; email: string; at: string };

const tell = async (projectId: string, { reason, source, email, at }: Told) => {
  await database.owner.query(
    `select suppression.suppress_address(project_id => $1, address_key => sha256('ann'::bytea), email => $2,
      history_id => $3, reason => $4, source => $5, at => $6)`,
    [projectId, email, newId(), reason, source, at],
  );
};
const rowOf = async (projectId: string) =>
  (
    await database.owner.query(
      'select email, reason, source, suppressed_at from suppression.addresses where project_id = $1',
      [projectId],
    )
  ).rows;
const historyOf = async (projectId: string) =>
  (
    await database.owner.query(
      'select change, reason, source from suppression.history where project_id = $1 order by changed_at, history_id',
      [projectId],
    )
  ).rows;
const told = (reason: string, second = 1, given: Partial<Told> = {}): Told => ({
  reason,
  source: 'webhook/smtp',
  email: 'ann@example.com',
  at: `2026-01-31T12:00:0${second}.000Z`,
  ...given,
});

test('an address is on the list from the commit on, with its reason and a line of history', async () => {
  const projectId = newId();
  await inProject(database.deps, projectId, async (scope) => {
    expect(await isOnList(scope, 'ann@example.com')).toBe(false);
    await suppress(scope, { email: 'Ann@Example.com', reason: 'hard_bounce', source: 'test' });
  });
  await inProject(database.deps, projectId, async (scope) => {
    expect(await isOnList(scope, ' ANN@example.com ')).toBe(true);
    expect(await isOnList(scope, 'bob@example.com')).toBe(false);
  });
  expect(await rowOf(projectId)).toMatchObject([{ reason: 'hard_bounce', source: 'test' }]);
  expect(await historyOf(projectId)).toEqual([
    { change: 'suppressed', reason: 'hard_bounce', source: 'test' },
  ]);
});

test('a list is one project’s, and its keys say nothing about another’s', async () => {
  const [ours, theirs] = [newId(), newId()];
  const keyIn = (projectId: string) =>
    inProject(database.deps, projectId, (scope) =>
      Promise.resolve(addressKey(scope, 'ann@example.com')),
    );
  await inProject(database.deps, ours, (scope) =>
    suppress(scope, { email: 'ann@example.com', reason: 'manual', source: 'test' }),
  );
  const isTheirs = await inProject(database.deps, theirs, (scope) =>
    isOnList(scope, 'ann@example.com'),
  );
  expect(isTheirs).toBe(false);
  expect(await keyIn(ours)).not.toEqual(await keyIn(theirs));
});

test('the stronger reason wins: a complaint over a hard bounce over a decision by hand', async () => {
  for (const order of permutationsOf(['manual', 'hard_bounce', 'complaint'])) {
    const projectId = newId();
    for (const [second, reason] of order.entries()) await tell(projectId, told(reason, second));
    expect(await rowOf(projectId)).toMatchObject([{ reason: 'complaint' }]);
    expect(await historyOf(projectId)).toHaveLength(3);
  }
});

test('a weaker reason later changes nothing but the history', async () => {
  const projectId = newId();
  await tell(projectId, told('complaint', 1));
  const before = await rowOf(projectId);
  await tell(projectId, told('manual', 5, { source: 'console', email: 'other@example.com' }));
  expect(await rowOf(projectId)).toEqual(before);
  expect(await historyOf(projectId)).toHaveLength(2);
});

test('the same suppressions in any order, with duplicates, end in the same row', async () => {
  const all = [
    told('hard_bounce', 1),
    told('hard_bounce', 4, { source: 'webhook/mailgun' }),
    told('complaint', 3),
    told('complaint', 2, { source: 'webhook/amazon-ses', email: 'Ann@example.com' }),
  ];
  const ends: unknown[] = [];
  for (const order of permutationsOf(all)) {
    const projectId = newId();
    for (const one of [...order, ...order]) await tell(projectId, one);
    ends.push(await rowOf(projectId));
  }
  for (const end of ends) expect(end).toEqual(ends[0]);
});

test('an address that was only known becomes suppressed, in the same row', async () => {
  const projectId = newId();
  await database.owner.query(
    "select suppression.know_address($1, sha256('ann'::bytea), 'old@example.com')",
    [projectId],
  );
  await tell(projectId, told('manual'));
  expect(await rowOf(projectId)).toMatchObject([{ email: 'ann@example.com', reason: 'manual' }]);
});

test('a reason nobody knows is refused and nothing is written', async () => {
  const projectId = newId();
  await expect(tell(projectId, told('dislike'))).rejects.toThrow(/addresses_reason_is_known/);
  expect(await rowOf(projectId)).toEqual([]);
});

test('suppressions of one address at once all succeed, and the strongest is what is left', async () => {
  const projectId = newId();
  const reasons = ['manual', 'complaint', 'hard_bounce'] as const;
  await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      inProject(database.deps, projectId, (scope) =>
        suppress(scope, {
          email: 'ann@example.com',
          reason: reasons[at % 3] ?? 'manual',
          source: 'test',
        }),
      ),
    ),
  );
  expect(await rowOf(projectId)).toMatchObject([{ reason: 'complaint' }]);
  expect(await historyOf(projectId)).toHaveLength(12);
});

test('a suppression waits for whoever is asking about the address under a lock', async () => {
  const projectId = newId();
  const suppressAnn = () =>
    inProject(database.deps, projectId, (scope) =>
      suppress(scope, { email: 'ann@example.com', reason: 'manual', source: 'test' }),
    );
  await suppressAnn();
  const key = await inProject(database.deps, projectId, (scope) =>
    Promise.resolve(addressKey(scope, 'ann@example.com')),
  );
  const asking = await connectTo(database, projectId);
  await asking.query('begin');
  await asking.query('select suppression.stops_mail($1, $2, $3)', [projectId, key, 'marketing']);
  // A weaker or equal reason writes no new row, and must wait all the same.
  const suppressing = suppressAnn();
  await untilWaiting(database);
  expect(await isSettled(suppressing)).toBe(false);
  await asking.query('commit');
  await suppressing;
});
