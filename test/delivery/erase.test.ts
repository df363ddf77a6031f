// What becomes of sends whose person is erased, wherever they stand.
import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { keepContents } from '../../src/delivery/queries.ts';
import { see } from '../../src/identity/identity.ts';
import { seePeople } from '../../src/profiles/profiles.ts';
import { connectTo, isSettled, untilWaiting } from '../base/connections.ts';
import { askToErase, eraseNow, runErasure } from '../support/erase.ts';
import { testDatabase } from '../support/database.ts';
import { TRIAL } from '../support/recorded.ts';
import { newSend, OWNER, sendsOf } from './one_send.ts';

const database = testDatabase();

const PERSON = { kind: 'external', value: 'ann' } as const;
const at = new Date('2026-01-31T12:00:00Z');

/** A person with a send that is leased to a worker. */
const opened = async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const [person] = await inProject(database.deps, projectId, async (scope) => {
    const people = await see(scope, [{ ...PERSON, first_seen_at: at, last_seen_at: at }]);
    return seePeople(scope, people);
  });
  const send = newSend({ profileId: person?.profile_id ?? '' });
  await sends.plan(send);
  await sends.claim(send.providerId);
  const ask = () => askToErase(database, projectId, send.profileId);
  const erase = () => eraseNow(database, projectId, send.profileId);
  return { projectId, sends, send, ask, erase };
};

describe('a send that is queued', () => {
  test('is not begun from the moment the erase is asked for', async () => {
    const { sends, send, ask } = await opened();
    await ask();
    expect(await sends.begin(send)).toBe('cancelled');
    expect(await sends.read(send.sendId)).toMatchObject({
      status: 'cancelled',
      status_reason: 'erased',
      lease_owner: null,
      attempt_count: 0,
    });
  });

  test('is cancelled by the erase, and its worker finds it lost', async () => {
    const { sends, send, erase } = await opened();
    await erase();
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'cancelled', recipient: null });
    expect(await sends.begin(send).catch((error: unknown) => error)).toBe('lost');
    expect(await sends.claim(send.providerId, { owner: 'other' })).toEqual([]);
  });

  test('is not rendered any more by a worker that leased it before', async () => {
    const { projectId, sends, send, erase } = await opened();
    await erase();
    await inProject(database.deps, projectId, (scope) =>
      keepContents(scope, OWNER, [
        { sendId: send.sendId, subject: 'Ann', html: 'Ann', text: 'Ann' },
      ]),
    );
    expect(await sends.read(send.sendId)).toMatchObject({ subject: null });
    const { rows } = await database.owner.query(
      'select from delivery.contents where project_id = $1',
      [projectId],
    );
    expect(rows).toEqual([]);
  });
});

test('a hand-off that begins is waited for: it is before the erase, or not at all', async () => {
  const { projectId, sends, send, ask } = await opened();
  const client = await connectTo(database, projectId);
  await client.query('begin');
  await client.query(`select ${TRIAL} from profiles.profiles where profile_id = $1 for share`, [
    send.profileId,
  ]);
  const asked = ask();
  await untilWaiting(database);
  expect(await isSettled(asked)).toBe(false);
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'queued' });
  await client.query('commit');
  await asked;
  expect(await sends.begin(send)).toBe('cancelled');
});

describe('a send that was handed over when its person was erased', () => {
  const handedOver = async () => {
    const given = await opened();
    await given.sends.begin(given.send);
    await given.erase();
    expect(await given.sends.read(given.send.sendId)).toMatchObject({
      status: 'handing_off',
      recipient: null,
      subject: null,
      address_key: null,
    });
    return given;
  };

  test.each([
    ['accepted', 'accepted'],
    ['rejected', 'rejected'],
    ['unknown', 'unknown'],
    ['deferred', 'cancelled'],
    ['not_started', 'cancelled'],
  ] as const)('%s makes it %s', async (outcome, status) => {
    const { sends, send } = await handedOver();
    await sends.end(send.sendId, outcome);
    expect(await sends.read(send.sendId)).toMatchObject({ status, recipient: null });
  });

  test('lost with its owner it is unknown, and what its owner says late is taken', async () => {
    const { projectId, sends, send } = await handedOver();
    await database.owner.query(
      `select set_config('trunkline.project_id', $1, false),
        delivery.settle_lost(project_id => $1::uuid, dead_owners => array[$2], silent_for => '1 hour',
          resend_after => '10 minutes')`,
      [projectId, OWNER],
    );
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'unknown' });
    await sends.end(send.sendId, 'not_started');
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'cancelled' });
  });

  test('feedback proves what we could not know, and is a fact of it', async () => {
    const { sends, send } = await handedOver();
    await sends.end(send.sendId, 'unknown');
    await sends.tell(send.sendId, 'delivered', at);
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'accepted', delivered_at: at });
  });
});

test('a send that had ended keeps its state; running the erase again changes nothing', async () => {
  const { projectId, sends, send, ask } = await opened();
  await sends.begin(send);
  await sends.end(send.sendId, 'accepted');
  const erasureId = await ask();
  await runErasure(database, projectId, erasureId);
  const once = await sends.read(send.sendId);
  expect(once).toMatchObject({ status: 'accepted', recipient: null });
  await runErasure(database, projectId, erasureId);
  expect(await sends.read(send.sendId)).toEqual(once);
});
