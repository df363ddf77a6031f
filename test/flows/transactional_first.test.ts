// A provider with a backlog of marketing and a rate: what overtakes it, counted in messages that went before.
import { beforeAll, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { sendHint } from '../../src/delivery/delivery.ts';
import { makeMail, planSends } from '../support/planned_sends.ts';
import type { Mail } from '../support/planned_sends.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const RATE = 10;
const BACKLOG = 1_000;

const world = testWorld();
let mail: Mail;

const plan = (recipient: string, category: 'transactional' | 'marketing') =>
  inProject(world.deps, world.project.project_id, (scope) =>
    planSends(scope, mail, [recipient], { category }),
  );
const wake = () => hint(world.deps, sendHint(world.project.project_id, mail.providerId));

/** Plans an email, and counts the messages that the relay takes before it. */
const countBefore = async (recipient: string, category: 'transactional' | 'marketing') => {
  await plan(recipient, category);
  const before = world.sink.mails.length;
  await wake();
  const indexOf = () => world.sink.mails.findIndex(({ to }) => to.includes(recipient));
  await until('it is handed over', async () => indexOf() >= 0);
  return indexOf() - before;
};

beforeAll(async () => {
  mail = await makeMail(world.deps, world.project.project_id, world.sink);
  const recipients = Array.from({ length: BACKLOG }, (_, at) => `backlog-${at}@people.test`);
  await inProject(world.deps, world.project.project_id, (scope) =>
    planSends(scope, mail, recipients),
  );
  await world.owner.query('update providers.providers set rate_per_second = $1', [RATE]);
  await world.start('worker');
  await wake();
  await until('the backlog moves', async () => world.sink.mails.length >= RATE);
}, TEST_TIMEOUT_MS);

test(
  'transactional email takes one of the next moments of the rate',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    for (const name of ['one', 'two', 'three'])
      // What a rate of 10 hands over in two seconds.
      expect(await countBefore(`${name}@people.test`, 'transactional')).toBeLessThanOrEqual(
        2 * RATE,
      );
    expect(world.sink.mails.length).toBeLessThan(BACKLOG);
  },
);

test(
  'the first marketing email of another automation is in the next claims',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    // Two claims ahead of the clock, each of a second.
    expect(await countBefore('another@people.test', 'marketing')).toBeLessThanOrEqual(4 * RATE);
    expect(world.sink.mails.length).toBeLessThan(BACKLOG);
  },
);

test(
  'a stream of transactional email leaves a quarter to marketing',
  async () => {
    const before = world.sink.mails.length;
    const urgent = Array.from({ length: 60 }, (_, at) => `urgent-${at}@people.test`);
    for (const recipient of urgent) await plan(recipient, 'transactional');
    await wake();
    const taken = () => world.sink.mails.slice(before);
    const isUrgent = ({ to }: { to: readonly string[] }) => to[0]?.startsWith('urgent-') === true;
    await until('half of them are handed over', async () => taken().filter(isUrgent).length >= 40);
    const others = taken().filter((one) => !isUrgent(one)).length;
    expect(others).toBeGreaterThanOrEqual(5);
  },
  TEST_TIMEOUT_MS,
);
