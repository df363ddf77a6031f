// Writing the schema: `node src/runtime/schema.ts commit <name> | watch | dump`.
// Works on a scratch server, so that no database of anybody is touched.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commit, migrate as migrateSchema, watch } from 'graphile-migrate';
import type { Settings } from 'graphile-migrate';
import pg from 'pg';
import { Keys } from '../base/keys.ts';
import { describeSchema } from './describe_schema.ts';
import { prepare, runOnline } from './migrate.ts';
import { databaseUrl, startScratchPostgres, waitUntilUnused } from './scratch_postgres.ts';
import { withClient } from './with_client.ts';

const DB_FOLDER = join(import.meta.dirname, '..', '..', 'db');
const keys = new Keys(Buffer.alloc(32));

const makeDatabase = async (serverUrl: string, name: string): Promise<string> => {
  await withClient(serverUrl, (client) =>
    client.query(`create database ${pg.escapeIdentifier(name)}`),
  );
  const url = databaseUrl(serverUrl, name);
  await prepare({ config: { ownerDatabaseUrl: url }, keys });
  return url;
};

const writeDump = async (url: string): Promise<void> => {
  await writeFile(join(DB_FOLDER, 'schema.sql'), await withClient(url, describeSchema));
};

/** The migrator empties the shadow database itself; what comes before the schema is put back by this command. */
const PREPARE_SHADOW = {
  _: 'command',
  shadow: true,
  command: `node ${JSON.stringify(import.meta.filename)} prepare`,
} as const;

const run = async (command: string | undefined, name: string | undefined): Promise<void> => {
  if (command === 'prepare') {
    await prepare({ config: { ownerDatabaseUrl: process.env['GM_DBURL'] ?? '' }, keys });
    return;
  }
  const server = await startScratchPostgres();
  try {
    const settings: Settings = {
      connectionString: await makeDatabase(server.url, 'work'),
      shadowConnectionString: await makeDatabase(server.url, 'shadow'),
      rootConnectionString: server.url,
      migrationsFolder: DB_FOLDER,
      afterReset: [PREPARE_SHADOW],
    };
    await migrateSchema(settings);
    if (command === 'commit') await commit(settings, name ?? null);
    if (command === 'watch') await watch(settings);
    await runOnline(settings.connectionString ?? '');
    await writeDump(settings.connectionString ?? '');
  } finally {
    // The migrator's pool outlives its promise, and ends the process when the server leaves first:
    // that would hide the error that brought us here.
    await withClient(server.url, async (client) => {
      for (const database of ['work', 'shadow']) await waitUntilUnused(client, database);
    });
    await server.stop();
  }
};

await run(process.argv[2], process.argv[3]);
