import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { SUPPRESSION_REASONS } from '../../src/suppression/queries.ts';
import { testDatabase } from '../support/database.ts';
import { addressIn } from './said.ts';

const database = testDatabase();
const RUNS = 150;
const RUNS_TIMEOUT_MS = 60_000;

type Notice = { reason: string; second: number };
type Act = { kind: 'suppress' } | { kind: 'lift'; liftsComplaints: boolean };

/** Providers' times lie before and after what people do here, in steps that cannot be told apart by luck. */
const momentOf = (second: number): string =>
  new Date(Date.UTC(2026, 0, 31, 12, 0, second)).toISOString();

const notice: fc.Arbitrary<Notice> = fc.record({
  reason: fc.constantFrom(...SUPPRESSION_REASONS.filter((reason) => reason !== 'manual')),
  second: fc.nat(20),
});
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.constant<Act>({ kind: 'suppress' }),
  fc.record({ kind: fc.constant('lift' as const), liftsComplaints: fc.boolean() }),
);

/** Says everything of a fresh address, people's acts in their order, each at a moment of its own. */
const told = async (entries: readonly (Notice | (Act & { second: number }))[]) => {
  const projectId = newId();
  const ann = addressIn(database, projectId);
  for (const entry of entries) {
    const isNotice = 'reason' in entry;
    const change = isNotice || entry.kind === 'suppress' ? 'suppressed' : 'released';
    const reason = isNotice ? entry.reason : entry.kind === 'suppress' ? 'manual' : null;
    await database.owner.query(
      `select suppression.note_change($1, $2, $3, $4, $5, 'test', $6, null, null, $7)`,
      [
        projectId,
        ann.key,
        newId(),
        change,
        reason,
        momentOf(entry.second),
        'liftsComplaints' in entry && entry.liftsComplaints,
      ],
    );
  }
  return { row: await ann.row(), standing: await ann.standing() };
};

/** What the rules say, without a database: what is not taken back, the strongest first, then the oldest. */
const expected = (entries: readonly (Notice | (Act & { second: number }))[]) => {
  const lifts = entries.filter((entry) => 'kind' in entry && entry.kind === 'lift') as (Act & {
    kind: 'lift';
    second: number;
  })[];
  const standing = entries
    .flatMap((entry) => {
      if ('reason' in entry) return [entry];
      return entry.kind === 'suppress' ? [{ reason: 'manual', second: entry.second }] : [];
    })
    .filter(
      ({ reason, second }) =>
        !lifts.some(
          (lift) => lift.second >= second && (reason !== 'complaint' || lift.liftsComplaints),
        ),
    );
  const strength = ({ reason }: Notice) =>
    (SUPPRESSION_REASONS as readonly string[]).indexOf(reason);
  const [shown] = standing.toSorted((a, b) => strength(b) - strength(a) || a.second - b.second);
  return { reason: shown?.reason ?? null, count: standing.length };
};

test(
  'what is said of an address leads to one row in any order and however often, as the rules say',
  { timeout: RUNS_TIMEOUT_MS },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(notice, { maxLength: 6 }),
        fc.array(act, { maxLength: 4 }),
        fc.infiniteStream(fc.nat()),
        async (notices, acts, shuffle) => {
          const timed = acts.map((one, at) => ({ ...one, second: 5 * (at + 1) }));
          const entries = [...notices, ...timed];
          const shuffled = entries
            .map((entry) => [shuffle.next().value ?? 0, entry] as const)
            .toSorted(([a], [b]) => a - b)
            .map(([, entry]) => entry);
          const [inOrder, inAny] = [await told(entries), await told(shuffled)];
          expect(inAny).toEqual(inOrder);
          const { reason, count } = expected(entries);
          if (entries.length > 0) expect(inOrder.row).toMatchObject({ reason });
          expect(inOrder.standing).toHaveLength(count);
        },
      ),
      { numRuns: RUNS },
    );
  },
);

test('what people do counts in the order they did it, within a millisecond and past a late clock', async () => {
  const ann = addressIn(database);
  for (let times = 0; times < 20; times += 1) {
    await ann.suppress('manual');
    expect(await ann.row()).toMatchObject({ reason: 'manual' });
    await ann.lift();
    expect(await ann.row()).toMatchObject({ reason: null });
  }
  const moments = (await ann.history()).map(({ changed_at }) => (changed_at as Date).getTime());
  expect(moments).toEqual(moments.toSorted((a, b) => a - b));
  expect(new Set(moments).size).toBe(moments.length);
});

test('nothing is said from the future: a provider’s clock cannot outlast a lift', async () => {
  const ann = addressIn(database);
  await ann.suppress('hard_bounce', '2999-01-01T00:00:00.000Z');
  const { suppressed_at } = (await ann.row()) as { suppressed_at: Date };
  expect(suppressed_at.getTime()).toBeLessThanOrEqual(Date.now());
  await ann.lift();
  expect(await ann.row()).toMatchObject({ reason: null });
});

test('of equals the oldest is shown, and of one moment the first source by its bytes', async () => {
  const ann = addressIn(database);
  await ann.suppress('complaint', momentOf(2), 'b');
  await ann.suppress('complaint', momentOf(1), 'c');
  await ann.suppress('complaint', momentOf(1), 'B');
  expect(await ann.row()).toMatchObject({ source: 'B', suppressed_at: new Date(momentOf(1)) });
});
