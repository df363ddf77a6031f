import type pg from 'pg';

/** What is left to do, and who it would be that does it. */
export const leftovers: [what: string, how: string, plant: (client: pg.Client) => unknown][] = [
  [
    'a send is due',
    'of a provider that is left alone for ever',
    async (client) => {
      await client.query(
        `update delivery.sends set status = 'queued', due_at = now() - interval '1 ms'`,
      );
      await client.query('delete from providers.paces');
      await client.query(
        `insert into providers.paces (project_id, provider_id, wakes_at)
        select project_id, provider_id, 'infinity' from delivery.sends`,
      );
    },
  ],
  [
    'a send is due',
    'later than any is tried again',
    (client) => client.query(`update delivery.sends set status = 'queued', due_at = 'infinity'`),
  ],
  [
    'a call is due',
    'that nobody makes',
    (client) =>
      client.query(
        `insert into automations.calls
          (project_id, call_id, run_id, step_id, endpoint_id, status, queued_at, expires_at)
        select project_id, run_id, run_id, 'call', run_id, 'queued', now(), now() from automations.runs`,
      ),
  ],
  [
    'somebody is due to be looked at for segments',
    'whose time has come',
    (client) =>
      client.query(
        `insert into segments.wakeups
        select project_id, profile_id, now() - interval '1 s' from profiles.profiles limit 1`,
      ),
  ],
  [
    'a job is overdue',
    'that nobody takes',
    (client) =>
      client.query(
        `select graphile_worker.add_job('delivery/send_queued', '{}', run_at => now() - interval '1 minute')`,
      ),
  ],
];
