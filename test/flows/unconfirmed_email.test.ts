// What an email to an address that only a browser asserted may tell: nothing that a server or another browser said.
import { expect, test } from 'vitest';
import { attackedWorld, TEST_TIMEOUT_MS } from './attacked_world.ts';

const { get, asPage, asServer, mailing, settled, receivedBy } = attackedWorld();

const PHONE = '+49 151 5550001';
const STREET = 'Elm Street 13';
const ALL =
  '<p>{{ profile.first_name | default: "there" }} {{ profile.phone | default: "-" }} ' +
  '{{ profile.address.street | default: "-" }} {% for one in profile %}{{ one | json }}{% endfor %} ' +
  '{% for one in event %}{{ one | json }}{% endfor %}</p>';

const sendOf = async (email: string) =>
  (await get(`/v1/sends?email=${encodeURIComponent(email)}`)).items[0];

test(
  'traits set by a server do not leak to an address that a browser asserted for a known user id',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    await asServer('/v1/identify', {
      external_id: 'user-1',
      traits: { first_name: 'Ann', phone: PHONE, address: { street: STREET } },
    });
    const email = 'evil@attacker.test';
    await asPage('/v1/identify', {
      external_id: 'user-1',
      anonymous_id: 'attacker',
      traits: { email, first_name: 'Mallory' },
    });
    const event = await mailing({ subject: 'Your data', html: ALL });
    await asPage('/v1/events', {
      event,
      external_id: 'user-1',
      anonymous_id: 'attacker',
      properties: { plan: 'pro' },
    });
    expect(await settled(event, 1)).toEqual({ accepted: 1 });
    const [mail] = await receivedBy(email);
    // Neither what the server said, nor that it said anything: what the attacker typed stands there.
    expect(mail?.says).toContain('Mallory');
    expect(mail?.says).toContain('pro');
    for (const secret of ['Ann', '5550001', 'Elm']) expect(mail?.says).not.toContain(secret);

    // What a template needs and may not show ends the send, and says how to confirm the address.
    const needy = await mailing({ subject: 'Call {{ profile.phone }}' });
    await asPage('/v1/events', { event: needy, external_id: 'user-1', anonymous_id: 'attacker' });
    expect(await settled(needy, 1)).toEqual({ 'cancelled/unconfirmed_address': 1 });
    expect(await receivedBy(email)).toHaveLength(1);
    const send = await sendOf(email);
    expect(send).toMatchObject({ status: 'cancelled', status_reason: 'unconfirmed_address' });
    expect(send.status_fix).toContain('Identify the person with a server key');

    // A variable that nobody has is the template's own fault.
    const wrong = await mailing({ subject: '{{ profile.nowhere }}' });
    await asPage('/v1/events', { event: wrong, external_id: 'user-1', anonymous_id: 'attacker' });
    const [stands = ''] = Object.keys(await settled(wrong, 1));
    expect(stands).toMatch(/^failed_render/);
  },
);

test(
  'an address that a server confirms later gets everything again',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const email = 'late@known.test';
    await asServer('/v1/identify', { external_id: 'user-2', traits: { phone: PHONE } });
    await asPage('/v1/identify', { external_id: 'user-2', anonymous_id: 'b2', traits: { email } });
    const event = await mailing({ subject: 'Call {{ profile.phone }}' });
    await asPage('/v1/events', { event, external_id: 'user-2', anonymous_id: 'b2' });
    expect(await settled(event, 1)).toEqual({ 'cancelled/unconfirmed_address': 1 });

    await asServer('/v1/identify', { external_id: 'user-2', traits: { email } });
    await asPage('/v1/events', { event, external_id: 'user-2', anonymous_id: 'b2' });
    expect(await settled(event, 2)).toMatchObject({ accepted: 1 });
    expect((await receivedBy(email))[0]?.subject).toBe(`Call ${PHONE}`);
  },
);

test(
  'what the real user typed in their own browser does not go to the address of an attacker',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    // A sign-up form of several steps, in one browser.
    await asPage('/v1/identify', {
      external_id: 'user-3',
      anonymous_id: 'own-browser',
      traits: { first_name: 'Bea' },
    });
    await asPage('/v1/identify', {
      external_id: 'user-3',
      anonymous_id: 'own-browser',
      traits: { email: 'bea@new.test' },
    });
    await asPage('/v1/identify', {
      external_id: 'user-3',
      anonymous_id: 'own-browser',
      traits: { phone: PHONE },
    });
    const event = await mailing({ subject: 'Hello', html: ALL });
    const order = { event, external_id: 'user-3', anonymous_id: 'own-browser' };
    await asPage('/v1/events', { ...order, properties: { item: 'a red shoe' } });
    expect(await settled(event, 1)).toEqual({ accepted: 1 });
    const [own] = await receivedBy('bea@new.test');
    for (const said of ['Bea', '5550001', 'a red shoe']) expect(own?.says).toContain(said);

    const evil = 'evil3@attacker.test';
    await asPage('/v1/identify', {
      external_id: 'user-3',
      anonymous_id: 'other-browser',
      traits: { email: evil },
    });
    await asPage('/v1/events', { ...order, properties: { item: 'a red shoe' } });
    expect(await settled(event, 2)).toEqual({ accepted: 2 });
    const [leaked] = await receivedBy(evil);
    expect(leaked?.says).toContain(evil);
    for (const secret of ['Bea', '5550001', 'red shoe']) expect(leaked?.says).not.toContain(secret);
  },
);

test(
  'a browser without an anonymous id asserts only what comes with the address',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    await asPage('/v1/identify', { external_id: 'user-4', traits: { phone: PHONE } });
    const evil = 'evil4@attacker.test';
    await asPage('/v1/identify', {
      external_id: 'user-4',
      traits: { email: evil, first_name: 'Eve' },
    });
    const event = await mailing({ subject: 'Hello', html: ALL });
    await asPage('/v1/events', { event, external_id: 'user-4', properties: { item: 'a hat' } });
    expect(await settled(event, 1)).toEqual({ accepted: 1 });
    const [mail] = await receivedBy(evil);
    expect(mail?.says).toContain('Eve');
    for (const secret of ['5550001', 'a hat']) expect(mail?.says).not.toContain(secret);
  },
);

test(
  'an event of a server tells an unconfirmed address nothing',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const evil = 'evil5@attacker.test';
    await asPage('/v1/identify', {
      external_id: 'user-5',
      anonymous_id: 'x',
      traits: { email: evil },
    });
    const event = await mailing({ subject: 'Hello', html: ALL });
    await asServer('/v1/events', {
      event,
      external_id: 'user-5',
      properties: { invoice: 'IBAN DE02 1203' },
    });
    expect(await settled(event, 1)).toEqual({ accepted: 1 });
    expect((await receivedBy(evil))[0]?.says).not.toContain('DE02');
  },
);

test(
  'a trigger that requires a server starts nothing for the event of a browser, and explains that',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const email = 'dee@known.test';
    await asServer('/v1/identify', { external_id: 'dee', traits: { email } });
    const event = await mailing({ subject: 'Hello', source: 'server' });
    await asPage('/v1/events', { event, external_id: 'dee' });
    await asServer('/v1/events', { event, external_id: 'dee' });
    expect(await settled(event, 1)).toEqual({ accepted: 1 });
    expect(await receivedBy(email)).toHaveLength(1);
    await asPage('/v1/events', { event, external_id: 'dee' });
    const profile = await get('/v1/profiles?external_id=dee');
    const [automation] = (await get('/v1/automations?limit=1')).items;
    const path = `/v1/automations/${automation.id}/explain?profile_id=${profile.items[0].id}`;
    await expect.poll(async () => (await get(path)).stopped_by?.decision).toBe('source');
  },
);
