// After everything that a provider is used for, its secret is nowhere to be read.
import { afterAll, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { newId } from '../../src/base/ids.ts';
import { Keys } from '../../src/base/keys.ts';
import { readMasterKey } from '../../src/config/master_key.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { findProvider } from '../../src/providers/queries.ts';
import { openSettings } from '../../src/providers/records.ts';
import { nextMasterKey, rewrapAll } from '../../src/runtime/rewrap.ts';
import { mailgunEvent, signAs, smtp2goBody } from '../feedback/told.ts';
import { webhooksOf } from '../feedback/webhooks_of.ts';
import { testApi } from '../support/api.ts';
import { cloudError } from '../support/cloud_sink.ts';
import { testDatabase } from '../support/database.ts';
import { loggedOf } from '../support/logged.ts';
import { API_KEY, relayError } from '../support/relay_sink.ts';
import { TEST_MASTER_KEY } from '../support/secrets.ts';
import {
  CLOUD_SECRET,
  counterparts,
  fieldsOf,
  KINDS,
  providersOf,
  sendOneOf,
} from './counterparts.ts';

const database = testDatabase();
const logged = loggedOf(database);
const sinks = counterparts(database);
const api = testApi(database);
const { create, list, read, change, test: send } = providersOf(api);
const sendOne = sendOneOf(database, api);
const hooks = webhooksOf(database, api);

const WRONG = {
  smtp: 'wrong-0-password',
  relay_api: 'api-wrong-0-key',
  cloud_api: 'wrong-0-secret',
};
const FIELD = { smtp: 'password', relay_api: 'api_key', cloud_api: 'secret_access_key' } as const;
const RIGHT = {
  smtp: () => sinks.smtp.settings.password,
  relay_api: () => API_KEY,
  cloud_api: () => CLOUD_SECRET,
};
const SIGNING_KEY = 'the-signing-key-of-an-account';
/** A part of a text in base64 reads in one of three ways, by where it begins. */
const BASE64_OFFSETS = [0, 1, 2];
const BASE64_GROUP = 3;

/** A text and what it, or something around it, may have been turned into. */
const formsOf = (text: string): string[] => {
  const bytes = Buffer.from(text);
  const within = BASE64_OFFSETS.flatMap((offset) => {
    const rest = bytes.subarray(offset);
    const whole = rest.subarray(0, rest.length - (rest.length % BASE64_GROUP));
    return [whole.toString('base64'), whole.toString('base64url')];
  });
  const hex = bytes.toString('hex');
  const escaped = JSON.stringify(text).slice(1, -1);
  return [text, escaped, encodeURIComponent(text), hex, hex.toUpperCase(), ...within];
};

/** Every row of every table of the database, whatever its schema, as text: bytes in hex, and as they read. */
const dump = async (): Promise<string> => {
  const { rows } = await database.owner.query<{ name: string; bytes: string[] }>(`
    select format('%I.%I', nspname, relname) as name, array(
      select attname::text from pg_attribute
      where attrelid = pg_class.oid and atttypid = 'bytea'::regtype and attnum > 0 and not attisdropped
    ) as bytes
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind in ('r', 'm') and nspname !~ '^(pg_|information_schema)'`);
  const texts: string[] = [];
  for (const { name, bytes } of rows) {
    const read = bytes.map((column) => `, encode(t."${column}", 'escape')`).join('');
    const { rows: found } = await database.owner.query<{ row: string }>(
      `select concat_ws(' ', t::text${read}) as row from ${name} t`,
    );
    texts.push(name, ...found.map(({ row }) => row));
  }
  return texts.join('\n');
};

/** A provider that repeats in its refusal what it was told in confidence. */
const tellTales = (): void => {
  const text = (kind: keyof typeof RIGHT) => `not you, ${RIGHT[kind]()}`;
  sinks.smtp.play('mail', { code: 451, text: text('smtp') }, { times: 2 });
  sinks.relay.play('/email/mime', relayError(400, 'E_ApiResponseCodes.X', text('relay_api')), 2);
  sinks.cloud.play('/outbound-emails', cloudError(400, 'MessageRejected', text('cloud_api')), 2);
};

/** All that a record of a kind is used for, well and badly; answers everything that was answered. */
const useAll = async (kind: (typeof KINDS)[number]): Promise<unknown[]> => {
  const fields = fieldsOf(sinks, kind);
  const wrong = { [FIELD[kind]]: WRONG[kind] };
  const headers = { 'idempotency-key': newId() };
  const made = await create(fields, headers);
  const { id } = made.body;
  const answers = [made, await create(fields, headers)];
  answers.push(await create({ ...fieldsOf(sinks, kind), ...wrong, region: 'x' }));
  answers.push(await change(id, { [FIELD[kind]]: RIGHT[kind]() }));
  if (kind !== 'cloud_api') answers.push(await change(id, wrong));
  answers.push(await send(id), await read(id), await list());
  const sent = await sendOne(id);
  expect(sent).toMatchObject({ status: 'accepted' });
  tellTales();
  answers.push(await send(id));
  const refused = await sendOne(id);
  expect(refused).not.toMatchObject({ status: 'accepted' });
  for (const sink of [sinks.smtp, sinks.relay, sinks.cloud]) sink.reset();
  answers.push(await read(id));
  return [...answers.map(({ body }) => body), sent, refused];
};

/** Webhooks that are set up, and posts that are taken and refused. */
const useWebhooks = async (): Promise<unknown[]> => {
  const { hook_token: token } = api.project;
  const keySet = () => hooks.manage('POST', '/mailgun/signing-key', { signing_key: SIGNING_KEY });
  const signed = () => ({ signature: signAs(SIGNING_KEY), 'event-data': mailgunEvent({}) });
  const bounce = { event: 'bounce', recipient: 'ann@example.net', note: token };
  const answers = [
    await keySet(),
    await keySet(),
    await hooks.post('mailgun', signed()),
    await hooks.post('mailgun', { ...signed(), signature: signAs('another') }),
    await hooks.post('mailgun', signed(), {}, `?token=${token}`),
    await hooks.post('smtp', bounce, { key: token }),
    await hooks.post('smtp', bounce, {}, `?token=${token}`),
    await hooks.post('smtp', { token }, { key: token }),
    await hooks.post('smtp2go', smtp2goBody(), { key: `${token}x` }),
    await hooks.manage('GET', ''),
  ];
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 401, 200, 200, 200, 400, 401, 200]);
  return answers.map(({ body }) => body as unknown);
};

const started: Listening[] = [];
afterAll(async () => {
  for (const listening of started) await listening.close();
});

/** The master key is changed, and everything used once more under both keys. */
const rotate = async (): Promise<string> => {
  const next = nextMasterKey(TEST_MASTER_KEY);
  const outers = [next, TEST_MASTER_KEY].map((text) => readMasterKey(text).outer);
  const keys = new Keys(readMasterKey(TEST_MASTER_KEY).root, outers);
  expect(await rewrapAll({ ...database.deps, keys })).toBeGreaterThan(0);
  // As every process does then, the api starts anew.
  Object.assign(database.deps, { keys });
  const listening = await openApi(database.deps, { isDraining: false }, true);
  api.url = `http://127.0.0.1:${listening.port}`;
  started.push(listening);
  return next;
};

describe('a secret', () => {
  test('is in no answer, no line of the log, no job and no row of any table', async () => {
    const answers: unknown[] = [];
    for (const kind of KINDS) answers.push(...(await useAll(kind)));
    answers.push(...(await useWebhooks()));
    const next = await rotate();
    for (const kind of KINDS) answers.push(...(await useAll(kind)));
    await hint(database.deps, { task: 'delivery/send_queued', payload: { project_id: newId() } });
    await database.deps.resources.close();

    const kept = await dump();
    for (const table of [
      'graphile_worker._private_jobs',
      'feedback.refusals',
      'providers.data_keys',
    ])
      expect(kept).toContain(table);
    const everything = [JSON.stringify(answers), logged.join(''), kept].join('\n');
    expect(everything.length).toBeGreaterThan(10_000);
    const { server_key, publishable_key, hook_token } = api.project;
    const masterKeys = [TEST_MASTER_KEY, next].flatMap((text) => text.split(':').slice(-2));
    const secrets = [
      ...KINDS.map((kind) => RIGHT[kind]()),
      ...Object.values(WRONG),
      SIGNING_KEY,
      hook_token,
      server_key,
      publishable_key,
      ...masterKeys.filter((part) => part.length > BASE64_GROUP),
    ];
    for (const secret of secrets)
      for (const form of formsOf(secret)) expect(everything).not.toContain(form);
  });

  test('would be found: in a text, in bytes, and inside of what was put around it', async () => {
    const secret = 'a secret/of its own';
    const table = 'feedback.a_new_table';
    await database.owner.query(`create table ${table} (told text, kept bytea)`);
    const hidden = [
      secret,
      JSON.stringify({ told: `x${secret}` }),
      Buffer.from(secret).toString('hex'),
      ...['', '\0', '\0u'].map((before) => Buffer.from(`${before}${secret}\0`).toString('base64')),
    ];
    for (const text of hidden)
      for (const column of ['told', 'kept']) {
        await database.owner.query(`truncate ${table}`);
        await database.owner.query(`insert into ${table} (${column}) values ($1)`, [
          column === 'told' ? text.replaceAll('\0', '') : Buffer.from(text),
        ]);
        const kept = await dump();
        expect(formsOf(secret).some((form) => kept.includes(form))).toBe(true);
      }
    await database.owner.query(`drop table ${table}`);
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
