// What endpoints subscribe to: queued once with what it is about, and posted so that receivers can verify it.
import { beforeEach, describe, expect, test } from 'vitest';
import { openAlert, resolveAlert } from '../../src/alerts/alerts.ts';
import { EMAIL_TYPES } from '../../src/automations/subscriptions/event_types.ts';
import { observeHandOffs } from '../../src/delivery/delivery.ts';
import { followEvents } from '../../src/automations/triggers.ts';
import { newId } from '../../src/base/ids.ts';
import type { Notice } from '../../src/feedback/notice.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { at, EMAIL, newNotice, projectTold } from '../feedback/project_told.ts';
import { newEvent } from '../ingest/some_events.ts';
import { newPerson, tell as tellOf } from '../profiles/people.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { eraseNow } from '../support/erase.ts';
import { httpsSink } from '../support/https_sink.ts';
import { workOn } from '../support/work_on.ts';
import { PARKED } from '../alerts/parked.ts';
import { subscribed, verified } from './subscribed.ts';

const database = testDatabase();
const api = testApi(database);
const sink = httpsSink({ usually: () => ({ status: 204 }) });
beforeEach(() => sink.reset());

const open = () => subscribed(database, api, sink);

/** A person with an email that was accepted, and what providers report about it. */
const withEmail = async (world: Awaited<ReturnType<typeof open>>) => {
  const project = projectTold(database, world.projectId);
  const ann = await newPerson(database, world.projectId);
  await tellOf(database, ann, { traits: { email: EMAIL } });
  const send = await project.sends.handingOff({
    recipient: EMAIL,
    addressKey: await project.keyOf(EMAIL),
    profileId: ann.profileId,
    identityId: ann.identityId,
  });
  await project.sends.end(send.sendId, 'accepted');
  const report = async (kind: Notice['kind'], given: Partial<Notice> = {}) => {
    await project.tell(
      newNotice({ kind, dedupeKey: kind, sendId: send.sendId, occurredAt: at(1), ...given }),
    );
  };
  const process = async () => {
    await world.within((scope) => observeHandOffs(scope));
    await workOn(database, world.projectId);
  };
  const { rows } = await database.owner.query<{ value: string }>(
    'select value from identity.identities where identity_id = $1',
    [ann.identityId],
  );
  return { ann, send, report, process, externalId: rows[0]?.value };
};

describe('system.* subscriptions', () => {
  test('an alert is posted once when it opens and once when it resolves, signed', async () => {
    const { ask, makeEndpoint, within, announce, deliver } = await open();
    const { id, secret } = await makeEndpoint(['system.*']);
    const other = await makeEndpoint(['system.bounce_rate'], '/others');
    await within((scope) => openAlert(scope, PARKED));
    await within((scope) => openAlert(scope, PARKED));
    await within((scope) => resolveAlert(scope, 'relay', 'provider_parked'));
    const { hints } = await announce();
    expect(hints.map(({ payload }) => payload['endpoint_id'])).toEqual([id]);
    expect((await announce()).hints).toEqual([]);
    expect([await deliver(id), await deliver(id), await deliver(other.id)]).toEqual([2, 0, 0]);
    const alertId = (await ask('GET', '/v1/alerts?status=all')).body.items[0].id as string;
    const said = verified(sink, secret).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(said).toMatchObject([
      {
        id: `${alertId}_open`,
        type: 'system.provider_parked',
        data: { alert: { id: alertId, status: 'open', resolved_at: null } },
      },
      {
        id: `${alertId}_resolved`,
        type: 'system.provider_parked',
        data: { alert: { id: alertId, status: 'resolved', resolved_at: expect.any(String) } },
      },
    ]);
  });

  test('an endpoint that is disabled, and one of another project, get nothing', async () => {
    const other = await open();
    const { id: foreign } = await other.makeEndpoint(['system.*']);
    const { ask, makeEndpoint, within, announce, listRows } = await open();
    const { id } = await makeEndpoint(['system.*']);
    await ask('PATCH', `/v1/webhook-endpoints/${id}`, { status: 'disabled' });
    await within((scope) => openAlert(scope, PARKED));
    await announce();
    expect([await listRows(id), await other.listRows(foreign)]).toEqual([[], []]);
  });
});

describe('email.* subscriptions', () => {
  test('each event of an email is posted once, with its person and address', async () => {
    const world = await open();
    const { id, secret } = await world.makeEndpoint(['email.*']);
    const { send, report, process, externalId } = await withEmail(world);
    for (let times = 0; times < 2; times += 1) {
      await report('delivered');
      await report('bounced', { bounceType: 'hard', occurredAt: at(2) });
      await report('complained', { occurredAt: at(3) });
      await report('unsubscribed', { occurredAt: at(4) });
      await report('clicked', { occurredAt: at(5) });
      await report('opened', { occurredAt: at(6) });
      await process();
    }
    await world.deliver(id);
    const said = verified(sink, secret);
    expect(said.map(({ type }) => type).toSorted()).toEqual([...EMAIL_TYPES].toSorted());
    expect(new Set(said.map((one) => one.id)).size).toBe(EMAIL_TYPES.length);
    const bounced = said.find(({ type }) => type === 'email.bounced');
    expect(bounced).toMatchObject({
      timestamp: at(2).toISOString(),
      data: {
        person: { external_id: externalId, anonymous_id: null },
        email: {
          to: EMAIL,
          send_id: send.sendId,
          automation_id: send.automationId,
          step_id: send.stepId,
          template_id: send.templateId,
          provider_id: send.providerId,
        },
        bounce_type: 'hard',
        reported_by: 'smtp',
      },
    });
    const sent = said.find(({ type }) => type === 'email.sent');
    expect(sent?.data).toMatchObject({ email: { to: EMAIL, template_id: send.templateId } });
  });

  test('an unsubscribe that a server makes has the address of the person', async () => {
    const world = await open();
    const { id, secret } = await world.makeEndpoint(['email.unsubscribed']);
    const { externalId } = await withEmail(world);
    const made = await world.ask('POST', '/v1/unsubscribes', { email: EMAIL });
    expect(made.status).toBe(201);
    await workOn(database, world.projectId);
    await world.deliver(id);
    expect(verified(sink, secret)).toMatchObject([
      {
        type: 'email.unsubscribed',
        data: { person: { external_id: externalId }, email: { to: EMAIL, send_id: null } },
      },
    ]);
  });

  test('an endpoint gets the types that it subscribes to, and no others', async () => {
    const world = await open();
    const { id } = await world.makeEndpoint(['email.bounced', 'system.*']);
    const { report, process } = await withEmail(world);
    await report('delivered');
    await report('bounced', { bounceType: 'hard', occurredAt: at(2) });
    await process();
    expect(await world.listRows(id)).toMatchObject([{ type: 'email.bounced', status: 'waiting' }]);
  });

  test('an event that a server records under such a name is no event of an email', async () => {
    const world = await open();
    const { id } = await world.makeEndpoint(['email.*']);
    await acceptEvents(database.deps.db, world.projectId, newId(), [
      { ...newEvent(), name: 'email_sent', source: 'server' },
    ]);
    await workOn(database, world.projectId);
    expect(await world.listRows(id)).toEqual([]);
  });

  test('a project without subscriptions pays no statement for them', async () => {
    const world = await open();
    const flushId = newId();
    await acceptEvents(database.deps.db, world.projectId, flushId, [newEvent()]);
    const count = () =>
      world.within(async (scope) => {
        let statements = 0;
        const tx = new Proxy(scope.tx, {
          get: (target, name, receiver) => {
            statements += ['any', 'one', 'maybeOne', 'query'].includes(String(name)) ? 1 : 0;
            return Reflect.get(target, name, receiver) as unknown;
          },
        });
        await followEvents({ ...scope, tx }, [flushId]);
        return statements;
      });
    expect(await count()).toBe(1);
    await world.makeEndpoint(['email.*']);
    expect(await count()).toBe(2);
  });

  test('an erase leaves nothing to post of the person', async () => {
    const world = await open();
    const { id } = await world.makeEndpoint(['email.*']);
    const { ann, report, process } = await withEmail(world);
    await report('delivered');
    await process();
    const before = await world.listRows(id);
    expect(before.length).toBeGreaterThan(0);
    await eraseNow(database, world.projectId, ann.profileId);
    await world.deliver(id);
    expect(sink.requests).toEqual([]);
    expect(await world.listRows(id)).toEqual(
      before.map(({ type }) => ({ type, status: 'failed', attempts: 1, reason: 'person_erased' })),
    );
  });
});
