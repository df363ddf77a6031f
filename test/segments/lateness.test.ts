// Which entries of a segment's history would not exist without late events, and which the undo of a link caused.
import { beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { LATE_AFTER_MS } from '../../src/ingest/ingest.ts';
import { noteChanges } from '../../src/profiles/profiles.ts';
import { RETRY_MS } from '../../src/segments/refresh_in_parts.ts';
import { REFRESH_PROFILES_MAX } from '../../src/segments/turn.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { refreshSegments } from '../support/refresh_segments.ts';
import { counted, DAY_MS, HOUR_MS, lateWorld, never, onPlan, phone } from './late_world.ts';

const database = testDatabase();
let world: ReturnType<typeof lateWorld>;
beforeEach(() => {
  world = lateWorld(database);
});
const LATE = 40 * DAY_MS;

describe('an entry that a late event caused keeps how late it was', () => {
  test.each([
    [0, 'entered change'],
    [LATE_AFTER_MS, 'entered change'],
    [LATE_AFTER_MS + 1, `entered change ${LATE_AFTER_MS + 1}`],
    [LATE, `entered change ${LATE}`],
  ])('received after %s ms: %s', async (lagMs, said) => {
    const buyers = await world.segment(counted('bought'));
    await world.tell({});
    await world.refresh();
    await world.happen('bought', lagMs);
    expect(await world.entries(buyers)).toEqual([said]);
  });

  test('also where a person leaves by it', async () => {
    await world.tell({});
    const newcomers = await world.segment(never('bought'));
    await world.happen('bought', LATE);
    expect(await world.entries(newcomers)).toEqual(['entered fill', `left change ${LATE}`]);
  });

  test('the newest of several counts', async () => {
    const regulars = await world.segment(counted('bought', 2));
    await world.tell({});
    await world.refresh();
    await world.track('bought', LATE);
    await world.happen('bought', 2 * HOUR_MS);
    expect(await world.entries(regulars)).toEqual([`entered change ${2 * HOUR_MS}`]);
  });

  test('also in a segment that asks about the segment, and in the next one', async () => {
    const buyers = await world.segment(counted('bought'));
    const idle = await world.segment({
      kind: 'not',
      of: { kind: 'segment', segment_id: buyers },
    });
    const known = await world.segment({
      kind: 'all',
      of: [onPlan('pro'), { kind: 'not', of: { kind: 'segment', segment_id: idle } }],
    });
    await world.tell({ plan: 'pro' });
    await world.refresh();
    await world.happen('bought', LATE);
    expect(await world.entries(idle)).toEqual(['entered change', `left change ${LATE}`]);
    expect(await world.entries(known)).toEqual([`entered change ${LATE}`]);
  });

  test('and so does an entry of a person that the late event made', async () => {
    const newcomers = await world.segment(never('bought'));
    await world.segment(counted('seen'));
    await world.happen('seen', LATE);
    await world.happen('seen', 0, { who: { external_id: 'ben' } });
    expect(await world.entries(newcomers)).toEqual([`entered change ${LATE}`, 'entered change']);
  });
});

describe('with a fresh change in the same evaluation', () => {
  const both = async (first: () => Promise<unknown>, second: () => Promise<unknown>) => {
    await first();
    await second();
    await world.work();
  };
  const late = () => world.track('bought', LATE);
  const identified = () => world.tell({ plan: 'pro' });

  test.each(['before', 'after'])(
    'a trait that suffices by itself causes the entry, %s the late event',
    async (order) => {
      const either = await world.segment({ kind: 'any', of: [counted('bought'), onPlan('pro')] });
      const pro = await world.segment(onPlan('pro'));
      const buyers = await world.segment(counted('bought'));
      await world.tell({});
      await world.refresh();
      await (order === 'before' ? both(identified, late) : both(late, identified));
      expect(await world.entries(either)).toEqual(['entered change']);
      expect(await world.entries(pro)).toEqual(['entered change']);
      expect(await world.entries(buyers)).toEqual([`entered change ${LATE}`]);
    },
  );

  test.each(['before', 'after'])(
    'an entry that needs the late event as well is late: %s it',
    async (order) => {
      const all = await world.segment({ kind: 'all', of: [counted('bought'), onPlan('pro')] });
      await (order === 'before' ? both(identified, late) : both(late, identified));
      expect(await world.entries(all)).toEqual([`entered change ${LATE}`]);
    },
  );

  test('a fresh event that suffices causes the entry, in the same flush or the next', async () => {
    const buyers = await world.segment(counted('bought'));
    for (const external_id of ['ben', 'cleo']) {
      const who = { who: { external_id } };
      await world.track('bought', LATE, who);
      if (external_id === 'cleo') await world.process();
      await world.track('bought', 0, who);
      await world.work();
    }
    expect(await world.entries(buyers)).toEqual(['entered change', 'entered change']);
  });

  test('first and last times are those without the late event', async () => {
    const early = await world.segment({
      kind: 'event_time',
      event: 'bought',
      where: [],
      occurrence: 'first',
      test: { is: 'before', value: new Date(Date.now() - 30 * DAY_MS).toISOString() },
    });
    await world.happen('bought');
    await both(() => world.track('bought'), late);
    expect(await world.entries(early)).toEqual([`entered change ${LATE}`]);
  });
});

describe('when a day has come in the same evaluation', () => {
  const WINDOW_DAYS = 30;
  const inDays = (days: number) => Math.floor(Date.now() / DAY_MS) + days;

  test('a change that it makes by itself has the cause time', async () => {
    await world.happen('seen');
    const idle = await world.segment(never('seen', WINDOW_DAYS));
    await world.track('seen', LATE);
    await world.process();
    await world.refresh(inDays(WINDOW_DAYS));
    expect(await world.entries(idle)).toEqual(['entered time']);
  });

  test('a change that needs the late event as well is late', async () => {
    await world.happen('seen');
    const idle = await world.segment({
      kind: 'all',
      of: [never('seen', WINDOW_DAYS), counted('bought')],
    });
    await world.track('bought', LATE);
    await world.process();
    await world.refresh(inDays(WINDOW_DAYS));
    expect(await world.entries(idle)).toEqual([`entered change ${LATE}`]);
  });
});

describe('a link', () => {
  const entersBy = async (lagMs: number, order: 'before' | 'during' | 'after') => {
    const buyers = await world.segment(counted('bought'));
    await world.tell({});
    await world.refresh();
    if (order === 'before') await world.link();
    await world.track('bought', lagMs, { who: phone });
    if (order === 'during') await world.link();
    await world.work();
    if (order === 'after') await world.link();
    await world.refresh();
    return world.entries(buyers, 'ann');
  };

  test.each(['before', 'during', 'after'] as const)(
    'brings late events as late ones: linked %s them',
    async (order) => {
      expect(await entersBy(LATE, order)).toEqual([`entered change ${LATE}`]);
    },
  );

  test.each(['before', 'during', 'after'] as const)(
    'brings fresh events as fresh ones: linked %s them',
    async (order) => {
      expect(await entersBy(0, order)).toEqual(['entered change']);
    },
  );

  test('brings a device that has both as a fresh one', async () => {
    await world.segment(counted('bought'));
    const regulars = await world.segment(counted('bought', 2));
    await world.happen('bought', LATE, { who: phone });
    await world.happen('bought', 0, { who: phone });
    await world.tell({});
    await world.link();
    await world.refresh();
    expect(await world.entries(regulars, 'ann')).toEqual(['entered change']);
  });

  test('counts what was counted for a new condition from the past', async () => {
    await world.track('bought', LATE, { who: phone });
    await world.process();
    const buyers = await world.segment(counted('bought'));
    await world.tell({});
    await world.link();
    await world.refresh();
    expect(await world.entries(buyers, 'ann')).toEqual([`entered change ${LATE}`]);
  });
});

describe('the undo of a link', () => {
  const linked = async () => {
    const buyers = await world.segment(counted('bought'));
    const newcomers = await world.segment(never('bought'));
    await world.tell({ plan: 'pro' });
    await world.happen('bought', 0, { who: phone });
    await world.link();
    await world.refresh();
    return { buyers, newcomers };
  };

  test('is the cause of what changes for both people', async () => {
    const { buyers, newcomers } = await linked();
    await world.unlink();
    await world.refresh();
    expect((await world.entries(buyers, 'ann')).at(-1)).toBe('left undo');
    expect((await world.entries(newcomers, 'ann')).at(-1)).toBe('entered undo');
    expect((await world.entries(buyers, 'phone')).at(-1)).toBe('entered undo');
  });

  test('is the cause as well where traits and tags change by it', async () => {
    const pro = await world.segment(onPlan('pro'));
    const reachable = await world.segment({ kind: 'subscribed' });
    await world.tell({ plan: 'pro', email: 'ben@example.com' }, 'ben');
    await world.link('ben');
    await world.refresh();
    await world.unlink();
    await world.refresh();
    expect(await world.entries(pro, 'phone')).toEqual([]);
    expect(await world.entries(reachable, 'ben')).toEqual(['entered change']);
  });

  test('is the cause of all that changes in the same evaluation, and of nothing after it', async () => {
    const { buyers, newcomers } = await linked();
    const pro = await world.segment(onPlan('pro'));
    await world.unlink();
    await world.tell({ plan: 'free' });
    await world.track('bought', LATE);
    await world.work();
    expect(await world.entries(pro, 'ann')).toEqual(['entered fill', 'left undo']);
    expect((await world.entries(buyers, 'ann')).at(-1)).toBe('entered change');
    expect((await world.entries(newcomers, 'ann')).at(-1)).toBe('left change');
    await world.tell({ plan: 'pro' });
    await world.refresh();
    expect((await world.entries(pro, 'ann')).at(-1)).toBe('entered change');
  });

  test('by a server that replaces a link of a page is the cause for who loses the device', async () => {
    const buyers = await world.segment(counted('bought'));
    await world.tell({});
    await world.tell({}, 'mallory');
    await world.happen('bought', 0, { who: phone });
    await world.linkByPage('mallory');
    await world.refresh();
    await world.link('ann');
    await world.refresh();
    expect(await world.entries(buyers, 'mallory')).toEqual(['entered change', 'left undo']);
    expect(await world.entries(buyers, 'ann')).toEqual(['entered change']);
    // And what the undo of that one restores.
    await world.unlink();
    await world.refresh();
    expect((await world.entries(buyers, 'mallory')).at(-1)).toBe('entered undo');
    expect((await world.entries(buyers, 'ann')).at(-1)).toBe('left undo');
  });
});

describe('what is noted, and has no place among the notes of one evaluation', () => {
  /** Notes as many others as one evaluation takes. */
  const noteOthers = () =>
    inProject(database.deps, world.projectId, (scope) =>
      noteChanges(scope, Array.from({ length: REFRESH_PROFILES_MAX }, newId)),
    );

  test('is known to it: a late event', async () => {
    const buyers = await world.segment(counted('bought'));
    const pro = await world.segment(onPlan('pro'));
    await world.tell({ plan: 'pro' });
    await noteOthers();
    await world.track('bought', LATE);
    await world.work();
    expect(await world.entries(buyers)).toEqual([`entered change ${LATE}`]);
    expect(await world.entries(pro)).toEqual(['entered change']);
  });

  test('is known to it: a link that brings late events', async () => {
    const buyers = await world.segment(counted('bought'));
    await world.happen('bought', LATE, { who: phone });
    await world.tell({ plan: 'pro' });
    await noteOthers();
    await world.link();
    await world.refresh();
    expect(await world.entries(buyers, 'ann')).toEqual([`entered change ${LATE}`]);
  });

  test('is known to it: the undo of a link', async () => {
    const buyers = await world.segment(counted('bought'));
    await world.tell({});
    await world.happen('bought', 0, { who: phone });
    await world.link();
    await world.refresh();
    await world.tell({ plan: 'pro' });
    await noteOthers();
    await world.unlink();
    await world.refresh();
    expect((await world.entries(buyers, 'ann')).at(-1)).toBe('left undo');
  });

  test('is known to an evaluation by time', async () => {
    const WINDOW_DAYS = 30;
    await world.happen('seen');
    const idle = await world.segment(never('seen', WINDOW_DAYS));
    const buyers = await world.segment(counted('bought'));
    await noteOthers();
    await world.track('bought', LATE);
    await world.process();
    await world.refresh(Math.floor(Date.now() / DAY_MS) + WINDOW_DAYS);
    expect(await world.entries(idle)).toEqual(['entered time']);
    expect(await world.entries(buyers)).toEqual([`entered change ${LATE}`]);
  });
});

describe('a person who cannot be evaluated', () => {
  const constraint = 'no_members_for_a_while';
  const refuse = () =>
    database.owner.query(
      `alter table segments.members add constraint ${constraint} check (project_id <> '${world.projectId}') not valid`,
    );
  const allow = () =>
    database.owner.query(`alter table segments.members drop constraint ${constraint}`);
  const refreshAt = (at: number) =>
    refreshSegments(database.deps, world.projectId, { signal: NEVER, now: () => new Date(at) });

  test('is evaluated again with the causes of before', async () => {
    const buyers = await world.segment(counted('bought'));
    await world.tell({});
    await world.refresh();
    await refuse();
    await world.happen('bought', LATE);
    await refreshAt(Date.now() + RETRY_MS + 1_000);
    expect(await world.entries(buyers)).toEqual([]);
    await allow();
    await refreshAt(Date.now() + 3 * RETRY_MS);
    expect(await world.entries(buyers)).toEqual([`entered change ${LATE}`]);
  });

  test('also where another change comes first', async () => {
    const buyers = await world.segment(counted('bought'));
    const pro = await world.segment(onPlan('pro'));
    await world.tell({});
    await world.refresh();
    await refuse();
    await world.happen('bought', LATE);
    await allow();
    await world.tell({ plan: 'pro' });
    await world.refresh();
    expect(await world.entries(buyers)).toEqual([`entered change ${LATE}`]);
    expect(await world.entries(pro)).toEqual(['entered change']);
  });
});

test.each([
  ['without a reason, as of the release before', null],
  ['with a reason that this release does not know', { kind: 'something new' }],
])('a note %s stands for something fresh', async (_, reason) => {
  const buyers = await world.segment(counted('bought'));
  await world.tell({});
  await world.refresh();
  await world.track('bought', LATE);
  await world.process();
  await database.owner.query(
    'update profiles.changes set reason = $2::jsonb where project_id = $1',
    [world.projectId, reason === null ? null : JSON.stringify(reason)],
  );
  await world.refresh();
  expect(await world.entries(buyers)).toEqual(['entered change']);
});
