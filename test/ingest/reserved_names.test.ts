// Names that begin with email_ are the service's own: no client may record an event that a segment or an automation
// takes for something the service saw.
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { EventInput, SYSTEM_EVENTS } from '../../src/ingest/ingest.ts';
import { EVENT_NAME_CHARS_MAX, EventName } from '../../src/ingest/schema.ts';
import { isReserved, toUnreserved } from '../../src/ingest/reserved_names.ts';
import { createProject } from '../../src/projects/projects.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
beforeEach(async () => {
  api.project = await createProject(database.deps, 'reserved names');
});

type Kind = 'server' | 'publishable';
const KINDS: readonly Kind[] = ['server', 'publishable'];
const post = (kind: Kind, path: string, body: object) =>
  api.call('POST', path, { key: api.project[`${kind}_key`], body });
const stored = async (): Promise<string[]> => {
  const { rows } = await database.owner.query<{ name: string }>(
    'select name from ingest.events where project_id = $1 order by event_id',
    [api.project.project_id],
  );
  return rows.map(({ name }) => name);
};
const messageFor = (name: string) =>
  `"${name}" is reserved for events that Trunkline records itself: use another name, such as "user_${name}"`;

const NAMES = [...Object.keys(SYSTEM_EVENTS), 'email_verified', 'email_x'];

describe.each(KINDS)('a %s key', (kind) => {
  test.each(NAMES)(
    '400 invalid_request: POST /v1/events refuses %s and names another',
    async (event) => {
      const answer = await post(kind, '/v1/events', { event, external_id: 'ann' });
      expect(expectRefusal(answer, 'invalid_request')).toEqual([
        { path: '/event', message: messageFor(event) },
      ]);
      expect(await stored()).toEqual([]);
    },
  );

  test('400 invalid_request: one reserved name refuses the batch, and each is named', async () => {
    const answer = await post(kind, '/v1/events/batch', {
      events: ['order_paid', 'email_opened', 'order_paid', 'email_clicked'].map((event) => ({
        event,
        external_id: 'ann',
      })),
    });
    expect(expectRefusal(answer, 'invalid_request')).toEqual([
      { path: '/events/1/event', message: messageFor('email_opened') },
      { path: '/events/3/event', message: messageFor('email_clicked') },
    ]);
    expect(await stored()).toEqual([]);
  });

  test.each(['Email Opened', 'emailOpened', 'email_opened', 'Émail  opened', ' EMAIL-OPENED'])(
    '400 invalid_request: the Segment-compatible API refuses %j after translation',
    async (event) => {
      const name = 'email_opened';
      for (const path of ['/segment/v1/track', '/segment/v1/t']) {
        const answer = await post(kind, path, { event, userId: 'ann' });
        expect(expectRefusal(answer, 'invalid_request')).toEqual([
          { path: '/event', message: messageFor(name) },
        ]);
      }
      for (const path of ['/segment/v1/batch', '/segment/v1/b']) {
        const { status, body } = await post(kind, path, {
          batch: [
            { type: 'track', event: 'Order Paid', userId: 'ann' },
            { type: 'track', event, userId: 'ann' },
          ],
        });
        expect({ status, body }).toEqual({
          status: 200,
          body: {
            success: true,
            refused: [{ path: '/batch/1/event', message: messageFor(name) }],
          },
        });
      }
      expect(await stored()).toEqual(['order_paid', 'order_paid']);
    },
  );

  test('202: a name that only looks like a reserved one is taken', async () => {
    const names = ['email', 'emails_sent', 'user_email_opened', 'emailed', 'e_mail_opened'];
    for (const event of names)
      expect((await post(kind, '/v1/events', { event, external_id: 'ann' })).status).toBe(202);
    expect(await stored()).toEqual(names);
  });
});

const sentName = (event: string) => EventInput.safeParse({ event, external_id: 'ann' });

test('a name that is no snake_case is refused once, and what is proposed is taken', () => {
  for (const name of ['Email Verified', 'emailVerified', 'EMAIL_VERIFIED', 'email verified!']) {
    const { error } = sentName(name);
    expect(error?.issues.map(({ message }) => message)).toEqual([
      'must be snake_case: try "user_email_verified"',
    ]);
  }
  expect(sentName('user_email_verified').success).toBe(true);
});

test('whatever is proposed instead of a reserved name is taken, however long the name is', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^email(_[a-z0-9]{1,9}){1,9}$/), (name) => {
      const long = `${name}_`.repeat(20).slice(0, EVENT_NAME_CHARS_MAX).replace(/_$/, '');
      for (const reserved of [name, long]) {
        const message = sentName(reserved).error?.issues[0]?.message ?? '';
        const [, proposed = ''] = /such as "([^"]+)"$/.exec(message) ?? [];
        expect(sentName(proposed).success, message).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});

test('segments and triggers may name every event that the service records', () => {
  for (const name of NAMES) expect(EventName.safeParse(name).success).toBe(true);
});

test('every name that the service records is in the list, and no other is written', () => {
  for (const name of Object.keys(SYSTEM_EVENTS)) {
    expect(isReserved(name)).toBe(true);
    expect(toUnreserved(name)).toBe(`user_${name}`);
  }
  // TypeScript allows `observe` no other names; this is what SQL writes.
  const sql = readFileSync('db/fixtures/delivery/observe_sends.sql', 'utf8');
  const [, ...names] = /then '(\w+)' else '(\w+)' end as name/.exec(sql) ?? [];
  expect(names).toEqual(['email_sent', 'email_skipped']);
  for (const name of names) expect(Object.keys(SYSTEM_EVENTS)).toContain(name);
});
