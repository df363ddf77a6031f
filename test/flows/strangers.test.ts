// What a stranger can have sent with a page's publishable key: through the real API, by two workers, over a real relay.
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { suppress, unsubscribe } from '../../src/suppression/suppression.ts';
import { attackedWorld, DEFAULTS, REMEMBER, TEST_TIMEOUT_MS } from './attacked_world.ts';
import { until } from '../support/until.ts';

const { world, get, asPage, asServer, batch, mailing, settled, decide, receivedBy } =
  attackedWorld();

test(
  '60 foreign addresses: no more than the hourly budget get an email, the others wait, visibly',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    await decide({ ...DEFAULTS, unconfirmed_sends_max: 20 });
    const event = await mailing({ subject: 'Hello {{ profile.first_name }}', ...REMEMBER });
    const foreign = Array.from({ length: 60 }, (_, at) => `stranger-${at}@foreign.test`);
    await batch(
      foreign.map((email, at) => ({
        event,
        anonymous_id: `device-${at}`,
        properties: { email, first_name: 'Your account is locked: https://evil.example/unlock' },
      })),
    );
    expect(await settled(event, 60)).toEqual({ accepted: 20, 'queued/unconfirmed_budget': 40 });
    const mails = world.sink.mails.filter(({ to }) => foreign.includes(to[0] ?? ''));
    expect(mails).toHaveLength(20);
    expect(new Set(mails.map(({ headers }) => headers['subject']))).toEqual(
      new Set(['Hello Your account is locked']),
    );

    const { items } = await get('/v1/sends?status=queued&limit=1');
    expect(await get(`/v1/sends/${items[0].id}`)).toMatchObject({
      status_reason: 'unconfirmed_budget',
      waits_for: { because: 'unconfirmed_budget', fix: expect.stringContaining('budget') },
    });

    await decide(DEFAULTS);
    await until('the others are sent', async () => (await settled(event, 60))['accepted'] === 60);
  },
);

test(
  '40 emails from 40 browser events to one confirmed recipient: three a day, transactional too',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const email = 'ann@known.test';
    await asServer('/v1/identify', { external_id: 'ann', traits: { email } });
    const events = [
      await mailing({ subject: 'One' }),
      await mailing(
        { subject: 'Two' },
        {
          category: 'transactional',
          re_entry: { by_property: 'at' },
        },
      ),
    ];
    for (const event of events)
      await batch(
        Array.from({ length: 20 }, (_, at) => ({ event, external_id: 'ann', properties: { at } })),
      );
    for (const event of events) await settled(event, 20);
    expect(await receivedBy(email)).toHaveLength(3);

    const { items } = await get('/v1/profiles/external_id:ann/events?limit=100');
    const skipped = items.filter((one: { event: string }) => one.event === 'email_skipped');
    // The timeline has one for each automation and day: a stranger does not flood it.
    const of = skipped.map(({ properties }: { properties: object }) => properties);
    expect(of).toEqual(events.map(() => expect.objectContaining({ reason: 'recipient_cap' })));

    // Its own server is no stranger.
    const [first = ''] = events;
    for (let at = 0; at < 5; at += 1)
      await asServer('/v1/events', { event: first, external_id: 'ann' });
    await settled(first, 25);
    expect(await receivedBy(email)).toHaveLength(8);
  },
);

test(
  'plus-addressing, dots and capitals are one mailbox',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const event = await mailing({ subject: 'Hello', ...REMEMBER });
    const spelled = [
      ...Array.from({ length: 10 }, (_, at) => `victim+${at}@gmail.com`),
      'v.i.c.t.i.m@gmail.com',
      'VICTIM@GoogleMail.com',
    ];
    await batch(
      spelled.map((email, at) => ({ event, anonymous_id: `tag-${at}`, properties: { email } })),
    );
    const stands = await settled(event, spelled.length);
    expect(stands['accepted']).toBe(1);
    expect(world.sink.mails.filter(({ to }) => /gmail|googlemail/i.test(to[0] ?? ''))).toHaveLength(
      1,
    );

    await decide({ ...DEFAULTS, recipient_sends_max: 2 });
    for (let at = 0; at < 6; at += 1)
      await asServer('/v1/identify', {
        external_id: `tagged-${at}`,
        traits: { email: `bob+${at}@known.test` },
      });
    const other = await mailing({ subject: 'Hello' });
    await batch(
      Array.from({ length: 6 }, (_, at) => ({ event: other, external_id: `tagged-${at}` })),
    );
    expect((await settled(other, 6))['accepted']).toBe(2);
    await decide(DEFAULTS);
  },
);

test(
  'attack: a page asserts other spellings of a mailbox that is suppressed or unsubscribed: none gets an email',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const event = await mailing({ subject: 'Hello', ...REMEMBER });
    const { deps, project } = world;
    const leave = (email: string) =>
      inProject(deps, project.project_id, (scope) => unsubscribe(scope, { email, source: 'link' }));
    await inProject(deps, project.project_id, (scope) =>
      suppress(scope, { email: 'sup1@known.test', reason: 'manual', source: 'api' }),
    );
    await leave('plain@known.test');
    // A server emails one spelling, and its recipient unsubscribes.
    const email = 'v+shop@known.test';
    const ordered = await mailing({ subject: 'Thank you', ...REMEMBER });
    await asServer('/v1/events', { event: ordered, external_id: 'v', properties: { email } });
    expect(await settled(ordered, 1)).toEqual({ accepted: 1 });
    await leave(email);

    const asserted = ['sup1+a@known.test', 'plain+a@known.test', 'v@known.test', 'v+b@known.test'];
    await batch(
      asserted.map((address, at) => ({
        event,
        anonymous_id: `spelled-${at}`,
        properties: { email: address },
      })),
    );
    const stopped = { 'suppressed/suppressed': 1, 'suppressed/unsubscribed': 3 };
    expect(await settled(event, 4)).toEqual(stopped);
    for (const address of asserted) expect(await receivedBy(address)).toEqual([]);

    // What a server causes goes to every address but the one that is suppressed or unsubscribed.
    for (const [at, address] of [...asserted, email].entries())
      await asServer('/v1/events', {
        event,
        external_id: `own-${at}`,
        properties: { email: address },
      });
    expect(await settled(event, 9)).toEqual({
      accepted: 4,
      'suppressed/suppressed': 1,
      'suppressed/unsubscribed': 4,
    });
  },
);

test(
  'a URL in first_name reaches neither subject, preheader nor body, of a confirmed recipient neither',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const email = 'cid@known.test';
    await asServer('/v1/identify', { external_id: 'cid', traits: { email } });
    const evil =
      'Cid www.evil.example evil。com\r\nBcc: x@evil.example <a href=//evil.com>here</a>';
    await asPage('/v1/identify', {
      external_id: 'cid',
      anonymous_id: 'c',
      traits: { first_name: evil },
    });
    const event = await mailing({
      subject: 'Hi {{ profile.first_name }}{{ event.note }}',
      html: '<p>{{ profile.first_name | raw }} {{ event.note | raw }} {{ event.count | plus: 1 }}</p>',
    });
    await asPage('/v1/events', {
      event,
      external_id: 'cid',
      properties: { note: 'see javascript:alert(1)', count: 3 },
    });
    await settled(event, 1);
    const [mail] = await receivedBy(email);
    expect(mail?.subject).toBe('Hi Cid Bcc: asee');
    expect(mail?.says).not.toMatch(/evil|javascript/i);
    expect(mail?.says).toMatch(/ 4</);
  },
);
