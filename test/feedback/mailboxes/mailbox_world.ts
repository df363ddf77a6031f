import { newId } from '../../../src/base/ids.ts';
import { sendQueued } from '../../../src/delivery/delivery.ts';
import { takeBounce } from '../../../src/feedback/feedback.ts';
import { takeEmail } from '../../../src/feedback/mailboxes/take_email.ts';
import { readMailbox } from '../../../src/providers/providers.ts';
import { saveTemplate } from '../../../src/rendering/rendering.ts';
import { newSend, OWNER } from '../../delivery/one_send.ts';
import { newPerson, tell } from '../../profiles/people.ts';
import { counterparts, fieldsOf, providersOf } from '../../providers/counterparts.ts';
import { NEVER, testDatabase } from '../../support/database.ts';
import { imapServer } from '../../support/imap_server.ts';
import { ownApi } from '../../support/own_api.ts';
import { until } from '../../support/until.ts';
import { EMAIL, projectTold } from '../project_told.ts';

/** A project whose SMTP provider has a bounce mailbox, and a person that it sends to. */
export const mailboxWorld = () => {
  const database = testDatabase();
  const sinks = counterparts(database);
  const imap = imapServer();
  const api = ownApi(database);

  const mailboxOf = (given: object = {}) => ({
    ...imap.settings,
    bounce_address: 'bounces@shop.test',
    verp: true,
    ...given,
  });

  /** A provider with a bounce mailbox, by the API. */
  const connect = async (given: object = {}): Promise<string> => {
    const fields = fieldsOf(sinks, 'smtp', { bounce_mailbox: mailboxOf(given) });
    const { status, body } = await providersOf(api).create(fields);
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.id;
  };

  /** A send to Ann that the relay has taken. */
  const sendToAnn = async (providerId: string, email = EMAIL) => {
    const { project_id: projectId, server_key: key } = api.project;
    const project = projectTold(database, projectId);
    const ann = await newPerson(database, projectId);
    await tell(database, ann, { traits: { email } });
    const template = { name: newId(), subject: 'Welcome', html: '<p>Hi</p>', text: null };
    const templateId = await project.sends.within((scope) => saveTemplate(scope, template));
    const send = newSend({
      providerId,
      templateId,
      recipient: email,
      addressKey: await project.keyOf(email),
      identityId: ann.identityId,
      profileId: ann.profileId,
    });
    await project.sends.plan(send);
    const before = sinks.smtp.mails.length;
    await sendQueued(database.deps, {
      projectId,
      providerId,
      owner: OWNER,
      signal: NEVER,
      takeBounce,
    });
    await until(
      'the hand-off has ended',
      async () => (await project.sends.read(send.sendId)).lease_owner === null,
    );
    const mail = sinks.smtp.mails[before];
    if (!mail) throw new Error('nothing was sent');
    const stand = async () => (await api.call('GET', `/v1/sends/${send.sendId}`, { key })).body;
    const listOf = async <T>(statement: string): Promise<T[]> =>
      (await database.owner.query(statement, [projectId])).rows as T[];
    return {
      ...project,
      /** What is stored of reports, the newest last. */
      notices: () =>
        listOf<{ kind: string; bounce_type: string | null; reason: string | null }>(
          `select kind, bounce_type, reason from feedback.notices where project_id = $1
          order by received_at, dedupe_key`,
        ),
      /** The names of the events that the service observed. */
      timeline: async () =>
        (
          await listOf<{ name: string }>(
            `select name from ingest.events where project_id = $1 and source = 'system'`,
          )
        ).map(({ name }) => name),
      send,
      mail,
      /** The header of the email, as a report returns it. */
      headers: mail.raw.toString().split('\r\n\r\n')[0] ?? '',
      stand,
    };
  };

  /** One turn of reading a mailbox, as a worker does it. */
  const read = (providerId: string, projectId = api.project.project_id) => {
    const which = { projectId, providerId };
    const take = (raw: Buffer) => takeEmail(database.deps, which, raw);
    return readMailbox(database.deps, which, { take });
  };

  /** Makes a mailbox due. */
  const makeDue = () =>
    database.owner.query(
      "update providers.bounce_mailboxes set next_read_at = now() - interval '1 ms'",
    );

  return { database, sinks, imap, api, mailboxOf, connect, sendToAnn, read, makeDue };
};
