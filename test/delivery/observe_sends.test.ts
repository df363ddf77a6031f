// What becomes of a send is on its person's timeline, once, whoever ends it.
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { expireSends, plan, settleLost } from '../../src/delivery/delivery.ts';
import { cancelIfGone } from '../../src/delivery/gone.ts';
import { observeEnded, observeHandOffs } from '../../src/delivery/observe.ts';
import { SEND_STATUSES } from '../../src/delivery/queries.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { cancel, resolve } from '../../src/delivery/resolve.ts';
import { addressKey, suppress } from '../../src/suppression/suppression.ts';
import { newPerson } from '../profiles/people.ts';
import { askToErase } from '../support/erase.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, OWNER, sendsOf } from './one_send.ts';

const database = testDatabase();
const AT = new Date('2026-01-31T12:00:00Z');

/** A person with a send that waits, and what is on their timeline. */
const opened = async () => {
  const person = await newPerson(database);
  const { projectId, identityId, profileId } = person;
  const sends = sendsOf(database, projectId);
  const within = <T>(work: (scope: Scope) => Promise<T>) =>
    inProject(database.deps, projectId, work);
  const recipient = `${newId()}@example.com`;
  const key = await within((scope) => Promise.resolve(addressKey(scope, recipient)));
  const send = newSend({ identityId, profileId, recipient, addressKey: key });
  const begun = async () => {
    await sends.claim(send.providerId);
    await sends.begin(send);
  };
  const observed = async () => {
    await within((scope) => observeHandOffs(scope));
    const { rows } = await database.owner.query<{ name: string; properties: object }>(
      `select event.name, event.properties, event.source from ingest.events as event
      join identity.identities as known using (project_id)
      where project_id = $1 and known.identity_id = $2 and event.external_id = known.value`,
      [projectId, identityId],
    );
    return rows;
  };
  return { person, projectId, sends, send, within, begun, observed };
};
type Opened = Awaited<ReturnType<typeof opened>>;

const about = ({ sendId, automationId, stepId, templateId }: NewSend) => ({
  send_id: sendId,
  automation_id: automationId,
  step_id: stepId,
  template_id: templateId,
});

const suppressIt = ({ within, send }: Opened) =>
  within((scope) =>
    suppress(scope, { email: send.recipient, reason: 'manual', source: 'test', at: AT }),
  );

/** Each way in which a send comes to an end, and the reason that is told; null when it was sent. */
const ENDS: [string, string | null, (world: Opened) => Promise<unknown>][] = [
  [
    'accepted',
    null,
    async ({ begun, sends, send }) => (await begun(), sends.end(send.sendId, 'accepted')),
  ],
  [
    'refused',
    'rejected',
    async ({ begun, sends, send }) => (
      await begun(),
      sends.end(send.sendId, 'rejected', { reason: 'recipient_refused' })
    ),
  ],
  [
    'unknown, then proved by feedback',
    null,
    async ({ begun, sends, send }) => {
      await begun();
      await sends.end(send.sendId, 'unknown');
      await sends.tell(send.sendId, 'delivered', AT);
    },
  ],
  [
    'lost, with feedback that came before',
    null,
    async ({ begun, sends, send, within }) => {
      await begun();
      await sends.tell(send.sendId, 'delivered', AT);
      await within((scope) => settleLost(scope, [OWNER], 3_600));
    },
  ],
  [
    'unknown, then found to be sent',
    null,
    async ({ begun, sends, send, within }) => {
      await begun();
      await sends.end(send.sendId, 'unknown');
      await within((scope) => resolve(scope, send.sendId, 'accepted'));
    },
  ],
  [
    'unknown, then found not to be sent',
    'resolved',
    async ({ begun, sends, send, within }) => {
      await begun();
      await sends.end(send.sendId, 'unknown');
      await within((scope) => resolve(scope, send.sendId, 'not_sent'));
    },
  ],
  [
    'suppressed before its hand-off',
    'suppressed',
    async (world) => (await suppressIt(world), world.begun()),
  ],
  [
    'expired before its hand-off',
    'expired',
    async ({ sends, send, begun }) => {
      await sends.claim(send.providerId);
      await sends.update(send.sendId, "expires_at = now() - interval '1 ms'");
      await begun();
    },
  ],
  [
    'expired while it waits',
    'expired',
    async ({ sends, send, within }) => {
      await sends.update(send.sendId, "expires_at = now() - interval '1 ms'");
      await within((scope) => expireSends(scope));
    },
  ],
  ['cancelled', 'cancelled', ({ within, send }) => within((scope) => cancel(scope, send.sendId))],
  [
    'left without a provider',
    'provider_deleted',
    ({ within, send }) => within((scope) => cancelIfGone(scope, send.providerId)),
  ],
];

test.each(ENDS)('a send that is %s is on the timeline once', async (_, reason, end) => {
  const world = await opened();
  await world.sends.plan(world.send);
  await end(world);
  const name = reason === null ? 'email_sent' : 'email_skipped';
  const properties = { ...about(world.send), ...(reason === null ? {} : { reason }) };
  expect(await world.observed()).toEqual([{ name, properties, source: 'system' }]);
});

test('one that is refused when it is planned is there once, however often it is planned', async () => {
  const world = await opened();
  const { sendId: _, addressKey: __, ...intent } = world.send;
  await suppressIt(world);
  for (let times = 0; times < 2; times += 1) await world.within((scope) => plan(scope, [intent]));
  expect(await world.observed()).toMatchObject([
    { name: 'email_skipped', properties: { reason: 'suppressed' } },
  ]);
});

test.each(['delivered', 'bounced', 'complained', 'taken'] as const)(
  'one that somebody found not to be sent, and that was %s, was sent: both are there, once',
  async (fact) => {
    const { sends, send, begun, within, observed } = await opened();
    await sends.plan(send);
    await begun();
    await sends.end(send.sendId, 'unknown');
    await within((scope) => resolve(scope, send.sendId, 'not_sent'));
    for (let times = 0; times < 2; times += 1) await sends.tell(send.sendId, fact, AT);
    expect(await sends.read(send.sendId)).toMatchObject({ status: 'accepted', accepted_at: AT });
    expect((await observed()).map(({ name }) => name).toSorted()).toEqual([
      'email_sent',
      'email_skipped',
    ]);
  },
);

test('an outcome that is written twice is there once', async () => {
  const { sends, send, begun, observed } = await opened();
  await sends.plan(send);
  await begun();
  for (let times = 0; times < 2; times += 1) await sends.end(send.sendId, 'accepted');
  expect(await observed()).toHaveLength(1);
});

test.each(['queued', 'handing_off', 'unknown'])(
  'of one that is %s nothing is told yet',
  async (status) => {
    expect(SEND_STATUSES).toContain(status);
    const { sends, send, within, observed } = await opened();
    await sends.plan(send);
    await sends.update(send.sendId, `status = '${status}'`);
    await within((scope) => observeEnded(scope, [{ send_id: send.sendId }]));
    expect(await observed()).toEqual([]);
  },
);

test('of whom is being erased, and of a send that is not there, nothing is told', async () => {
  const { person, projectId, sends, send, begun, observed, within } = await opened();
  await sends.plan(send);
  await begun();
  await askToErase(database, projectId, person.profileId);
  await sends.end(send.sendId, 'accepted');
  await within((scope) => observeEnded(scope, [{ send_id: newId() }]));
  expect(await observed()).toEqual([]);
});

test('of a test nothing is told: its mail went to whoever tries the automation', async () => {
  const world = await opened();
  await world.sends.plan({ ...world.send, isTest: true });
  await world.begun();
  await world.sends.end(world.send.sendId, 'accepted');
  expect(await world.observed()).toEqual([]);
});
