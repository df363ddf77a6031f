// After everything that a provider is used for, its secret is nowhere to be read.
import { Writable } from 'node:stream';
import { beforeAll, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { openLog } from '../../src/base/log.ts';
import { findProvider } from '../../src/providers/queries.ts';
import { openSettings } from '../../src/providers/records.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { API_KEY } from '../support/relay_sink.ts';
import {
  CLOUD_SECRET,
  counterparts,
  fieldsOf,
  KINDS,
  providersOf,
  sendOneOf,
} from './counterparts.ts';

const database = testDatabase();
const logged: string[] = [];
beforeAll(() => {
  const to = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  database.deps = { ...database.deps, log: openLog('trace', to) };
});
const sinks = counterparts(database);
const api = testApi(database);
const { create, list, read, change, test: send } = providersOf(api);
const sendOne = sendOneOf(database, api);

const WRONG = {
  smtp: 'wrong-0-password',
  relay_api: 'api-wrong-0-key',
  cloud_api: 'wrong-0-secret',
};
const FIELD = { smtp: 'password', relay_api: 'api_key', cloud_api: 'secret_access_key' } as const;

/** A text and what it may have been turned into. */
const formsOf = (text: string): string[] =>
  (['utf8', 'hex', 'base64', 'base64url'] as const)
    .map((form) => Buffer.from(text).toString(form).replace(/=+$/, ''))
    .concat(JSON.stringify(text).slice(1, -1));

/** Every row of every table of the database, as text. */
const dump = async (): Promise<string> => {
  const { rows } = await database.owner.query<{ name: string }>(`
    select format('%I.%I', nspname, relname) as name
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind = 'r' and nspname !~ '^(pg_|information_schema)'`);
  const texts: string[] = [];
  for (const { name } of rows) {
    const table = await database.owner.query<{ row: string }>(
      `select t::text as row from ${name} t`,
    );
    texts.push(...table.rows.map(({ row }) => row));
  }
  return texts.join('\n');
};

/** All that a record of a kind is used for, well and badly; answers everything that was answered. */
const useAll = async (kind: (typeof KINDS)[number]): Promise<unknown[]> => {
  const fields = fieldsOf(sinks, kind);
  const wrong = { [FIELD[kind]]: WRONG[kind] };
  const made = await create(fields, { 'idempotency-key': newId() });
  const { id } = made.body;
  const answers = [made, await create({ ...fieldsOf(sinks, kind), ...wrong, region: 'x' })];
  answers.push(
    await change(id, { [FIELD[kind]]: (fields as Record<string, unknown>)[FIELD[kind]] }),
  );
  if (kind !== 'cloud_api') answers.push(await change(id, wrong));
  answers.push(await send(id), await read(id), await list());
  const sent = await sendOne(id);
  expect(sent).toMatchObject({ status: 'accepted' });
  return [...answers.map(({ body }) => body), sent];
};

describe('a secret', () => {
  test('is in no answer, no line of the log, no job and no row of any table', async () => {
    const answers: unknown[] = [];
    for (const kind of KINDS) answers.push(...(await useAll(kind)));
    const everything = [JSON.stringify(answers), logged.join(''), await dump()].join('\n');
    expect(everything.length).toBeGreaterThan(10_000);
    for (const secret of [sinks.smtp.settings.password, API_KEY, CLOUD_SECRET])
      for (const form of formsOf(secret)) expect(everything).not.toContain(form);
    for (const secret of Object.values(WRONG)) expect(everything).not.toContain(secret);
  });

  const opened = (id: string) =>
    inProject(database.deps, api.project.project_id, async (scope) => {
      const row = await findProvider(scope, id);
      return row && openSettings(scope, row);
    });

  test.each(KINDS)('of one %s record does not open in another', async (kind) => {
    const [one, other] = [
      (await create(fieldsOf(sinks, kind))).body.id,
      (await create(fieldsOf(sinks, kind))).body.id,
    ];
    expect(await opened(other)).toHaveProperty(FIELD[kind]);
    await database.owner.query(
      `update providers.providers set secret = (select secret from providers.providers where provider_id = $1)
      where provider_id = $2`,
      [one, other],
    );
    await expect(opened(other)).rejects.toThrow();
    expect(await opened(one)).toHaveProperty(FIELD[kind]);
  });

  test('of a record does not open as one of another kind', async () => {
    const { id } = (await create(fieldsOf(sinks, 'relay_api'))).body;
    await database.owner.query(
      `update providers.providers set provider = 'cloud_api', region = 'eu-west-1', access_key_id = 'a'
      where provider_id = $1`,
      [id],
    );
    await expect(opened(id)).rejects.toThrow();
  });
});
