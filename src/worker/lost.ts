import type pg from 'pg';

type LostShare = { project_id: string; provider_id: string };

/** What is left of owners who died: projects with hand-offs, and providers that wait for what they took. */
export type Lost = { projects: string[]; shares: LostShare[] };

/** The projects with hand-offs whose owner is dead, or silent for too long. */
const listHandOffs = async (
  client: pg.Client,
  dead: string[],
  silentSeconds: number,
): Promise<string[]> => {
  const { rows } = await client.query<{ project_id: string }>(
    `select distinct project_id from delivery.sends
    where status = 'handing_off'
    and (lease_owner = any ($1) or handed_off_at < now() - make_interval(secs => $2))`,
    [dead, silentSeconds],
  );
  return rows.map(({ project_id }) => project_id);
};

/**
 * How many queued sends of each automation are checked at a provider that warms up, the earliest due first: workers
 * lease those. A share beyond is not released, so the day of that provider ends a few sends early.
 */
const CHECKED_SENDS_MAX = 100;

/**
 * Lists providers whose circuit a dead owner probed, or whose day it had a share of for sends that it did not begin.
 * Only those that warm up: other leases run out by themselves, and cost nothing. It jumps from one automation to the
 * next in an index, as the claim does.
 */
const listShares = async (client: pg.Client, dead: string[]): Promise<LostShare[]> => {
  if (dead.length === 0) return [];
  const { rows } = await client.query<LostShare>(
    `select pace.project_id, pace.provider_id
    from providers.paces as pace
    where pace.probed_by = any ($1)
    or (
      pace.ramp_day = (now() at time zone 'UTC')::date
      and exists (
        with recursive flow as (
          (
            select send.priority, send.automation_id from delivery.sends as send
            where send.project_id = pace.project_id and send.provider_id = pace.provider_id and send.status = 'queued'
            order by send.priority, send.automation_id
            limit 1
          )
          union all
          select found.priority, found.automation_id from flow
          cross join lateral (
            select send.priority, send.automation_id from delivery.sends as send
            where send.project_id = pace.project_id and send.provider_id = pace.provider_id and send.status = 'queued'
            and (send.priority, send.automation_id) > (flow.priority, flow.automation_id)
            order by send.priority, send.automation_id
            limit 1
          ) as found
        )
        select from flow
        cross join lateral (
          select send.lease_owner from delivery.sends as send
          where send.project_id = pace.project_id and send.provider_id = pace.provider_id and send.status = 'queued'
          and send.priority = flow.priority and send.automation_id = flow.automation_id
          order by send.due_at
          limit $2
        ) as first
        where first.lease_owner = any ($1)
      )
    )`,
    [dead, CHECKED_SENDS_MAX],
  );
  return rows;
};

/** What owners who are dead, or silent for too long, have left behind; hints and jobs of theirs aside. */
export const findLost = async (
  client: pg.Client,
  dead: string[],
  silentSeconds: number,
): Promise<Lost> => ({
  projects: await listHandOffs(client, dead, silentSeconds),
  shares: await listShares(client, dead),
});
