import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';

const Found = z.strictObject({
  send_id: z.uuid(),
  profile_id: z.uuid(),
  automation_id: z.uuid().nullable(),
  is_test: z.boolean(),
  /** Null once the person is erased. */
  address_key: z.instanceof(Buffer).nullable(),
});
/** A send, and whether an id said so or only its address and time. */
export type Found = z.output<typeof Found> & { isById: boolean };

/** What a notice may say about which send it is for; any of it may be missing. */
export type Trace = {
  sendId: string | null;
  /** Every spelling under which the hand-off may have been remembered. */
  messageIds: readonly string[];
  addressKey: Buffer;
  occurredAt: Date;
};

/** How long after the hand-off a notice without any id is still taken to be about it. */
const MATCH_BY_ADDRESS_DAYS = 7;

const listByIds = ({ tx, projectId }: Scope, sendIds: readonly string[]) =>
  tx.any(sql.type(Found)`
    select send_id, profile_id, automation_id, is_test, address_key from delivery.sends
    where project_id = ${projectId} and send_id = any (${sql.array([...sendIds], 'uuid')})
  `);

/** Relays give Message-IDs back with or without their brackets. */
const spellingsOf = (messageId: string): string[] => {
  const bare = messageId.replace(/^<(.*)>$/s, '$1');
  return [bare, `<${bare}>`];
};

const FoundByMessage = Found.extend({ spelling: z.string(), started_at: z.date() });

/**
 * The sends of some message ids, of each the one that was tried last. One look-up for each kind of id: joined by "or",
 * neither would use its index for sure.
 */
export const listByMessageIds = ({ tx, projectId }: Scope, spellings: readonly string[]) =>
  tx.any(sql.type(FoundByMessage)`
    select wanted.spelling, last.*
    from unnest(${sql.array([...spellings], 'text')}) as wanted (spelling)
    cross join lateral (
      select send.send_id, send.profile_id, send.automation_id, send.is_test, send.address_key, tried.started_at
      from (
        select ours.send_id, ours.started_at from delivery.attempts as ours
        where ours.project_id = ${projectId} and ours.message_id = wanted.spelling
        union all
        select theirs.send_id, theirs.started_at from delivery.attempts as theirs
        where theirs.project_id = ${projectId} and theirs.provider_message_id = wanted.spelling
      ) as tried
      join delivery.sends as send on send.project_id = ${projectId} and send.send_id = tried.send_id
      order by tried.started_at desc
      limit 1
    ) as last
  `);

const FoundNth = Found.extend({ nth: z.int() });

/**
 * Returns for each trace the newest send to its address, if a provider has accepted it. Address and time prove nothing
 * about an outcome that is unknown. A send that only feedback proved is left out, too: order must not matter.
 */
const listByAddress = ({ tx, projectId }: Scope, traces: readonly Trace[]) =>
  tx.any(sql.type(FoundNth)`
    select wanted.nth::integer as nth, newest.send_id, newest.profile_id, newest.automation_id, newest.is_test,
      newest.address_key
    from unnest(
      ${sql.array(
        traces.map(({ addressKey }) => addressKey),
        'bytea',
      )},
      ${sql.array(
        traces.map(({ occurredAt }) => occurredAt.toISOString()),
        'timestamptz',
      )}
    ) with ordinality as wanted (address_key, occurred_at, nth)
    cross join lateral (
      select send_id, profile_id, automation_id, is_test, address_key, status, status_reason
      from delivery.sends
      where project_id = ${projectId} and address_key = wanted.address_key
      and status in ('accepted', 'unknown', 'handing_off')
      and handed_off_at between wanted.occurred_at - make_interval(days => ${MATCH_BY_ADDRESS_DAYS})
        and wanted.occurred_at + interval '1 minute'
      order by handed_off_at desc
      limit 1
    ) as newest
    where newest.status = 'accepted' and newest.status_reason is distinct from 'outcome_unknown'
  `);

type Finding = Map<Trace, Found>;

const findByIds = async (scope: Scope, traces: readonly Trace[]): Promise<Finding> => {
  const ids = traces.flatMap(({ sendId }) => sendId ?? []);
  const rows = ids.length === 0 ? [] : await listByIds(scope, [...new Set(ids)]);
  const byId = new Map(rows.map((row) => [row.send_id, row]));
  return new Map(
    traces.flatMap((trace) => {
      const row = byId.get(trace.sendId?.toLowerCase() ?? '');
      return row ? [[trace, { ...row, isById: true }]] : [];
    }),
  );
};

const findByMessageIds = async (scope: Scope, traces: readonly Trace[]): Promise<Finding> => {
  const spellings = traces.flatMap(({ messageIds }) => messageIds.flatMap(spellingsOf));
  const rows = spellings.length === 0 ? [] : await listByMessageIds(scope, [...new Set(spellings)]);
  const bySpelling = new Map(rows.map(({ spelling, ...row }) => [spelling, row]));
  return new Map(
    traces.flatMap((trace) => {
      const [last] = trace.messageIds
        .flatMap(spellingsOf)
        .flatMap((spelling) => bySpelling.get(spelling) ?? [])
        .toSorted((a, b) => b.started_at.getTime() - a.started_at.getTime());
      if (!last) return [];
      const { started_at: _, ...row } = last;
      return [[trace, { ...row, isById: true }]];
    }),
  );
};

const findByAddress = async (scope: Scope, traces: readonly Trace[]): Promise<Finding> => {
  const rows = traces.length === 0 ? [] : await listByAddress(scope, traces);
  return new Map(
    rows.flatMap(({ nth, ...row }) => {
      const trace = traces[nth - 1];
      return trace ? [[trace, { ...row, isById: false }]] : [];
    }),
  );
};

type Find = (scope: Scope, traces: readonly Trace[]) => Promise<Finding>;

const findBy =
  (...finds: Find[]) =>
  async (scope: Scope, traces: readonly Trace[]): Promise<(Found | null)[]> => {
    const found: Finding = new Map();
    for (const find of finds) {
      const left = traces.filter((trace) => !found.has(trace));
      for (const [trace, send] of await find(scope, left)) found.set(trace, send);
    }
    return traces.map((trace) => found.get(trace) ?? null);
  };

/** Returns the send that each trace names by our send id or by a message id, in the order of the traces. */
export const findNamed = findBy(findByIds, findByMessageIds);

/**
 * Returns the send that each trace is about, in their order: by our send id, else by a message id, else the newest one
 * to the address. As many statements for all as for one.
 */
export const findSentTo = findBy(findByIds, findByMessageIds, findByAddress);
