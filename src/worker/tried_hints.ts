import type pg from 'pg';

/** How many hints one sweep looks at. */
const HINTS_MAX = 10_000;

/**
 * Drops hints that the queue will not try again: those that failed too often, and those of a dead
 * worker whose place a newer hint has taken. The work is in rows; whatever is due is hinted at anew.
 */
export const dropSpentHints = async (client: pg.Client): Promise<number> => {
  const { rowCount } = await client.query(
    `select from graphile_worker.complete_jobs(array(
      select id from graphile_worker._private_jobs where attempts >= max_attempts and locked_by is null
      limit $1
    ))`,
    [HINTS_MAX],
  );
  return rowCount ?? 0;
};

/** The longest that a hint waits for its next try. The queue's own wait grows e-fold a try, to hours. */
export const RETRY_WAIT_MAX_SECONDS = 20;

/**
 * Brings hints forward that would wait for longer: while a server comes and goes they fail again and again, and work
 * is to go on soon after it has come back for good. Jobs that come by the clock keep their waits: they are no hints,
 * whose key is what they ask for.
 */
export const hastenRetries = async (client: pg.Client): Promise<number> => {
  const { rowCount } = await client.query(
    `select from graphile_worker.reschedule_jobs(
      array(
        select job.id from graphile_worker._private_jobs as job
        join graphile_worker._private_tasks as task on task.id = job.task_id
        where job.run_at > now() + make_interval(secs => $1) and job.attempts > 0 and job.locked_by is null
        and job.key = task.identifier || job.payload::text
        limit $2
      ),
      run_at => now() + make_interval(secs => $1)
    )`,
    [RETRY_WAIT_MAX_SECONDS, HINTS_MAX],
  );
  return rowCount ?? 0;
};
