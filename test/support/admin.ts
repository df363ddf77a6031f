import { afterAll, beforeAll } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import type { Login } from '../../src/admin/people.ts';
import * as rendering from '../../src/rendering/rendering.ts';
import { startWorker } from '../../src/worker/worker.ts';
import type { Worker } from '../../src/worker/worker.ts';
import type { Answer, TestApi } from './api.ts';
import type { TestDatabase } from './database.ts';
import { answerOf, openStream } from './event_stream.ts';
import { keepProvider } from './kept_provider.ts';
import { hashCheaply } from './people.ts';
import { sessionOf, withHalves } from './session.ts';

export const OWNER: Login = { email: 'owner@trunkline.test', password: 'correct horse battery' };

export type Asked = {
  type: 'query' | 'mutation' | 'subscription';
  input?: unknown;
  cookie?: string;
  headers?: Record<string, string>;
};

export type TestAdmin = {
  /** One call of a procedure, as bytes on the wire. */
  call: (procedure: string, asked: Asked) => Promise<Answer>;
  signIn: (login?: Login) => Promise<Answer>;
  /** Opens a session of its own; returns both of its halves as one text. */
  openSession: () => Promise<string>;
};

/** What whoever wants to look on is answered; a stream is left as soon as it tells something. */
const lookOnce = async (
  url: string,
  procedure: string,
  asked: Parameters<typeof openStream>[2],
): Promise<Answer> => {
  const stream = await openStream(url, procedure, asked);
  const { status, error, state } = await answerOf(stream);
  stream.close();
  await stream.ended;
  const body = error ? { error } : { result: { data: state } };
  return { status, headers: stream.headers, body };
};

/** The admin API of a test's service, with one administrator. */
export const testAdmin = (database: TestDatabase, api: TestApi): TestAdmin => {
  beforeAll(() =>
    database.owner.query(
      `insert into admin.people (person_id, email, password_hash, is_admin, created_at)
      values ($1, $2, $3, true, now())`,
      [newId(), OWNER.email, hashCheaply(OWNER.password)],
    ),
  );

  const call: TestAdmin['call'] = (procedure, { type, input, cookie, headers = {} }) => {
    const all = withHalves({
      ...(cookie === undefined ? {} : { cookie }),
      ...(cookie === undefined || type === 'query' ? {} : { origin: api.url }),
      ...headers,
    });
    if (type === 'subscription')
      return lookOnce(api.url, procedure, { input: input ?? {}, cookie: '', ...all });
    const path = `/admin/trpc/${procedure}`;
    if (type === 'mutation') return api.call('POST', path, { body: input ?? {}, headers: all });
    const query = input === undefined ? '' : `?input=${encodeURIComponent(JSON.stringify(input))}`;
    return api.call('GET', path + query, { headers: all });
  };
  const signIn: TestAdmin['signIn'] = (login = OWNER) =>
    call('session.signIn', { type: 'mutation', input: login });
  return {
    call,
    signIn,
    openSession: async () => {
      const { headers, body } = await signIn();
      return sessionOf(headers.getSetCookie(), body);
    },
  };
};

/** A real worker over the test's database. */
export const testWorker = (database: TestDatabase): void => {
  let worker: Worker;
  beforeAll(async () => {
    worker = await startWorker(database.deps, () => {});
  });
  afterAll(() => worker.stop());
};

/**
 * An automation that answers `user_signed_up` with a mail. Its provider does not exist, so its sends
 * stay queued: what a Console shows before anything has left.
 */
export const makeWelcome = async (database: TestDatabase, projectId: string): Promise<string> => {
  const providerId = newId();
  await keepProvider(database, projectId, providerId);
  return inProject(database.deps, projectId, async (scope) => {
    const template = { name: 'Welcome', subject: 'Welcome', html: '<p>Welcome</p>', text: null };
    const templateId = await rendering.saveTemplate(scope, template);
    return automations.createActive(scope, 'Welcome', {
      trigger: { kind: 'event', event: 'user_signed_up', where: [] },
      settings: { re_entry: 'every_time' },
      entry: 'remember',
      steps: {
        remember: {
          kind: 'update_profile',
          traits_from_event: { email: 'email', first_name: 'first_name' },
          next: 'welcome',
        },
        welcome: {
          kind: 'send_email',
          provider_id: providerId,
          template_id: templateId,
          template_version: 1,
          next: null,
        },
      },
    });
  });
};
