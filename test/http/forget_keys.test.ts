import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { claimKey, KEPT_HOURS } from '../../src/base/idempotency.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import forgetKeys from '../../tasks/http/forget_keys.ts';
import { NEVER, testDatabase } from '../support/database.ts';

const database = testDatabase();

const run = (signal = NEVER) =>
  forgetKeys({ ...database.deps, workerId: () => 'w', jobs: database.owner, signal })(
    {},
    {} as never,
  );
const left = async (): Promise<number | null> =>
  (await database.owner.query('select from http.idempotency_keys')).rowCount;
const claim = (projectId: string) =>
  claimKey(database.deps.db, projectId, {
    keyHash: randomBytes(32),
    claimId: newId(),
    fingerprint: randomBytes(32),
  });
/** Makes every key of a project so old. */
const age = (projectId: string, interval: string) =>
  database.owner.query(
    `update http.idempotency_keys set created_at = now() - $2::interval, claimed_until = null
    where project_id = $1`,
    [projectId, interval],
  );

test('keys older than a day go, of every project; younger ones stay, and so does one in use', async () => {
  const [one, two, three] = (await Promise.all(
    ['one', 'two', 'three'].map(
      async (name) => (await createProject(database.deps, name)).project_id,
    ),
  )) as [string, string, string];
  for (const projectId of [one, one, two, three]) await claim(projectId);
  await age(one, `${KEPT_HOURS} hours 1 second`);
  await age(two, `${KEPT_HOURS} hours 1 second`);
  await age(three, `${KEPT_HOURS - 1} hours`);
  await claim(two);
  await run();
  expect(await left()).toBe(2);
  await run();
  expect(await left()).toBe(2);

  await age(two, `${KEPT_HOURS} hours`);
  await database.owner.query(
    "update http.idempotency_keys set claimed_until = now() + interval '5 seconds' where project_id = $1",
    [two],
  );
  await run();
  expect(await left()).toBe(2);
});

test('more keys than one transaction takes go all the same', async () => {
  const { project_id } = await createProject(database.deps, 'many');
  await database.owner.query(
    `insert into http.idempotency_keys (project_id, key_hash, fingerprint, repetition_id, claim_id, created_at)
    select $1, sha256(n::text::bytea), sha256(n::text::bytea), gen_random_uuid(), gen_random_uuid(),
      now() - interval '2 days'
    from generate_series(1, 20500) as n`,
    [project_id],
  );
  const before = (await left()) ?? 0;
  await run();
  expect(await left()).toBe(before - 20_500);
});

test('a worker that stops leaves the rest for the next time', async () => {
  const { project_id } = await createProject(database.deps, 'stopped');
  await claim(project_id);
  await age(project_id, '2 days');
  const before = await left();
  const stopping = new AbortController();
  stopping.abort();
  await run(stopping.signal);
  expect(await left()).toBe(before);
});
