import { beforeAll, describe, expect, test } from 'vitest';
import { appRouter } from '../../src/admin/router.ts';
import { newId } from '../../src/base/ids.ts';
import { testAdmin } from '../support/admin.ts';
import type { Asked } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

/** What anybody may call. Everything else needs a session. */
const OPEN = ['session.signIn', 'session.current'];

const procedures = Object.entries(appRouter._def.procedures).map(([name, procedure]) => ({
  name,
  type: (procedure as unknown as { _def: { type: Asked['type'] } })._def.type,
}));
const closed = procedures.filter(({ name }) => !OPEN.includes(name));
const ofProjects = closed.filter(({ name }) => !/^(session|projects)\./.test(name));
const inputFor = (projectId: string) => ({ projectId, profileId: newId(), query: 'ann' });

let cookie: string;
beforeAll(async () => {
  cookie = await admin.openSession();
});

test('these are all the procedures', () => {
  expect(procedures.map(({ name, type }) => `${type} ${name}`)).toEqual([
    'mutation session.signIn',
    'mutation session.signOut',
    'query session.current',
    'query projects.list',
    'query overview.read',
    'query events.list',
    'query sends.list',
    'query sends.read',
    'mutation sends.resolve',
    'mutation sends.sendAgain',
    'mutation sends.cancel',
    'query feedback.ofSend',
    'query profiles.find',
    'query profiles.read',
    'query profiles.timeline',
    'query suppressions.list',
    'query suppressions.unsubscribes',
    'query suppressions.read',
    'mutation suppressions.suppress',
    'mutation suppressions.lift',
    'mutation suppressions.unsubscribe',
    'mutation suppressions.resubscribe',
    'mutation suppressions.import',
    'mutation suppressions.undoImport',
    'query automations.list',
    'query providers.list',
    'query providers.read',
    'query providers.domainHealth',
    'mutation providers.add',
    'mutation providers.edit',
    'mutation providers.remove',
    'mutation providers.test',
    'query webhooks.read',
    'mutation webhooks.decide',
    'mutation webhooks.setSigningKey',
    'mutation webhooks.resetTopic',
    'query webhookTokens.list',
    'mutation webhookTokens.issue',
    'mutation webhookTokens.revoke',
  ]);
});

describe.each(closed)('$name', ({ name, type }) => {
  test.each([
    ['without a cookie', undefined],
    ['with a cookie that is no token', 'trunkline_session=x'],
    ['with a token nobody has', `trunkline_session=${'A'.repeat(43)}`],
  ])('401 not_signed_in: %s', async (_, stranger) => {
    const input = inputFor(api.project.project_id);
    const { status, body } = await admin.call(name, {
      type,
      input,
      ...(stranger === undefined ? {} : { cookie: stranger }),
    });
    expect(status).toBe(401);
    expect(body.error).toMatchObject({ message: 'not_signed_in', data: { code: 'UNAUTHORIZED' } });
  });
});

test.each(ofProjects)(
  '404 not_found: $name knows no project that does not exist',
  async ({ name, type }) => {
    const { status, body } = await admin.call(name, { type, cookie, input: inputFor(newId()) });
    expect(status).toBe(404);
    expect(body.error).toMatchObject({ message: 'not_found', data: { code: 'NOT_FOUND' } });
  },
);

test.each(ofProjects)('404 not_found: $name is closed to who is no administrator', async (one) => {
  await database.owner.query('update admin.people set is_admin = false');
  const { name, type } = one;
  const input = inputFor(api.project.project_id);
  const { status } = await admin.call(name, { type, cookie, input });
  await database.owner.query('update admin.people set is_admin = true');
  expect(status).toBe(404);
});

test.each(procedures.filter(({ type }) => type === 'mutation'))(
  '403 foreign_origin: $name is not taken from another site’s page',
  async ({ name, type }) => {
    for (const origin of ['https://evil.example', 'null', `${api.url}0`, 'http://localhost']) {
      const { status, body } = await admin.call(name, { type, cookie, headers: { origin } });
      expect(status).toBe(403);
      expect(body.error).toMatchObject({ message: 'foreign_origin', data: { code: 'FORBIDDEN' } });
    }
  },
);

test.each(procedures.filter(({ type }) => type === 'mutation'))(
  '405: $name cannot be reached by a link',
  async ({ name }) => {
    const { status } = await admin.call(name, { type: 'query', cookie });
    expect(status).toBe(405);
  },
);

test('404 not_found: there is no such procedure', async () => {
  const { status, body } = await admin.call('projects.burn', { type: 'query', cookie });
  expect(status).toBe(404);
  expect(body.error.message).toBe('not_found');
});
