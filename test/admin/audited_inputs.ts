import { newId } from '../../src/base/ids.ts';
import { holdSending } from '../../src/base/sending.ts';
import { SHOWN_EMAIL, SHOWN_ID } from '../http/as_shown.ts';
import { API_KEY } from '../support/relay_sink.ts';
import type { TestDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import { sendChanges } from './send_inputs.ts';
import { editorChanges, editorReadings } from './editor_inputs.ts';

const SIGNING_KEY = { slug: 'mailgun', signing_key: 'a-signing-key' };
/** What a change is tried in: a project in which the documents' examples find what they name. */
export type Given = {
  database: TestDatabase;
  projectId: string;
  /** What the example of the endpoint that does the same posts. */
  body: object;
  /** Makes an invitation or a request through the API itself, which is not counted. */
  call: (procedure: string, input: object) => Promise<Record<string, string>>;
};

type InputOf = (given: Given) => object | Promise<object>;

const keyOf = async ({ database, projectId }: Given, kind: string): Promise<string> =>
  (
    await database.owner.query(
      'select key_id from projects.api_keys where project_id = $1 and kind = $2',
      [projectId, kind],
    )
  ).rows[0].key_id;

const member = async ({ database, projectId }: Given): Promise<string> =>
  (await makePerson(database, { projectId, role: 'viewer' })).personId;

const invite = ({ call, projectId }: Given) =>
  call('invitations.invite', {
    projectId,
    email: `${newId()}@people.test`,
    role: 'viewer',
    password: PASSWORD,
  });

const ask = async ({ call, database }: Given): Promise<string> => {
  const email = `${newId()}@people.test`;
  await call('access.request', { email, name: 'Ann', purpose: 'A newsletter' });
  const { rows } = await database.owner.query(
    'select access_request_id from admin.access_requests where email = $1',
    [email],
  );
  return rows[0].access_request_id;
};

const tokenOf = (path = ''): string => path.split('#')[1] ?? '';
const password = PASSWORD;

export type Tried = {
  /** The endpoint that does the same, where what it needs is made as for its example. */
  like?: string;
  input: InputOf;
};
export type Change = Tried & { in: 'project' | 'installation' };

/**
 * Of every procedure that changes something: an input with which it does. `installation` changes what belongs to no
 * project, `project` the project that is given, or one that it makes.
 */
export const changes: Record<string, Change> = {
  ...editorChanges,
  'account.endSession': {
    in: 'installation',
    input: async ({ database }) => ({
      sessionId: (
        await database.owner.query(
          `select session_id from admin.sessions where person_id = (
            select person_id from admin.people where is_admin order by created_at limit 1
          ) order by created_at limit 1`,
        )
      ).rows[0].session_id,
    }),
  },
  'account.endOtherSessions': { in: 'installation', input: () => ({}) },
  'account.changePassword': {
    in: 'installation',
    input: () => ({ old_password: PASSWORD, new_password: PASSWORD }),
  },
  'access.approve': {
    in: 'project',
    input: async (given) => ({
      accessRequestId: await ask(given),
      projectId: given.projectId,
      role: 'editor',
    }),
  },
  'access.refuse': {
    in: 'installation',
    input: async (given) => ({ accessRequestId: await ask(given) }),
  },
  'people.invite': {
    in: 'installation',
    input: () => ({ email: `${newId()}@people.test`, password }),
  },
  'people.revokeInvitation': {
    in: 'installation',
    input: async ({ call }) => ({
      invitationId: (await call('people.invite', { email: `${newId()}@people.test`, password }))[
        'id'
      ],
    }),
  },
  'people.remove': {
    in: 'installation',
    input: async (given) => ({ personId: await member(given), password }),
  },
  'installation.resumeSending': {
    in: 'installation',
    input: async ({ database }) => {
      await holdSending(database.deps.db);
      return { overdue: 'send', password };
    },
  },
  'projects.make': { in: 'project', input: () => ({ name: 'Another' }) },
  'projects.rename': { in: 'project', input: () => ({ name: 'Renamed' }) },
  'members.changeRole': {
    in: 'project',
    input: async (given) => ({ personId: await member(given), role: 'editor' }),
  },
  'members.remove': {
    in: 'project',
    input: async (given) => ({ personId: await member(given) }),
  },
  'members.leave': {
    in: 'project',
    input: async ({ database, projectId }) => {
      await database.owner.query(
        `insert into admin.members select $1, person_id, 'editor', now() from admin.people where is_admin`,
        [projectId],
      );
      return {};
    },
  },
  'invitations.invite': {
    in: 'project',
    input: () => ({ email: `${newId()}@people.test`, role: 'viewer' }),
  },
  'invitations.revoke': {
    in: 'project',
    input: async (given) => ({ invitationId: (await invite(given))['id'] }),
  },
  'invitations.accept': {
    in: 'project',
    input: async (given) => ({ token: tokenOf((await invite(given))['path']), password }),
  },
  'keys.issue': { in: 'project', input: () => ({ kind: 'server', password }) },
  'quotas.change': {
    in: 'project',
    input: () => ({ newProfilesPerDay: 10, storedBytesPerDay: 1_000_000 }),
  },
  'keys.revoke': {
    in: 'project',
    input: async (given) => ({ keyId: await keyOf(given, 'publishable') }),
  },
  ...sendChanges,
  'links.undo': { in: 'project', input: () => ({ linkId: SHOWN_ID }) },
  'suppressions.suppress': { in: 'project', input: () => ({ email: 'new@example.com' }) },
  'suppressions.lift': {
    in: 'project',
    input: () => ({ email: SHOWN_EMAIL, reason: 'They asked' }),
  },
  'suppressions.unsubscribe': { in: 'project', input: () => ({ email: 'new@example.com' }) },
  'suppressions.resubscribe': {
    in: 'project',
    input: async ({ call, projectId }) => {
      await call('suppressions.unsubscribe', { projectId, email: 'left@example.com' });
      return { email: 'left@example.com' };
    },
  },
  'suppressions.import': {
    in: 'project',
    input: () => ({ list: { addresses: [{ email: 'listed@example.com' }] } }),
  },
  'suppressions.undoImport': { in: 'project', input: () => ({ importId: SHOWN_ID }) },
  'providers.add': {
    in: 'project',
    input: () => ({
      provider: {
        provider: 'relay_api',
        display_name: 'Second',
        from_email: 'second@example.com',
        api_key: API_KEY,
      },
    }),
  },
  'providers.edit': {
    in: 'project',
    input: () => ({ providerId: SHOWN_ID, change: { display_name: 'Renamed' } }),
  },
  'providers.remove': { in: 'project', input: () => ({ providerId: SHOWN_ID }) },
  'providers.checkDomain': {
    in: 'project',
    input: () => ({ providerId: SHOWN_ID, dkim_selectors: ['s1'] }),
  },
  'providers.test': {
    in: 'project',
    input: () => ({ providerId: SHOWN_ID, to: 'me@example.com' }),
  },
  'webhooks.decide': { in: 'project', input: () => ({ soft_bounces_max: 7 }) },
  'alerts.changeSettings': {
    in: 'project',
    input: () => ({ bounce_percent: 3, complaint_percent: 0.2 }),
  },
  'retention.change': { in: 'project', input: () => ({ content_days: 30, sends_months: 12 }) },
  'sendingLimits.change': {
    in: 'project',
    input: () => ({ recipient_sends_max: 5, unconfirmed_sends_max: 500 }),
  },
  'webhooks.setSigningKey': { in: 'project', input: () => SIGNING_KEY },
  'webhooks.removeSigningKey': {
    in: 'project',
    input: async ({ database, projectId }) => {
      await database.owner.query(
        "insert into feedback.signing_keys values ($1, 'mailgun', 1, '', now()) on conflict do nothing",
        [projectId],
      );
      return { slug: 'mailgun' };
    },
  },
  'webhooks.approveTopic': { in: 'project', input: () => ({ topicId: SHOWN_ID }) },
  'webhooks.rejectTopic': { in: 'project', input: () => ({ topicId: SHOWN_ID }) },
  'webhooks.rejectTopics': { in: 'project', input: () => ({ topic_ids: [SHOWN_ID] }) },
  'webhooks.removeTopic': {
    in: 'project',
    like: 'DELETE /v1/projects/{project_id}/webhooks/amazon-ses/topics/{id}',
    input: () => ({ topicId: SHOWN_ID }),
  },
  'webhookTokens.issue': { in: 'project', input: () => ({ password }) },
  'webhookTokens.revoke': {
    in: 'project',
    input: async (given) => ({ tokenId: await keyOf(given, 'hook') }),
  },
};

/** Mutations that change nothing (`readingProcedure`): an input that each answers. */
export const readings: Record<string, Tried> = editorReadings;

/** Mutations that leave no entry: they are posted so that no address tells what they say, or open a session. */
export const unaudited = [
  'access.request',
  'invitations.open',
  'session.signIn',
  'session.signOut',
];
