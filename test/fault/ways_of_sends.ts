import { findRows } from './evidence.ts';
import type { Evidence, Invariant, Stand } from './evidence.ts';

/** §4.2: a send goes these ways, and no other; none here is planned to be sent again. */
const WAYS: Record<string, readonly string[]> = {
  queued: ['handing_off', 'suppressed', 'cancelled', 'expired', 'failed_render'],
  handing_off: ['queued', 'accepted', 'rejected', 'unknown', 'suppressed', 'cancelled', 'expired'],
  unknown: ['accepted', 'not_sent', 'queued', 'suppressed', 'cancelled', 'expired', 'rejected'],
};

/** Whether a send may have come from one look to the other: each hand-off between them is counted. */
const isOnItsWay = (before: Stand, now: Stand): boolean => {
  const begun = now.attempt_count - before.attempt_count;
  const reached = [{ status: before.status, begun: 0 }];
  for (const at of reached)
    for (const status of WAYS[at.status] ?? []) {
      const next = { status, begun: at.begun + (status === 'handing_off' ? 1 : 0) };
      const isKnown = reached.some((one) => one.status === status && one.begun === next.begun);
      if (next.begun <= begun && !isKnown) reached.push(next);
    }
  return reached.some((one) => one.status === now.status && one.begun === begun);
};

const findWrongWay = (id: string, stands: readonly Stand[]): string[] =>
  stands.flatMap((now, at) => {
    const before = stands[at - 1];
    if (!before) return [];
    const isLost = before.facts.some((fact) => !now.facts.includes(fact));
    const said = `send ${id} went from ${JSON.stringify(before)} to ${JSON.stringify(now)}`;
    return isLost || !isOnItsWay(before, now) ? [said] : [];
  });

/**
 * Hand-offs are written down, each of them: they are numbered, one begins when the one before is known not to be
 * taken, and the last says what the send does.
 */
const findWrongHandOffs = (evidence: Evidence): Promise<string[]> =>
  findRows(
    evidence,
    `select project_id, send_id, status, attempt, outcome, ended_at, next_at from (
      select tried.*, send.status, send.on_unknown,
        row_number() over one_send as number, lead(tried.started_at) over one_send as next_at
      from delivery.attempts as tried join delivery.sends as send using (project_id, send_id)
      window one_send as (partition by tried.project_id, tried.send_id order by tried.attempt)
    ) as tried
    where attempt <> number
    or case
      when next_at is null then (outcome is null) <> (status = 'handing_off')
        or (status = 'rejected' and outcome <> 'rejected')
      when on_unknown = 'resend' then false
      else coalesce(outcome, 'open') not in ('deferred', 'not_started') or ended_at > next_at
    end`,
  );

export const statesFollowTheirWay: Invariant = {
  id: 'I7',
  text: 'the states of a send are a path in the diagram, one hand-off at a time, and facts of feedback only accumulate',
  find: async (evidence) => [
    ...[...evidence.samples.sends].flatMap(([id, stands]) => findWrongWay(id, stands)),
    ...(await findWrongHandOffs(evidence)),
  ],
};
