import type { Evidence, Invariant } from './evidence.ts';
import { findRows } from './evidence.ts';
import type { AddressSaid, Said } from './journal.ts';
import type { Seen } from './relays.ts';
import { statesFollowTheirWay } from './ways_of_sends.ts';

const DEADLINE_MS = 5_000;
/** What the sink, which shares this process with the load, may notice late. */
const SINK_LAG_MS = 500;
/** By what an address has to be left alone, and what ends that. */
const HOLDS_BACK: Partial<Record<Said, Said>> = {
  suppress: 'lift',
  bounce: 'lift',
  complaint: 'lift',
  unsubscribe: 'resubscribe',
};

/** Who was erased meanwhile may have nothing left to be mailed to. */
const RUNS_WITHOUT_MAIL = `
  select run.project_id, run.run_id, step.step_id, count(send.send_id)::int as sends
  from automations.runs as run
  join identity.identities as whom on whom.project_id = run.project_id
    and whom.identity_id = run.identity_id and whom.erasure_id is null
  join automations.versions as version on version.project_id = run.project_id
    and version.automation_id = run.automation_id and version.version = run.version
  cross join lateral jsonb_each(version.definition -> 'steps') as step (step_id, definition)
  left join delivery.sends as send on send.project_id = run.project_id
    and send.run_id = run.run_id and send.step_id = step.step_id
  where run.outcome = 'completed' and step.definition ->> 'kind' = 'send_email'
  group by run.project_id, run.run_id, step.step_id
  having count(send.send_id) <> 1`;

const oneIntent: Invariant = {
  id: 'I4',
  text: 'send intents are unique per project, automation, trigger and step, and each run that is through has its own',
  find: async (evidence) => [
    ...(await findRows(
      evidence,
      `select send.project_id, send.automation_id, send.step_id, run.trigger_event_id, count(*)::int as sends
      from delivery.sends as send
      join automations.runs as run on run.project_id = send.project_id and run.run_id = send.run_id
      group by send.project_id, send.automation_id, send.step_id, run.trigger_event_id, run.trigger_entry
      having count(*) > 1`,
    )),
    ...(await findRows(evidence, RUNS_WITHOUT_MAIL)),
  ],
};

type Attempt = { send_id: string; message_id: string; started_at: number; outcome: string | null };

const listAttempts = async ({ client }: Evidence): Promise<Attempt[]> => {
  const { rows } = await client.query<Attempt>(
    `select send_id, message_id, outcome, (extract(epoch from started_at) * 1000)::float8 as started_at
    from delivery.attempts`,
  );
  return rows;
};

const SEND = 'select * from delivery.sends where send_id::text = $1';

/** By what the providers answered, whatever is recorded: what may be sent again may come twice. */
const findTakenTwice = async ({ client, seen }: Evidence): Promise<string[]> => {
  const { rows } = await client.query<{ send_id: string }>(
    `select send_id from delivery.sends where on_unknown = 'resend'`,
  );
  const mayBeTwice = new Set(rows.map(({ send_id }) => send_id));
  const kept = seen.filter(({ taken }) => taken !== 'no');
  return [...Map.groupBy(kept, ({ send_id }) => send_id ?? 'none')].flatMap(([id, those]) =>
    those.length < 2 || mayBeTwice.has(id)
      ? []
      : [`${those.length} messages of send ${id} may have been taken: ${JSON.stringify(those)}`],
  );
};

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
      `select project_id, send_id, count(*)::int as perhaps_taken
      from delivery.attempts as tried join delivery.sends as send using (project_id, send_id)
      where send.on_unknown = 'hold'
      and (tried.outcome is null or tried.outcome not in ('deferred', 'rejected', 'not_started'))
      group by project_id, send_id having count(*) > 1`,
    );
    return [...more, ...twice, ...(await findTakenTwice(evidence))];
  },
};

const HANDED_OFF = `
  select tried.*, send.status, send.status_reason, send.queued_at, provider.provider, provider.smtp_port
  from delivery.attempts as tried join delivery.sends as send using (project_id, send_id)
  left join providers.providers as provider using (project_id, provider_id)
  where tried.send_id::text = $1`;

/** What is recorded of a hand-off against what the provider answered: neither says yes where the other says no. */
const judgeOutcome = (
  { send_id, message_id, outcome }: Attempt,
  seen: ReadonlyMap<string, Seen['taken']>,
): string[] => {
  const taken = seen.get(message_id);
  const isLost = outcome === 'accepted' && (taken === undefined || taken === 'no');
  const isDenied =
    taken === 'yes' && ['deferred', 'rejected', 'not_started'].includes(outcome ?? '');
  return isLost || isDenied
    ? [`message ${message_id} of send ${send_id} is ${outcome}; it was taken: ${taken ?? 'unseen'}`]
    : [];
};

/** Accepted is what a hand-off was told, or feedback has proved. */
const ACCEPTED_BY_NOBODY = `
  select project_id, send_id, status_reason from delivery.sends as send
  where status = 'accepted' and num_nonnulls(delivered_at, bounced_at, complained_at, taken_at) = 0
  and not exists (
    select from delivery.attempts as tried where tried.project_id = send.project_id
    and tried.send_id = send.send_id and tried.outcome = 'accepted'
  )`;

const oneMessageEach: Invariant = {
  id: 'I6',
  text: 'each message seen is of one recorded hand-off and carries the id of its send; each that was accepted was seen',
  find: async (evidence) => {
    const attempts = await listAttempts(evidence);
    const known = new Map(attempts.map((one) => [one.message_id, one.send_id]));
    const messages = Map.groupBy(evidence.seen, ({ message_id }) => message_id ?? 'none');
    const strange = [...messages].flatMap(([id, those]) => {
      const name = `message ${id}`;
      if (those.length > 1) return [`${name} came ${those.length} times`];
      const sendId = known.get(id);
      if (sendId === undefined) return [`${name} is of no recorded hand-off`];
      return those[0]?.send_id === sendId ? [] : [`${name} does not carry ${sendId}`];
    });
    const taken = new Map(evidence.seen.map((one) => [one.message_id ?? 'none', one.taken]));
    const wrong: string[] = [];
    const until = evidence.seenUntil.getTime();
    for (const attempt of attempts.filter(({ started_at }) => started_at <= until))
      for (const said of judgeOutcome(attempt, taken)) {
        const rows = await findRows(evidence, HANDED_OFF, [attempt.send_id]);
        wrong.push(`${said}: ${rows.join()}`);
      }
    return [...strange, ...wrong, ...(await findRows(evidence, ACCEPTED_BY_NOBODY))];
  },
};

type Held = { endsBy: Said; from: number; until: number };

/** When an address had to be left alone: from the answer on, until somebody asked to lift it. */
const listHeld = (said: readonly AddressSaid[]): Map<string, Held[]> => {
  const held = new Map<string, Held[]>();
  for (const one of said) {
    const key = `${one.projectId} ${one.email}`;
    const those = held.get(key) ?? [];
    const endsBy = HOLDS_BACK[one.said];
    if (endsBy !== undefined && one.ackedAt !== null)
      those.push({ endsBy, from: one.ackedAt, until: Infinity });
    for (const each of those)
      if (each.endsBy === one.said) each.until = Math.min(each.until, one.askedAt);
    held.set(key, those);
  }
  return held;
};

/** Mailboxes that got more of browser-triggered runs in a day than one may. */
const OVER_CAP = `
  select send.project_id, encode(send.mailbox_key, 'hex') as mailbox, count(*)::int as sends
  from delivery.sends as send
  where send.limits ? 'browser_triggered' and not send.is_test and send.status in ('accepted', 'unknown', 'handing_off')
  and send.handed_off_at > now() - interval '24 hours'
  group by send.project_id, send.mailbox_key
  having count(*) > (delivery.read_settings(send.project_id)).recipient_sends_max`;

const suppressedNotSent: Invariant = {
  id: 'I8',
  text: 'no hand-off to an address is committed while a suppression of it is in force, or its mailbox has had its cap',
  find: async (evidence) => {
    const held = listHeld(evidence.journal.said);
    const { rows } = await evidence.client.query<
      Pick<Attempt, 'send_id' | 'started_at'> & { key: string }
    >(
      `select attempt.send_id, send.project_id || ' ' || send.recipient as key,
        (extract(epoch from attempt.started_at) * 1000)::float8 as started_at
      from delivery.attempts as attempt join delivery.sends as send using (project_id, send_id)
      where send.recipient is not null`,
    );
    const early = rows.flatMap(({ key, send_id, started_at }) =>
      (held.get(key) ?? [])
        .filter(({ from, until }) => started_at > from && started_at < until)
        .map(
          ({ from }) =>
            `send ${send_id} was handed off ${started_at - from} ms after ${key} was suppressed`,
        ),
    );
    return [...early, ...(await findRows(evidence, OVER_CAP))];
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
