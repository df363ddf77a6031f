import type { Evidence, Invariant, Stand } from './evidence.ts';
import { findRows } from './evidence.ts';
import type { AddressSaid } from './journal.ts';

/** §4.2: a send goes these ways, and no other. */
const WAYS: Record<string, readonly string[]> = {
  queued: ['handing_off', 'suppressed', 'cancelled', 'expired', 'failed_render', 'unknown'],
  handing_off: ['queued', 'accepted', 'rejected', 'unknown', 'suppressed', 'cancelled', 'expired'],
  unknown: ['accepted', 'not_sent', 'queued', 'suppressed', 'cancelled', 'expired', 'rejected'],
};

/** Where a send can be by and by: between two looks it may have gone several ways. */
const listReachable = (from: string): Set<string> => {
  const reached = new Set([from]);
  for (const at of reached) for (const next of WAYS[at] ?? []) reached.add(next);
  return reached;
};

const DEADLINE_MS = 5_000;
/** What the sink, which shares this process with the load, may notice late. */
const SINK_LAG_MS = 500;
const HOLDS_BACK = ['suppress', 'bounce', 'complaint'];

const oneIntent: Invariant = {
  id: 'I4',
  text: 'send intents are unique per project, automation, trigger and step',
  find: (evidence) =>
    findRows(
      evidence,
      `select send.project_id, send.automation_id, send.step_id, run.trigger_event_id, count(*)::int as sends
      from delivery.sends as send
      join automations.runs as run on run.project_id = send.project_id and run.run_id = send.run_id
      group by send.project_id, send.automation_id, send.step_id, run.trigger_event_id, run.trigger_entry
      having count(*) > 1`,
    ),
};

type Attempt = { send_id: string; message_id: string; started_at: number };

const listAttempts = async ({ client }: Evidence): Promise<Attempt[]> => {
  const { rows } = await client.query<Attempt>(
    `select send_id, message_id, (extract(epoch from started_at) * 1000)::float8 as started_at
    from delivery.attempts`,
  );
  return rows;
};

const SEND = 'select * from delivery.sends where send_id::text = $1';

const noSecondHandOff: Invariant = {
  id: 'I5',
  text: 'providers see no more messages of a send than hand-offs are recorded; one at most may have been taken',
  find: async (evidence) => {
    const attempts = Map.groupBy(await listAttempts(evidence), ({ send_id }) => send_id);
    const seen = Map.groupBy(evidence.seen, ({ send_id }) => send_id ?? 'none');
    const more: string[] = [];
    for (const [id, those] of seen) {
      const recorded = attempts.get(id)?.length ?? 0;
      if (those.length <= recorded) continue;
      const rows = await findRows(evidence, SEND, [id]);
      more.push(
        `${those.length} messages, ${recorded} hand-offs: ${JSON.stringify(those)} ${rows.join()}`,
      );
    }
    const twice = await findRows(
      evidence,
      `select project_id, send_id, count(*)::int as perhaps_taken from delivery.attempts
      where outcome is null or outcome not in ('deferred', 'rejected', 'not_started')
      group by project_id, send_id having count(*) > 1`,
    );
    return [...more, ...twice];
  },
};

const oneMessageEach: Invariant = {
  id: 'I6',
  text: 'each message that a provider sees is of one recorded hand-off, and carries the id of its send',
  find: async (evidence) => {
    const known = new Map(
      (await listAttempts(evidence)).map((one) => [one.message_id, one.send_id]),
    );
    const messages = Map.groupBy(evidence.seen, ({ message_id }) => message_id ?? 'none');
    return [...messages].flatMap(([id, those]) => {
      const name = `message ${id}`;
      if (those.length > 1) return [`${name} came ${those.length} times`];
      const sendId = known.get(id);
      if (sendId === undefined) return [`${name} is of no recorded hand-off`];
      return those[0]?.send_id === sendId ? [] : [`${name} does not carry ${sendId}`];
    });
  },
};

const findWrongWay = (id: string, stands: readonly Stand[]): string[] =>
  stands.flatMap((now, at) => {
    const before = stands[at - 1];
    if (!before) return [];
    const isLost = before.facts.some((fact) => !now.facts.includes(fact));
    const isOnItsWay = listReachable(before.status).has(now.status);
    const said = `send ${id} went from ${JSON.stringify(before)} to ${JSON.stringify(now)}`;
    return isLost || !isOnItsWay || now.attempt_count < before.attempt_count ? [said] : [];
  });

const statesFollowTheirWay: Invariant = {
  id: 'I7',
  text: 'the states of a send are a path in the diagram, and facts of feedback only accumulate',
  find: ({ samples }) =>
    Promise.resolve([...samples.sends].flatMap(([id, stands]) => findWrongWay(id, stands))),
};

type Held = { from: number; until: number };

/** When an address had to be left alone: from the answer on, until somebody asked to lift it. */
const listHeld = (said: readonly AddressSaid[]): Map<string, Held[]> => {
  const held = new Map<string, Held[]>();
  for (const one of said) {
    const key = `${one.projectId} ${one.email}`;
    const those = held.get(key) ?? [];
    if (HOLDS_BACK.includes(one.said) && one.ackedAt !== null)
      those.push({ from: one.ackedAt, until: Infinity });
    if (one.said === 'lift')
      for (const each of those) each.until = Math.min(each.until, one.askedAt);
    held.set(key, those);
  }
  return held;
};

const suppressedNotSent: Invariant = {
  id: 'I8',
  text: 'no hand-off to an address is committed while a suppression of it is in force',
  find: async (evidence) => {
    const held = listHeld(evidence.journal.said);
    const { rows } = await evidence.client.query<Attempt & { key: string }>(
      `select attempt.send_id, attempt.message_id, send.project_id || ' ' || send.recipient as key,
        (extract(epoch from attempt.started_at) * 1000)::float8 as started_at
      from delivery.attempts as attempt join delivery.sends as send using (project_id, send_id)
      where send.recipient is not null`,
    );
    return rows.flatMap(({ key, send_id, started_at }) =>
      (held.get(key) ?? [])
        .filter(({ from, until }) => started_at > from && started_at < until)
        .map(
          ({ from }) =>
            `send ${send_id} was handed off ${started_at - from} ms after ${key} was suppressed`,
        ),
    );
  },
};

const firstByteInTime: Invariant = {
  id: 'I9',
  text: 'the first byte of a message comes at most 5 s after its hand-off was committed',
  find: async (evidence) => {
    const begun = new Map(
      (await listAttempts(evidence)).map((one) => [one.message_id, one.started_at]),
    );
    return evidence.seen.flatMap(({ message_id, firstByteAt }) => {
      const startedAt = begun.get(message_id ?? '');
      if (startedAt === undefined || firstByteAt === null) return [];
      const lateMs = firstByteAt - startedAt;
      return lateMs > DEADLINE_MS + SINK_LAG_MS
        ? [`message ${message_id} began ${Math.round(lateMs)} ms after its hand-off`]
        : [];
    });
  },
};

export const invariantsOfSends: readonly Invariant[] = [
  oneIntent,
  noSecondHandOff,
  oneMessageEach,
  statesFollowTheirWay,
  suppressedNotSent,
  firstByteInTime,
];
