import pg from 'pg';
import { ROLES } from '../base/roles.ts';

/** What Postgres lets everybody do who may log in, and no analyst needs. */
type Door = { what: string; functions: RegExp; keep: boolean };

const DOORS: Door[] = [
  // The sweeper, the migrator and the workers' liveness are advisory locks that anybody could take.
  { what: 'take advisory locks', functions: /^pg_(try_)?advisory_/, keep: true },
  { what: 'write large objects', functions: /^lo_(creat|create|from_bytea)$/, keep: false },
];

const listFunctions = async (client: pg.Client, { functions }: Door): Promise<string[]> => {
  const { rows } = await client.query<{ signature: string }>(
    `select oid::regprocedure::text as signature from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace and proname ~ $1 order by 1`,
    [functions.source],
  );
  return rows.map(({ signature }) => signature);
};

const SERVICE = ['current_user', ...ROLES].join(', ');

/**
 * Closes what everybody may do in this database: temporary tables and functions, and, as only a superuser
 * can, advisory locks and large objects. The service's own roles keep what they need. Safe to repeat.
 */
export const closeDoors = async (client: pg.Client, isSuperuser: boolean): Promise<void> => {
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  const database = pg.escapeIdentifier(rows[0]?.name ?? '');
  await client.query(`grant connect on database ${database} to trunkline_analyst`);
  await client.query(`grant temporary on database ${database} to ${ROLES.join(', ')}`);
  await client.query(`revoke temporary on database ${database} from public`);
  for (const door of isSuperuser ? DOORS : []) {
    const functions = (await listFunctions(client, door)).join(', ');
    if (door.keep) await client.query(`grant execute on function ${functions} to ${SERVICE}`);
    await client.query(`revoke execute on function ${functions} from public`);
  }
};

/** What analysts may still do: only a superuser can close what belongs to Postgres itself. */
export const listOpenDoors = async (client: pg.Client): Promise<string[]> => {
  const open: string[] = [];
  for (const door of DOORS) {
    const { rows } = await client.query<{ is_open: boolean }>(
      `select bool_or(has_function_privilege('trunkline_analyst', name::regprocedure, 'execute')) as is_open
      from unnest($1::text[]) as name`,
      [await listFunctions(client, door)],
    );
    if (rows[0]?.is_open) open.push(door.what);
  }
  const { rows } = await client.query<{ is_open: boolean }>(
    `select has_database_privilege('trunkline_analyst', current_database(), 'temporary') as is_open`,
  );
  return rows[0]?.is_open ? [...open, 'make temporary tables'] : open;
};
