// What a rejected email says that is queued again.
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { countRejected, requeue, requeueAll } from '../../src/delivery/requeue.ts';
import { prepareSends } from '../../src/delivery/prepare.ts';
import { saveVersion } from '../../src/rendering/rendering.ts';
import { newPerson, tell } from '../profiles/people.ts';
import { keepTemplateAsIs } from '../support/kept_template.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, OWNER, sendsOf } from './one_send.ts';
import { readyOf } from './ready.ts';

const database = testDatabase();
const TEXT = { html: '<p>Hi</p>', text: null };

test('it is rendered anew: with the template version of its plan and the traits of today', async () => {
  const person = await newPerson(database);
  const { projectId, profileId } = person;
  await tell(database, person, { traits: { name: 'Ann', email: 'ann@example.com' } });
  const sends = sendsOf(database, projectId);
  const [templateId, providerId] = [newId(), newId()];
  const subject = 'Hello {{ profile.name }}';
  await keepTemplateAsIs(database.owner, projectId, templateId, { subject, html: TEXT.html });
  const send = newSend({ recipient: 'ann@example.com', providerId, templateId, profileId });
  await sends.plan(send);
  const prepare = async () => {
    const claimed = await sends.claim(providerId);
    const ready = readyOf(projectId, providerId);
    return prepareSends(database.deps, { projectId, owner: OWNER, ready, claimed, isBare: false });
  };
  expect((await prepare()).built[0]?.subject).toBe('Hello Ann');
  await sends.update(send.sendId, "status = 'rejected', status_reason = 'message_refused'");

  await sends.within((scope) =>
    saveVersion(scope, templateId, { ...TEXT, name: 'Welcome', subject: 'Goodbye' }),
  );
  await tell(database, person, { traits: { name: 'Anna' } });
  await requeue(database.deps, projectId, send.sendId);
  await sends.update(send.sendId, 'lease_owner = null, lease_until = null');
  expect((await prepare()).built[0]?.subject).toBe('Hello Anna');
});

test('those that can be queued again are counted, up to a number, of one provider or of all', async () => {
  const { projectId } = await newPerson(database);
  const sends = sendsOf(database, projectId);
  const [one, other] = [newId(), newId()];
  for (const providerId of [one, one, other]) {
    const { sendId } = await sends.handingOff({ providerId });
    await sends.end(sendId, 'rejected', { reason: 'message_refused' });
  }
  const count = (provider_id?: string, countMax?: number) =>
    inProject(database.deps, projectId, (scope) =>
      countRejected(scope, { reason: 'message_refused', provider_id }, countMax),
    );
  expect(await count(one)).toEqual({ count: 2, is_capped: false });
  expect(await count()).toEqual({ count: 3, is_capped: false });
  expect(await count(undefined, 3)).toEqual({ count: 3, is_capped: false });
  expect(await count(undefined, 2)).toEqual({ count: 2, is_capped: true });
  await requeueAll(database.deps, projectId, { reason: 'message_refused', provider_id: one });
  expect(await count(one)).toEqual({ count: 0, is_capped: false });
});
