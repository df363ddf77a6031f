// An attack that was found: a page chooses recipients and words that the relay refuses, so that no email leaves a
// project. The answers concern the emails of the page: nothing counts against the provider.
import { afterEach, expect, test } from 'vitest';
import { IDENTICAL_REFUSALS_MAX } from '../../src/delivery/refusal_streak.ts';
import { until } from '../support/until.ts';
import type { Action } from '../support/smtp_script.ts';
import { attackedWorld, REMEMBER, TEST_TIMEOUT_MS } from './attacked_world.ts';

const { world, asServer, batch, mailing, settled } = attackedWorld();
const REFUSED = 2 * IDENTICAL_REFUSALS_MAX;
afterEach(() => world.sink.script.reset());

/** Waits until the relay has answered each email of an event's automation. */
const answered = (event: string, count: number) =>
  until(`${count} answers to ${event}`, async () => {
    const { rows } = await world.owner.query(
      `select count(*)::int as count from delivery.sends as send
       join automations.automations as automation using (project_id, automation_id)
       where automation.name = $1 and send.attempt_count > 0 and send.status <> 'handing_off'`,
      [event],
    );
    return rows[0].count === count ? true : null;
  });
const paces = async () => {
  const { rows } = await world.owner.query(
    `select failure_count, opened_until, held_reason, learned_rate, refused_count
     from providers.paces where project_id = $1`,
    [world.project.project_id],
  );
  return rows;
};

const ACCESS = { code: 550, text: '5.7.1 Recipient address rejected: Access denied' };
const ERRORS = { code: 421, text: '4.7.0 Error: too many errors' };
const CROWDED = { code: 421, text: '4.7.0 Too many connections' };
const LATER = { code: 451, text: '4.3.0 Temporary failure' };
const ACCOUNT = { code: 550, text: '5.7.1 Account suspended' };
const SPAM = { code: 550, text: '5.7.1 Message rejected as spam' };

test.each<[string, 'unconfirmed' | 'confirmed', 'rcpt' | 'body' | 'end', Action]>([
  ['a refusal', 'unconfirmed', 'rcpt', ACCESS],
  ['a refusal', 'confirmed', 'rcpt', ACCESS],
  ['a refusal of the words', 'confirmed', 'end', SPAM],
  ['words about the account', 'unconfirmed', 'rcpt', ACCOUNT],
  ['the end of the connection', 'unconfirmed', 'rcpt', ERRORS],
  ['the end of the connection', 'confirmed', 'rcpt', CROWDED],
  ['trouble of the relay', 'confirmed', 'rcpt', LATER],
  ['a lost connection', 'unconfirmed', 'rcpt', 'drop'],
  ['a lost connection after the text', 'confirmed', 'end', 'drop'],
])(
  'attack: %s for %s recipients that a page chose, at %s, stops and slows no email of a server',
  { timeout: TEST_TIMEOUT_MS },
  async (_what, address, stage, action) => {
    const host = `nowhere-${crypto.randomUUID().slice(0, 8)}.test`;
    world.sink.play(stage, action, { when: ({ to }) => String(to).includes(host) });
    const signUp = await mailing({ subject: 'Welcome', ...REMEMBER });
    const order = await mailing({ subject: 'Your order', source: 'server' });
    await asServer('/v1/identify', { external_id: 'ann', traits: { email: 'ann@shop.test' } });

    const people = Array.from({ length: REFUSED }, (_, at) => ({
      id: `${host}-${at}`,
      email: `a${at}@${host}`,
    }));
    if (address === 'confirmed')
      for (const { id, email } of people)
        await asServer('/v1/identify', { external_id: id, traits: { email } });
    await batch(
      people.map(({ id, email }) => ({
        event: signUp,
        ...(address === 'confirmed' ? { external_id: id } : { anonymous_id: id }),
        properties: { email },
      })),
    );
    await answered(signUp, REFUSED);
    const unhurt = { failure_count: 0, opened_until: null, held_reason: null, learned_rate: null };
    expect([[], [{ ...unhurt, refused_count: 0 }]]).toContainEqual(await paces());
    await asServer('/v1/events', { event: order, external_id: 'ann' });
    expect(await settled(order, 1)).toEqual({ accepted: 1 });
  },
);

test(
  'at a relay that respects case, another capitalization that a page signs up can suppress an address',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    const NO_MAILBOX = { code: 550, text: '5.1.1 The email account does not exist' };
    const isInCapitals = ({ to }: { to: string[] }) => String(to).includes('BEN@');
    world.sink.play('rcpt', NO_MAILBOX, { when: isInCapitals });
    const signUp = await mailing({ subject: 'Welcome', ...REMEMBER });
    const order = await mailing({ subject: 'Your order', source: 'server' });
    await asServer('/v1/identify', { external_id: 'ben', traits: { email: 'ben@shop.test' } });
    const properties = { email: 'BEN@shop.test' };
    await batch([{ event: signUp, anonymous_id: 'page-of-ben', properties }]);
    expect(await settled(signUp, 1)).toEqual({ 'rejected/recipient_refused': 1 });
    await asServer('/v1/events', { event: order, external_id: 'ben' });
    expect(await settled(order, 1)).toEqual({ 'suppressed/suppressed': 1 });
  },
);
