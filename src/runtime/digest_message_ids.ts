import type pg from 'pg';
import type { Keys } from '../base/keys.ts';
import { newId } from '../base/ids.ts';
import { messageKey } from '../ingest/ingest.ts';
import type { MessageSpace } from '../ingest/ingest.ts';

/** How many message ids one transaction digests. */
const DIGEST_IDS_MAX = 5_000;

type Text = {
  message_id: string;
  event_id: string;
  occurred_at: Date;
  conflicts: number | null;
  conflicted_at: Date | null;
  /** Null where the event is not there: the id is an identify's, or its event was removed. */
  key_kind: 'server' | 'publishable' | null;
};

type Digested = { message_key: string; event_id: string; text: Text };

const SPACES = (['server', 'publishable'] as const).flatMap((keyKind) =>
  (['event', 'identify'] as const).map((of) => ({ keyKind, of })),
);

/**
 * Returns the keys of a message id. Which kind of key sent an id without an event is not known, so it counts as sent
 * by both, as an event and as an identify. Each then has an event id of its own: no answer may show one kind's to the
 * other.
 */
const digest = (keys: Keys, text: Text): Digested[] => {
  const { message_id, event_id, key_kind: keyKind } = text;
  const keyOf = (space: MessageSpace) => messageKey(keys, space, message_id);
  if (keyKind !== null) return [{ message_key: keyOf({ keyKind, of: 'event' }), event_id, text }];
  return SPACES.map((space) => ({ message_key: keyOf(space), event_id: newId(), text }));
};

const listTexts = async (client: pg.Client, projectId: string): Promise<Text[]> => {
  const { rows } = await client.query<Text>(
    `select text.message_id, text.event_id, text.occurred_at, text.conflicts, text.conflicted_at,
      case event.source when 'browser' then 'publishable' when 'server' then 'server' end as key_kind
    from (
      select * from ingest.message_texts
      where project_id = $1 order by message_id limit $2
    ) as text
    left join ingest.events as event
      on event.project_id = $1 and event.event_id = text.event_id and event.occurred_at = text.occurred_at`,
    [projectId, DIGEST_IDS_MAX],
  );
  return rows;
};

const moveBatch = async (client: pg.Client, keys: Keys, projectId: string): Promise<void> => {
  await client.query(`select set_config('trunkline.project_id', $1, true)`, [projectId]);
  const texts = await listTexts(client, projectId);
  const digested = texts.flatMap((text) => digest(keys, text));
  await client.query(
    `insert into ingest.message_ids (project_id, message_key, event_id, occurred_at, conflicts, conflicted_at)
    select $1, * from unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::integer[], $6::timestamptz[])
    on conflict do nothing`,
    [
      projectId,
      digested.map(({ message_key }) => message_key),
      digested.map(({ event_id }) => event_id),
      digested.map(({ text }) => text.occurred_at),
      digested.map(({ text }) => text.conflicts),
      digested.map(({ text }) => text.conflicted_at),
    ],
  );
  await client.query(
    'delete from ingest.message_texts where project_id = $1 and message_id = any ($2)',
    [projectId, texts.map(({ message_id }) => message_id)],
  );
};

/**
 * Digests the message ids that an earlier version stored as text. This needs a key that the database does not have.
 * Each batch commits, so the next call continues after any crash.
 */
export const digestMessageIds = async (client: pg.Client, keys: Keys): Promise<void> => {
  const { rows: tables } = await client.query(
    `select where to_regclass('ingest.message_texts') is not null`,
  );
  if (tables.length === 0) return;
  for (;;) {
    const { rows } = await client.query<{ project_id: string }>(
      'select project_id from ingest.message_texts order by project_id limit 1',
    );
    if (!rows[0]) break;
    await client.query('begin');
    await moveBatch(client, keys, rows[0].project_id);
    await client.query('commit');
  }
  await client.query('drop table ingest.message_texts');
};
