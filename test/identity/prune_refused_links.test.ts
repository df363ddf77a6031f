// Refused links go with the months of the timeline; the rest of the log stays.
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { FIRST_ID, firstIdAt, newId } from '../../src/base/ids.ts';
import { PRUNED_LINKS_MAX, pruneRefusedLinks } from '../../src/identity/prune_refused.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const DAY_MS = 86_400_000;
const BOUND = new Date('2024-03-01T00:00:00Z');
const at = (ms: number): Date => new Date(BOUND.getTime() + ms);

const opened = async () => {
  const projectId = newId();
  const ask = (text: string, ...values: unknown[]) =>
    database.owner.query(text, [projectId, ...values]);
  await ask("select set_config('trunkline.project_id', $1, false)");
  const [device, person] = [newId(), newId()];
  await ask(
    `insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
    values ($1, $2, 'anonymous', 'd', $2, $2), ($1, $3, 'external', 'p', $3, $3)`,
    device,
    person,
  );
  /** Puts links into the log: each with a person of its own, as no refusal is there twice. */
  const log = async (made: Date, status: 'active' | 'undone' | 'refused', count = 1) => {
    await ask(
      `with other as (
        insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id)
        select $1, gen_random_uuid(), 'external', gen_random_uuid()::text, $2, $2 from generate_series(1, $5)
        returning identity_id, value
      )
      insert into identity.links (project_id, link_id, anonymous_identity_id, external_identity_id, anonymous_id,
        external_id, profile_id, anonymous_profile_id, source, key_type, status, reason, created_at, undone_at,
        undone_by)
      select $1, overlay($3::text placing lpad(row_number() over ()::text, 12, '0') from 25)::uuid, $2, identity_id,
        'd', value, $2, $2, 'identify', 'server', $4::text,
        case when $4::text = 'refused' then 'linked_to_another' end, now(),
        case when $4::text = 'undone' then now() end, case when $4::text = 'undone' then 'server_key' end
      from other`,
      device,
      firstIdAt(made),
      status,
      count,
    );
  };
  const left = async () =>
    (
      await ask('select status from identity.links where project_id = $1 order by link_id')
    ).rows.map(({ status }) => status as string);
  const prune = (after = FIRST_ID) =>
    inProject(database.deps, projectId, (scope) => pruneRefusedLinks(scope, BOUND, after));
  return { log, left, prune };
};

test('refused links from before a moment go; younger ones, and those that stand or were undone, stay', async () => {
  const { log, left, prune } = await opened();
  await log(at(-3), 'undone');
  await log(at(-2), 'active');
  await log(at(-1), 'refused');
  await log(at(0), 'refused');
  expect(await prune()).toEqual({ pruned: 1, after: null });
  expect(await left()).toEqual(['undone', 'active', 'refused']);
  expect(await prune()).toEqual({ pruned: 0, after: null });
});

test('one batch takes a bounded number, and the next goes on behind it', async () => {
  const { log, left, prune } = await opened();
  await log(at(-DAY_MS), 'refused', PRUNED_LINKS_MAX + 1);
  const first = await prune();
  expect(first.pruned).toBe(PRUNED_LINKS_MAX);
  expect(await prune(first.after ?? FIRST_ID)).toEqual({ pruned: 1, after: null });
  expect(await left()).toEqual([]);
});
