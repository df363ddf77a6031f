import type pg from 'pg';
import type { Keys } from '../base/keys.ts';
import { messageKey } from '../ingest/ingest.ts';

/** How many message ids one transaction digests. */
const DIGEST_IDS_MAX = 5_000;

type Text = {
  message_id: string;
  event_id: string;
  occurred_at: Date;
  conflicts: number | null;
  conflicted_at: Date | null;
};

const moveBatch = async (client: pg.Client, keys: Keys, projectId: string): Promise<void> => {
  await client.query(`select set_config('trunkline.project_id', $1, true)`, [projectId]);
  const { rows } = await client.query<Text>(
    `select message_id, event_id, occurred_at, conflicts, conflicted_at from ingest.message_texts
    where project_id = $1 order by message_id limit $2`,
    [projectId, DIGEST_IDS_MAX],
  );
  await client.query(
    `insert into ingest.message_ids (project_id, message_key, event_id, occurred_at, conflicts, conflicted_at)
    select $1, * from unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::integer[], $6::timestamptz[])
    on conflict do nothing`,
    [
      projectId,
      rows.map((row) => messageKey(keys, row.message_id)),
      rows.map((row) => row.event_id),
      rows.map((row) => row.occurred_at),
      rows.map((row) => row.conflicts),
      rows.map((row) => row.conflicted_at),
    ],
  );
  await client.query(
    'delete from ingest.message_texts where project_id = $1 and message_id = any ($2)',
    [projectId, rows.map((row) => row.message_id)],
  );
};

/**
 * Digests the message ids that an earlier version kept as text, which needs a key that the database has
 * not. In batches that each commit, so whatever stops it, the next call goes on; after the last one
 * nothing is left to do.
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
