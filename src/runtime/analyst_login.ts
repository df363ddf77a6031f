import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { newId } from '../base/ids.ts';
import { closeDoors } from './analyst_doors.ts';
import { toScramVerifier } from './scram.ts';

/** A query that takes longer is cancelled. Analysts may ask for more time in their own session. */
export const STATEMENT_TIMEOUT_SECONDS = 60;
const IDLE_TIMEOUT_SECONDS = 60;
/** How many connections one login may hold. */
export const CONNECTIONS_MAX = 5;
/** What the temporary files of one connection may hold: set where the owner is a superuser. */
const TEMPORARY_FILES_MAX = '4GB';
const PASSWORD_BYTES = 24;

/** Logins of one project are told apart by a short name; all in all a role's name has 63 characters. */
export const LOGIN_NAME_CHARS_MAX = 12;
const LOGIN_NAME = new RegExp(`^[a-z0-9]{0,${LOGIN_NAME_CHARS_MAX}}$`);
const PROJECT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export type AnalystKey = { projectId: string; name: string };

/**
 * The role behind a login: its third word is the project, and the policies of tenant tables read it from
 * there (db/fixtures/base/open_to_analysts.sql). Throws what is wrong with the project or the name.
 */
export const toRole = ({ projectId, name }: AnalystKey): string => {
  if (!PROJECT_ID.test(projectId)) throw new Error('Give the project by its id: project=<uuid>');
  if (!LOGIN_NAME.test(name)) {
    throw new Error(`A name has at most ${LOGIN_NAME_CHARS_MAX} characters, a to z and 0 to 9.`);
  }
  const role = `trunkline_analyst_${projectId.replaceAll('-', '')}`;
  return name === '' ? role : `${role}_${name}`;
};

const settingsFor = (isSuperuser: boolean): Record<string, string> => ({
  search_path: 'analytics',
  timezone: 'UTC',
  default_transaction_read_only: 'on',
  statement_timeout: `${STATEMENT_TIMEOUT_SECONDS}s`,
  idle_in_transaction_session_timeout: `${IDLE_TIMEOUT_SECONDS}s`,
  ...(isSuperuser ? { temp_file_limit: TEMPORARY_FILES_MAX } : {}),
});

const hasRole = async (client: pg.Client, role: string): Promise<boolean> =>
  (await client.query('select from pg_roles where rolname = $1', [role])).rowCount === 1;

const isSuperuser = async (client: pg.Client): Promise<boolean> =>
  (await client.query('select from pg_roles where rolname = current_user and rolsuper'))
    .rowCount === 1;

/** Whoever is logged in with an old password is not any more, as far as the owner may end sessions. */
const endSessions = async (client: pg.Client, role: string): Promise<void> => {
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
    where usename = $1 and pg_has_role(usesysid, 'usage')`,
    [role],
  );
};

const writeRole = async (client: pg.Client, role: string, password: string): Promise<void> => {
  const name = pg.escapeIdentifier(role);
  if (!(await hasRole(client, role))) {
    await client.query(
      `create role ${name} nosuperuser nocreatedb nocreaterole inherit nobypassrls noreplication`,
    );
  }
  await client.query(
    `alter role ${name} with login connection limit ${CONNECTIONS_MAX}
    password ${pg.escapeLiteral(toScramVerifier(password))}`,
  );
  await client.query(`grant trunkline_analyst to ${name}`);
};

/** Puts the command into the project's audit log, in the transaction of what it does. */
const note = async (client: pg.Client, projectId: string, command: string): Promise<void> => {
  await client.query(`select set_config('trunkline.project_id', $1, true)`, [projectId]);
  await client.query(
    `insert into admin.audit (project_id, audit_id, at, actor_kind, action, targets)
    values ($1, $2, now(), 'operator', $3, '{}')`,
    [projectId, newId(), command],
  );
};

/** Makes a login for analysts of one project, or gives it a new password; answers the role and the password. */
export const keepLogin = async (
  client: pg.Client,
  key: AnalystKey,
): Promise<{ role: string; password: string }> => {
  const role = toRole(key);
  const { rowCount } = await client.query('select from projects.projects where project_id = $1', [
    key.projectId,
  ]);
  if (rowCount !== 1) throw new Error(`There is no project ${key.projectId}.`);

  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const isSuperior = await isSuperuser(client);
  await client.query('begin');
  await closeDoors(client, isSuperior);
  await writeRole(client, role, password);
  for (const [setting, value] of Object.entries(settingsFor(isSuperior))) {
    await client.query(
      `alter role ${pg.escapeIdentifier(role)} set ${setting} = ${pg.escapeLiteral(value)}`,
    );
  }
  await note(client, key.projectId, 'make analyst');
  await client.query('commit');
  await endSessions(client, role);
  return { role, password };
};

/** Removes a login and ends its sessions; answers whether there was one. */
export const removeLogin = async (client: pg.Client, key: AnalystKey): Promise<boolean> => {
  const role = toRole(key);
  if (!(await hasRole(client, role))) return false;
  await client.query(`alter role ${pg.escapeIdentifier(role)} nologin`);
  await endSessions(client, role);
  await client.query('begin');
  await client.query(`drop role ${pg.escapeIdentifier(role)}`);
  await note(client, key.projectId, 'make analyst-remove');
  await client.query('commit');
  return true;
};
