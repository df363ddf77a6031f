// From the hand-off to what a topic of Amazon SNS reports of it: the whole way, for the owner and for a stranger.
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { addressKey } from '../../src/suppression/suppression.ts';
import { bounceOf, sesWorld } from '../feedback/ses_world.ts';
import { OTHER_TOPIC } from '../feedback/sns_service.ts';
import { someone } from '../feedback/webhooks_of.ts';
import { counterparts, fieldsOf, providersOf, sendOneOf } from '../providers/counterparts.ts';
import type { Counterparts } from '../providers/counterparts.ts';
import { expectRefusal } from '../support/api.ts';
import { MESSAGE_ID } from '../support/cloud_sink.ts';

let made: Counterparts;
const { database, api, hooks, ask, confirm, notify } = sesWorld((one) => {
  made = counterparts(one);
});
const providers = providersOf(api);
const sendOne = sendOneOf(database, api);

/** Makes a provider of a kind and sends one email through it. */
const sendThrough = async (kind: 'cloud_api' | 'relay_api' | 'smtp') => {
  const { id } = (await providers.create(fieldsOf(made, kind))).body;
  const recipient = someone();
  const key = await inProject(database.deps, api.project.project_id, (scope) =>
    Promise.resolve(addressKey(scope, recipient)),
  );
  const { id: sendId, to } = await sendOne(id, { recipient, addressKey: key });
  const { rows } = await database.owner.query<{ sent_through: string }>(
    'select sent_through from delivery.attempts where send_id = $1',
    [sendId],
  );
  return { id, sendId, email: to, service: rows[0]?.sent_through };
};

test('only the owner’s topic suppresses, and only who was emailed through Amazon SES', async () => {
  const sent = await sendThrough('cloud_api');
  expect(sent.service).toBe('amazon_ses');
  const event = bounceOf(sent.email, { messageId: MESSAGE_ID });

  expectRefusal(await ask({ TopicArn: OTHER_TOPIC }), 'topic_needs_approval');
  expectRefusal(await notify(event, { TopicArn: OTHER_TOPIC }), 'foreign_topic');
  expect(await hooks.reasonOf(sent.email)).toBeNull();

  expect((await confirm()).body.accepted).toBe(1);
  const stranger = bounceOf('never-emailed@example.test', { messageId: MESSAGE_ID });
  expect((await notify(stranger)).body).toMatchObject({ accepted: 0, ignored: 1 });
  expect(await hooks.reasonOf('never-emailed@example.test')).toBeNull();

  // The provider is deleted by the time that the bounce arrives.
  expect((await providers.remove(sent.id)).status).toBe(200);
  expect((await notify(event)).body.accepted).toBe(1);
  expect(await hooks.reasonOf(sent.email)).toBe('hard_bounce');
});

test.each([
  ['relay_api', 'smtp2go'],
  ['smtp', 'other'],
] as const)('a send through %s says so, and Amazon SES cannot bounce it', async (kind, service) => {
  const sent = await sendThrough(kind);
  expect(sent.service).toBe(service);
  await confirm();
  const { body } = await notify(bounceOf(sent.email, { sendId: sent.sendId }));
  expect(body).toMatchObject({ accepted: 0, ignored: 1 });
  expect(await hooks.reasonOf(sent.email)).toBeNull();
});
