// A project whose topics ask, are confirmed and post: everything that tests of Amazon SES need around a webhook.
import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach } from 'vitest';
import type { SnsMessage } from '../../src/feedback/sns.ts';
import { createProject } from '../../src/projects/projects.ts';
import { addressKey } from '../../src/suppression/suppression.ts';
import { sendsOf } from '../delivery/one_send.ts';
import { testApi } from '../support/api.ts';
import type { Answer, Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { confirmationOf, notificationOf, signMessage, snsService } from './sns_service.ts';
import { HARD_REPORT, sesEvent } from './told.ts';
import { someone, webhooksOf } from './webhooks_of.ts';

export const TEXT = { contentType: 'text/plain; charset=UTF-8' };
export type Unsigned = Omit<SnsMessage, 'Signature'>;

/** What an event of theirs says about the message: the send id in a tag, or their id of the message. */
export type About = { sendId?: string; messageId?: string };

const mailOf = ({ sendId, messageId = `0102-${randomUUID()}-000000` }: About) => ({
  messageId,
  ...(sendId === undefined ? {} : { tags: { send_id: [sendId] } }),
});

export const bounceOf = (emailAddress: string, about: About = {}, bounce: object = {}) =>
  sesEvent(
    'Bounce',
    {
      bounceType: 'Permanent',
      bounceSubType: 'General',
      feedbackId: randomUUID(),
      bouncedRecipients: [{ emailAddress, ...HARD_REPORT }],
      ...bounce,
    },
    mailOf(about),
  );

export const complaintOf = (emailAddress: string, about: About = {}) =>
  sesEvent(
    'Complaint',
    { feedbackId: randomUUID(), complainedRecipients: [{ emailAddress }] },
    mailOf(about),
  );

/** A fresh project for each test, beside a stand-in for Amazon SNS. `before` is what the API needs besides. */
export const sesWorld = (before: (database: TestDatabase) => void = () => {}) => {
  const database = testDatabase();
  before(database);
  const service = snsService();
  beforeAll(() => {
    const { deps } = database;
    database.deps = { ...deps, config: { ...deps.config, snsUrl: service.url } };
  });
  const api = testApi(database);
  const hooks = webhooksOf(database, api);
  beforeEach(async () => {
    api.project = await createProject(database.deps, 'fresh');
    service.mood = 'well';
    service.asked.length = 0;
    // No certificate of another test is known.
    await database.deps.resources.close();
  });

  const post = (message: Unsigned, call: Call = TEXT, slug = 'amazon-ses'): Promise<Answer> =>
    hooks.post(slug, signMessage(message, service.signer), call);
  const withToken = (message: Unsigned, token = api.project.hook_token): Promise<Answer> =>
    hooks.post('amazon-ses', signMessage(message, service.signer), TEXT, `?token=${token}`);
  /** A topic asks to be confirmed: without the token, and with it. */
  const ask = (given: Partial<Unsigned> = {}) => post(confirmationOf(given));
  const confirm = (given: Partial<Unsigned> = {}) => withToken(confirmationOf(given));
  const notify = (event: unknown, given: Partial<Unsigned> = {}) =>
    post(notificationOf(event, given));
  const webhook = () => hooks.describe('amazon-ses');
  const decide = (topicId: string, verb: 'approve' | 'reject') =>
    hooks.manage('POST', `/amazon-ses/topics/${topicId}/${verb}`);
  const rejectAll = (topicIds: readonly string[]) =>
    hooks.manage('POST', '/amazon-ses/reject-topics', { topic_ids: topicIds });
  const remove = (topicId: string) => hooks.manage('DELETE', `/amazon-ses/topics/${topicId}`);
  const confirmedAtAmazon = () => service.asked.filter(({ path }) => path.includes('Confirm'));

  /** A send that this project handed to Amazon SES, and what Amazon calls the message. */
  const sentTo = async (
    email = someone(),
    through: 'amazon_ses' | 'mailgun' | 'smtp2go' | 'other' = 'amazon_ses',
  ) => {
    const sends = sendsOf(database, api.project.project_id);
    const key = await sends.within((scope) => Promise.resolve(addressKey(scope, email)));
    const send = await sends.handingOff({ recipient: email, addressKey: key }, through);
    const messageId = `0102-${randomUUID()}-000000`;
    const accept = () => sends.end(send.sendId, 'accepted', { providerMessageId: messageId });
    return { ...send, email, sends, messageId, accept };
  };
  const accepted = async (...given: Parameters<typeof sentTo>) => {
    const send = await sentTo(...given);
    await send.accept();
    return send;
  };
  const posting = { database, service, api, hooks, post, withToken, ask, confirm, notify, webhook };
  return { ...posting, decide, rejectAll, remove, confirmedAtAmazon, sentTo, accepted };
};
