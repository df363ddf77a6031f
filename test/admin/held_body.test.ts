// The body of a sign-in is a stranger's: it is bounded in values and memory before it is parsed.
import pg from 'pg';
import { expect, test } from 'vitest';
import { JSON_VALUES_MAX } from '../../src/base/bodies/bodies.ts';
import { consoleAt, errorOf } from '../support/console_at.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const AT_ONCE = 3;
const at = consoleAt(database, { RATE_LIMIT_ADDRESS: String(AT_ONCE) });

const signIn = (more: object = {}, name = 'ann') =>
  at.call(
    'session.signIn',
    { email: `${name}@people.test`, password: 'not the password', ...more },
    { host: `127.0.0.1:${at.port}` },
  );
/** A member that is not read, with so many values besides the whole, two members and its list. */
const junk = (values: number) => ({ junk: Array.from({ length: values - 4 }, () => 1) });

test('413 body_too_large: as many values as one may have are parsed, one more is refused', async () => {
  const taken = await signIn(junk(JSON_VALUES_MAX));
  expect([taken.status, errorOf(taken).message]).toEqual([400, 'invalid_request']);
  const refused = await signIn(junk(JSON_VALUES_MAX + 1));
  expect([refused.status, errorOf(refused).message]).toEqual([413, 'body_too_large']);
});

test('429 rate_limited: an address has as many calls in progress as its rate allows, and no more', async () => {
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('begin; lock table base.rate_limit_counters in access exclusive mode');
  try {
    const held = Array.from({ length: AT_ONCE }, (_, n) => signIn({}, `ben-${n}`));
    await until('all are in', async () => (await signIn()).status === 429);
    const refused = await signIn();
    expect([refused.status, errorOf(refused).message]).toEqual([429, 'rate_limited']);
    expect(refused.headers['retry-after']).toBe('1');
    await holder.query('commit');
    await Promise.all(held);
    expect((await signIn()).status).not.toBe(429);
  } finally {
    await holder.end();
  }
});
