// What counts under a frequency cap, and until when.
import { expect, test } from 'vitest';
import { later } from '../../src/automations/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { stepHandOffs } from '../../src/delivery/hand_off_queries.ts';
import { withSecondIdentity } from '../profiles/people.ts';
import type { Someone } from '../profiles/people.ts';
import { testDatabase } from '../support/database.ts';
import { cap, limitedSends } from './limited.ts';
import { unresolved } from './one_send.ts';

const database = testDatabase();
const NOW = '2026-06-15T12:00:00Z';

type Given = Parameters<typeof cap>[0] & {
  sendId?: string;
  automationId?: string;
  zone?: string;
  isBrowser?: boolean;
};
const until = async (
  { projectId }: { projectId: string },
  identityIds: string[],
  {
    sendId = newId(),
    automationId = newId(),
    zone = 'UTC',
    isBrowser = false,
    ...given
  }: Given = {},
  at = NOW,
): Promise<string | null> => {
  await database.owner.query('select set_config($1, $2, false)', ['timezone', zone]);
  const { rows } = await database.owner.query<{ until: Date | null; is_under_way: boolean }>(
    'select * from delivery.capped_until($1, $2, $3, $4, $5, $6, $7)',
    [projectId, sendId, automationId, identityIds, cap(given).frequency_cap, isBrowser, at],
  );
  if (rows[0]?.is_under_way) return 'under way';
  return rows[0]?.until?.toISOString().replace('.000Z', 'Z') ?? null;
};

/** Somebody who was handed mails at these moments. */
const mailedAt = async (...moments: string[]) => {
  const sent = limitedSends(database);
  const person = await sent.person();
  const ids: string[] = [];
  for (const at of moments) {
    const { sendId } = await sent.handedOver(person, '0');
    await sent.sends.update(sendId, `handed_off_at = '${at}'`);
    ids.push(sendId);
  }
  return { sent, person, ids };
};

test('below the cap there is room; at it there is once the oldest that counts has had its time', async () => {
  const { sent, person } = await mailedAt(
    '2026-06-09T08:00:00Z',
    '2026-06-12T09:00:00Z',
    '2026-06-14T10:00:00Z',
  );
  const ask = (sends: number, at?: string) =>
    until(sent, [person.identityId], { sends, per: 'P7D' }, at);
  expect(await ask(4)).toBeNull();
  expect(await ask(3)).toBe('2026-06-16T08:00:00Z');
  expect(await ask(2)).toBe('2026-06-19T09:00:00Z');
  expect(await ask(1)).toBe('2026-06-21T10:00:00Z');
  expect(await ask(3, '2026-06-16T07:59:59.999Z')).toBe('2026-06-16T08:00:00Z');
  expect(await ask(3, '2026-06-16T08:00:00Z')).toBeNull();
});

test('all identities of a person count together, and nobody else', async () => {
  const { sent, person } = await mailedAt('2026-06-15T08:00:00Z');
  const device = await withSecondIdentity(database, person);
  expect(await until(sent, [device.identityId])).toBeNull();
  expect(await until(sent, [device.identityId, person.identityId])).toBe('2026-06-16T08:00:00Z');
  expect(await until(sent, [])).toBeNull();
  expect(await until({ projectId: newId() }, [person.identityId])).toBeNull();
});

test('a cap of an automation counts its own mails, one of the project all', async () => {
  const { sent, person, ids } = await mailedAt('2026-06-15T08:00:00Z');
  const [sendId = ''] = ids;
  const automationId = newId();
  const asked = { of: 'automation', automationId } as const;
  expect(await until(sent, [person.identityId], asked)).toBeNull();
  await sent.sends.update(sendId, `automation_id = '${automationId}'`);
  expect(await until(sent, [person.identityId], asked)).toBe('2026-06-16T08:00:00Z');
});

test.each([
  ['accepted', true],
  ['unknown', true],
  ['queued', false],
  ['rejected', false],
  ['not_sent', false],
  ['cancelled', false],
  ['expired', false],
  ['suppressed', false],
])('a hand-off that is %s counts: %s', async (status, counts) => {
  const { sent, person, ids } = await mailedAt('2026-06-15T08:00:00Z');
  await sent.sends.update(ids[0] ?? '', `status = '${status}'`);
  expect((await until(sent, [person.identityId])) !== null).toBe(counts);
});

test('what is under way counts as that, where what is settled leaves room', async () => {
  const { sent, person, ids } = await mailedAt('2026-06-15T08:00:00Z', '2026-06-15T09:00:00Z');
  const ask = (sends: number) => until(sent, [person.identityId], { sends });
  await sent.sends.update(ids[1] ?? '', `status = 'handing_off'`);
  expect(await ask(3)).toBeNull();
  expect(await ask(2)).toBe('under way');
  expect(await ask(1)).toBe('2026-06-16T08:00:00Z');
});

test('what waits to be sent again and may be out counts, but not for itself', async () => {
  const sent = limitedSends(database);
  const person: Someone = await sent.person();
  const { identityId, profileId } = person;
  const { send } = await unresolved(database, { identityId, profileId }, sent.projectId);
  await sent.sends.update(send.sendId, `handed_off_at = '2026-06-15T08:00:00Z'`);
  expect(await until(sent, [identityId])).toBe('2026-06-16T08:00:00Z');
  expect(await until(sent, [identityId], { sendId: send.sendId })).toBeNull();
});

test.each([
  ['2026-01-31T12:00:00Z', 'P1M', 'UTC'],
  ['2026-03-28T12:00:00Z', 'P1D', 'Europe/Berlin'],
  ['2026-03-28T12:00:00Z', 'PT24H', 'Europe/Berlin'],
  ['2026-10-20T12:00:00Z', 'P1W', 'America/New_York'],
  ['2026-02-01T12:00:00Z', 'P1M2DT3H30M', 'Asia/Tokyo'],
])('what was sent at %s counts for %s on the calendar of %s', async (at, per, zone) => {
  const { sent, person } = await mailedAt(at);
  const ends = later(new Date(at), per, zone);
  const ask = (moment: Date) =>
    until(sent, [person.identityId], { per, zone }, moment.toISOString());
  const said = ends.toISOString().replace('.000Z', 'Z');
  expect(await ask(new Date(ends.getTime() - 1))).toBe(said);
  expect(await ask(ends)).toBeNull();
});

test('mail of a test counts for nobody', async () => {
  const { sent, person, ids } = await mailedAt('2026-06-15T08:00:00Z');
  await sent.sends.update(ids[0] ?? '', 'is_test = true');
  expect(await until(sent, [person.identityId])).toBeNull();
});

test('attack: browser-triggered email uses up no cap of a send that a server caused', async () => {
  const { sent, person, ids } = await mailedAt('2026-06-15T08:00:00Z', '2026-06-15T09:00:00Z');
  const [first = '', second = ''] = ids;
  const ask = (isBrowser: boolean) => until(sent, [person.identityId], { isBrowser });
  await sent.sends.update(first, `limits = '{"browser_triggered": true, "zone": "UTC"}'`);
  expect([await ask(false), await ask(true)]).toEqual([
    '2026-06-16T09:00:00Z',
    '2026-06-16T09:00:00Z',
  ]);
  await sent.sends.update(second, `limits = '{"browser_triggered": true, "zone": "UTC"}'`);
  expect([await ask(false), await ask(true)]).toEqual([null, '2026-06-16T09:00:00Z']);
  await sent.sends.update(second, `status = 'handing_off'`);
  expect([await ask(false), await ask(true)]).toEqual([null, '2026-06-16T08:00:00Z']);
});

test('attack: a server’s send counts no browser-triggered one, handed over before or together', async () => {
  const { projectId, sends, person, leased, handedOver, beginOf } = limitedSends(database);
  const someone = await person();
  const limits = cap({ over: 'skip' });
  const byPage = { limits: { ...limits, browser_triggered: true as const } };
  await handedOver(someone, '1 hour', { limits: { browser_triggered: true, zone: 'UTC' } });
  expect(await sends.begin(await leased(someone, byPage))).toBe('cancelled');
  const device = await withSecondIdentity(database, someone);
  const free = { limits: { browser_triggered: true as const, zone: 'UTC' } };
  const step = [await leased(device, free), await leased(someone, { limits })];
  const begun = step.map((send) => beginOf(send));
  const decisions = await stepHandOffs(database.deps.db, projectId, [], begun);
  expect([...decisions.values()]).toEqual(['handing_off', 'handing_off']);
  expect(await sends.begin(await leased(someone, { limits }))).toBe('queued');
});
