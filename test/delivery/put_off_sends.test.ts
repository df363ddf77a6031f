// What its limits keep for now waits before anybody renders it; the hand-off asks again.
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { sendQueued } from '../../src/delivery/delivery.ts';
import { putOffSends } from '../../src/delivery/claim_queries.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { counterparts, fieldsOf, providersOf } from '../providers/counterparts.ts';
import { testApi } from '../support/api.ts';
import { NEVER, testDatabase } from '../support/database.ts';
import { cap, limitedSends, QUIET_LATER, QUIET_NOW, UNCONFIRMED_ONLY } from './limited.ts';
import { OWNER } from './one_send.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = testApi(database);
const HOUR = 3_600;

const opened = () => {
  const world = limitedSends(database);
  const putOff = async (...sendIds: string[]) => [
    ...(await world.sends.within((scope) => putOffSends(scope, sendIds, OWNER))),
  ];
  return { ...world, putOff };
};

test('in quiet hours a mail waits until they end: as if nobody had claimed it', async () => {
  const { sends, person, leased, waitsFor, putOff } = opened();
  const quiet = await leased(await person(), { limits: QUIET_NOW });
  const loud = await leased(await person(), { limits: QUIET_LATER });
  const free = await leased(await person());
  const all = [quiet, loud, free].map(({ sendId }) => sendId);
  expect(await putOff(...all)).toEqual([quiet.sendId]);
  expect(await sends.read(quiet.sendId)).toMatchObject({
    status: 'queued',
    status_reason: 'quiet_hours',
    lease_owner: null,
    attempt_count: 0,
  });
  expect(await waitsFor(quiet.sendId)).toBeGreaterThan(1.9 * HOUR);
  for (const { sendId } of [loud, free])
    expect(await sends.read(sendId)).toMatchObject({ lease_owner: OWNER, status_reason: null });
});

test('past a cap it waits until there is room; one that is not sent at all is left to the hand-off', async () => {
  const { person, leased, handedOver, waitsFor, putOff } = opened();
  const someone = await person();
  await handedOver(someone, '23 hours');
  const deferred = await leased(someone, { limits: cap() });
  const skipped = await leased(someone, { limits: cap({ over: 'skip' }) });
  const unsaid = await leased(await person(), { limits: UNCONFIRMED_ONLY });
  expect(await putOff(deferred.sendId, skipped.sendId, unsaid.sendId)).toEqual([deferred.sendId]);
  expect(await waitsFor(deferred.sendId)).toBeGreaterThan(0.9 * HOUR);
  expect(await waitsFor(deferred.sendId)).toBeLessThanOrEqual(HOUR);
});

test('mails that are claimed together do not keep each other waiting', async () => {
  const { person, leased, putOff } = opened();
  const someone = await person();
  const one = await leased(someone, { limits: cap({ sends: 2 }) });
  const other = await leased(someone, { limits: cap({ sends: 2 }) });
  expect(await putOff(one.sendId, other.sendId)).toEqual([]);
});

test('what somebody else has leased is not touched', async () => {
  const { sends, person, plan, putOff } = opened();
  const send = await plan(await person(), { limits: QUIET_NOW });
  await sends.claim(send.providerId, { owner: 'worker-2' });
  expect(await putOff(send.sendId)).toEqual([]);
  expect(await sends.read(send.sendId)).toMatchObject({ lease_owner: 'worker-2' });
});

test('a claim says which mails may be kept: not those whose limits were asked a moment ago', async () => {
  const { sends, person, plan } = opened();
  const claimed = async (send: { sendId: string; providerId: string }) =>
    (await sends.claim(send.providerId)).map(({ may_be_limited }) => may_be_limited);
  expect(await claimed(await plan(await person(), { limits: cap() }))).toEqual([false]);
  const waited = await plan(await person(), { limits: cap() });
  await sends.update(waited.sendId, "queued_at = now() - interval '1 minute'");
  expect(await claimed(waited)).toEqual([true]);
  const before = await plan(await person(), { limits: cap() });
  await sends.update(before.sendId, "status_reason = 'frequency_cap'");
  expect(await claimed(before)).toEqual([true]);
  const free = await plan(await person());
  await sends.update(free.sendId, "queued_at = now() - interval '1 minute'");
  expect(await claimed(free)).toEqual([false]);
});

test('a backlog in quiet hours is not rendered, and what comes after it goes out in the same turn', async () => {
  const { project_id: projectId } = api.project;
  const { sends, person, plan } = limitedSends(database, projectId);
  const { id: providerId } = (await providersOf(api).create(fieldsOf(sinks, 'smtp'))).body;
  const templateId = await inProject(database.deps, projectId, (scope) =>
    saveTemplate(scope, { name: 'W', subject: 'W', html: '<p>W</p>', text: null }),
  );
  const given = { providerId, templateId };
  for (let at = 0; at < 45; at += 1) await plan(await person(), { ...given, limits: QUIET_NOW });
  await database.owner.query(
    "update delivery.sends set queued_at = now() - interval '1 hour', due_at = now() - interval '1 minute'",
  );
  const { sendId } = await plan(await person(), given);
  const signal = NEVER;
  await sendQueued(database.deps, { projectId, providerId, owner: OWNER, signal, takeBounce });
  await expect.poll(async () => (await sends.read(sendId)).status).toBe('accepted');
  const { rows } = await database.owner.query(
    `select status, status_reason, count(*)::int as sends, count(content)::int as rendered
    from delivery.sends
    left join delivery.contents as content using (project_id, send_id)
    where project_id = $1 group by 1, 2 order by 1`,
    [projectId],
  );
  expect(rows).toEqual([
    { status: 'accepted', status_reason: null, sends: 1, rendered: 1 },
    { status: 'queued', status_reason: 'quiet_hours', sends: 45, rendered: 0 },
  ]);
});
