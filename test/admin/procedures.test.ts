import { beforeAll, describe, expect, test } from 'vitest';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { procedures } from './role_table.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

/** Everything else than what anybody may call needs a session. */
const closed = procedures.filter(({ needs }) => needs !== 'nobody');

let cookie: string;
beforeAll(async () => {
  cookie = await admin.openSession();
});

describe.each(closed)('$name', ({ name, type }) => {
  test.each([
    ['without a cookie', undefined],
    ['with a cookie that is no token', 'trunkline_session=x'],
    ['with a token nobody has', `trunkline_session=${'A'.repeat(43)}`],
  ])('401 not_signed_in: %s', async (_, stranger) => {
    const input = { projectId: api.project.project_id };
    const { status, body } = await admin.call(name, {
      type,
      input,
      ...(stranger === undefined ? {} : { cookie: stranger }),
    });
    expect(status).toBe(401);
    expect(body.error).toMatchObject({ message: 'not_signed_in', data: { code: 'UNAUTHORIZED' } });
  });
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
