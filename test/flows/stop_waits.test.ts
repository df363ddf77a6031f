// Whoever stops a service while a provider leaves mail unanswered is told what it waits for.
import { expect, onTestFinished, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { saveProvider } from '../../src/providers/providers.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { startService } from '../../src/runtime/start_service.ts';
import type { Waiting } from '../../src/runtime/start_service.ts';
import { newSend, sendsOf } from '../delivery/one_send.ts';
import { startRelay } from '../providers/relay.ts';
import { testDatabase } from '../support/database.ts';
import { newId } from '../../src/base/ids.ts';
import { until } from '../support/until.ts';

const TEST_TIMEOUT_MS = 120_000;
const database = testDatabase();

/** A relay that takes each message when the test says so. */
const startHolding = async () => {
  const held: (() => void)[] = [];
  const relay = await startRelay('user', 'pass', {
    onData: (stream, _session, done) => {
      stream.on('end', () => held.push(() => done()));
      stream.resume();
    },
  });
  return { held, settings: relay.settings };
};

/** A project with a provider at a relay, and so many sends that wait for it. */
const plan = async (
  settings: Awaited<ReturnType<typeof startHolding>>['settings'],
  count: number,
) => {
  const projectId = newId();
  const sender = { display_name: 'T', from_email: 'hello@x.test', from_name: null, reply_to: null };
  const providerId = await saveProvider(database.deps, projectId, { ...sender, ...settings });
  const templateId = await inProject(database.deps, projectId, (scope) =>
    saveTemplate(scope, { name: 'T', subject: 'T', html: '<p>Hi</p>', text: 'T' }),
  );
  const sends = sendsOf(database, projectId);
  const planned = Array.from({ length: count }, () => newSend({ providerId, templateId }));
  for (const send of planned) await sends.plan(send);
  return { sends, planned };
};

test(
  'a worker that stops says how many hand-offs it waits for, again when one is answered, and ends well',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const { held, settings } = await startHolding();
    const { sends, planned } = await plan(settings, 2);
    const said: Waiting[] = [];
    const lines: string[] = [];
    const worker = await startService({
      env: { ...database.env, ROLE: 'worker', LOG_LEVEL: 'info' },
      onWaiting: (waiting) => said.push(waiting),
      onLine: (line) => lines.push(line),
    });
    onTestFinished(async () => void (await worker.stop('SIGKILL')));
    await until('both are on their way', () => held.length === 2);
    const stopped = worker.stop('SIGTERM');
    await until('it says what it waits for', () => said.length > 0);
    held.shift()?.();
    await until('it says what is left', () => said.length > 1);
    expect(worker.child.exitCode).toBeNull();
    held.shift()?.();
    expect(await stopped).toBe(0);
    expect(said.map(({ hand_offs }) => hand_offs)).toEqual([2, 1]);
    for (const { seconds_left } of said) expect(seconds_left).toBeGreaterThan(0);
    expect(lines.filter((line) => line.includes('waiting for hand-offs'))).toHaveLength(2);
    for (const { sendId } of planned)
      expect(await sends.read(sendId)).toMatchObject({ status: 'accepted' });
  },
);
