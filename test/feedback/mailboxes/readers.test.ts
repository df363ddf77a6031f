// The job that has bounce mailboxes read, and the places beside it: a server that hangs holds one place and no job.
import { describe, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../../src/base/ids.ts';
import { holdSending } from '../../../src/base/sending.ts';
import { readBounceMailboxes } from '../../../src/feedback/feedback.ts';
import {
  MailboxReaders,
  makeReaders,
  PROJECT_READERS_MAX,
  READERS_MAX,
  WAITING_MAX,
} from '../../../src/feedback/mailboxes/readers.ts';
import { createProject } from '../../../src/projects/projects.ts';
import type { Turn, WhichMailbox } from '../../../src/providers/providers.ts';
import readMailboxes from '../../../tasks/feedback/read_mailboxes.ts';
import { asWorker } from '../../support/work_on.ts';
import { until } from '../../support/until.ts';
import { EMAIL } from '../project_told.ts';
import { mailboxWorld } from './mailbox_world.ts';
import { dsn } from './reports.ts';

const world = mailboxWorld();
const { connect, sendToAnn, makeDue, imap, database } = world;

/** Readers whose turns end when the test says so. */
const slowReaders = () => {
  const begun: WhichMailbox[] = [];
  const ends: (() => void)[] = [];
  const readers = new MailboxReaders(database.deps, (which) => {
    begun.push(which);
    return new Promise<Turn>((resolve) => void ends.push(() => resolve(null)));
  });
  const end = async (count = ends.length) => {
    for (const one of ends.splice(0, count)) one();
    await new Promise(setImmediate);
  };
  return { readers, begun, end };
};

const mailboxes = (count: number, projectId = ''): WhichMailbox[] =>
  Array.from({ length: count }, () => ({
    projectId: projectId === '' ? newId() : projectId,
    providerId: newId(),
  }));

describe('the places', () => {
  test(`are ${READERS_MAX} in a process`, async () => {
    const { readers, begun, end } = slowReaders();
    readers.feed(mailboxes(READERS_MAX + 1));
    expect(begun).toHaveLength(READERS_MAX);
    expect(readers.waitingCount).toBe(1);
    await end(1);
    expect(begun).toHaveLength(READERS_MAX + 1);
    await end();
    await readers.idle();
  });

  test(`are ${PROJECT_READERS_MAX} of a project: the others go to other projects`, async () => {
    const { readers, begun, end } = slowReaders();
    const projectId = newId();
    const [other] = mailboxes(1);
    readers.feed([...mailboxes(PROJECT_READERS_MAX + 1, projectId), ...(other ? [other] : [])]);
    expect(begun).toHaveLength(PROJECT_READERS_MAX + 1);
    expect(begun).toContain(other);
    await end(1);
    expect(begun).toHaveLength(PROJECT_READERS_MAX + 2);
    await end();
    await readers.idle();
  });

  test(`let ${WAITING_MAX} mailboxes wait, each once`, async () => {
    const { readers, begun, end } = slowReaders();
    const running = mailboxes(READERS_MAX);
    readers.feed(running);
    const waiting = mailboxes(WAITING_MAX + 1);
    readers.feed(waiting);
    readers.feed([...running, ...waiting]);
    expect(readers.waitingCount).toBe(WAITING_MAX);
    const closed = readers.close();
    expect(readers.waitingCount).toBe(0);
    await end();
    await closed;
    expect(begun).toHaveLength(READERS_MAX);
  });

  test('go on after a turn that throws', async () => {
    let turns = 0;
    const readers = new MailboxReaders(database.deps, () => {
      turns += 1;
      return Promise.reject(new Error('bug'));
    });
    readers.feed(mailboxes(READERS_MAX + 2));
    await until('all have had their turn', () => Promise.resolve(turns === READERS_MAX + 2));
    await readers.close();
  });
});

describe('the job', () => {
  const run = () => readMailboxes(asWorker(database))({}, undefined as never);
  const idle = () => database.deps.resources.of(makeReaders, database.deps).idle();

  test('has every mailbox read that is due, of all projects', async () => {
    const one = await sendToAnn(await connect());
    const first = world.api.project;
    imap.deliver(dsn({ to: EMAIL, sender: one.mail.from }));
    world.api.project = await createProject(database.deps, 'another');
    const two = await sendToAnn(await connect());
    imap.deliver(dsn({ to: EMAIL, sender: two.mail.from }));
    await run();
    await idle();
    expect(await two.stand()).toMatchObject({ status: 'bounced' });
    world.api.project = first;
    expect(await one.stand()).toMatchObject({ status: 'bounced' });
  });

  test('ends at once where a server hangs', async () => {
    await connect();
    await makeDue();
    imap.play(/^SELECT/, 'hang');
    imap.commands = [];
    const begun = performance.now();
    await run();
    expect(performance.now() - begun).toBeLessThan(5_000);
    await imap.waitFor(/^SELECT/);
    imap.dropAll();
    await idle();
  });

  test('that stops ends its turns at once: the mailbox is due for another process', async () => {
    const providerId = await connect();
    imap.play(/^SELECT/, 'hang', 1);
    imap.commands = [];
    const { project_id: projectId } = world.api.project;
    const readers = new MailboxReaders(database.deps);
    readers.feed([{ projectId, providerId }]);
    await imap.waitFor(/^SELECT/);
    const begun = performance.now();
    await readers.close();
    expect(performance.now() - begun).toBeLessThan(5_000);
    const { rows } = await database.owner.query(
      `select status, failure, failure_count, claim_id, next_read_at <= now() as is_due
      from providers.bounce_mailboxes where provider_id = $1`,
      [providerId],
    );
    expect(rows).toEqual([
      { status: 'active', failure: null, failure_count: 0, claim_id: null, is_due: true },
    ]);
    expect(await world.read(providerId)).toMatchObject({ result: { kind: 'read' } });
  });

  test('reads nothing while sending is held, as after a restore', async () => {
    await connect();
    await makeDue();
    await holdSending(database.deps.db);
    onTestFinished(async () => {
      await database.owner.query('update base.sending set held_at = null');
    });
    imap.commands = [];
    expect(await readBounceMailboxes(database.deps, database.owner)).toBe(0);
    expect(imap.commands).toEqual([]);
  });
});
