// Time tells what an answer does not. Statements are what time goes into: for a foreign id as for a random one.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inProject, openDb } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { Resources } from '../../src/base/resources.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import { listEndpoints } from '../../src/http/openapi_read.ts';
import { createProject } from '../../src/projects/projects.ts';
import * as suppression from '../../src/suppression/suppression.ts';
import { signedToken } from '../suppression/signed_token.ts';
import { makeShownProject, SHOWN_ID, shownRelay, toShown } from '../http/as_shown.ts';
import { testApi } from '../support/api.ts';
import type { Call } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
shownRelay(database);
const api = testApi(database);

const NOBODYS_ID = '01890000-0000-7000-8000-000000000000';
const addressed = listEndpoints(makeDocument()).filter(
  ({ operation, path }) => operation.security?.length && path.includes('{id}'),
);

const asked: string[] = [];
const closing: (() => Promise<unknown>)[] = [];
let watched: Listening;
beforeAll(async () => {
  const db = await openDb(runtimeUrl(database.url, database.deps.keys), 2, [
    {
      name: 'note-statements',
      transformQuery: (_context, query) => {
        // The process's own heartbeat is nobody's request.
        if (!query.sql.includes('base.api_processes')) asked.push(query.sql);
        return query;
      },
    },
  ]);
  const resources = new Resources();
  watched = await openApi({ ...database.deps, db, resources }, { isDraining: false }, true);
  closing.push(
    () => watched.close(),
    () => resources.close(),
    () => db.end(),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
});

/** What the database is asked for one request, and what it is answered. */
const work = async (method: string, path: string, { body, headers = {} }: Call) => {
  const from = asked.length;
  const { status } = await fetch(`http://127.0.0.1:${watched.port}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: body as string }),
  });
  return { status, statements: asked.slice(from) };
};

describe.each(addressed.map((one) => [`${one.method} ${one.path}`, one] as const))(
  '%s',
  (_name, one) => {
    test('a foreign id costs the statements that a random one costs, in the same order', async () => {
      await makeShownProject(database, api, one);
      // Somebody else's key, and their own project where the path names one.
      const { method, path, call } = toShown(one, await createProject(database.deps, 'other'));
      const random = path
        .replace('external_id:ann', 'external_id:nobody')
        .replace(SHOWN_ID, NOBODYS_ID);
      // The key is looked up once.
      await work(method, random, call);
      const nobodys = await work(method, random, call);
      const foreign = await work(method, path, call);
      expect(nobodys.status).toBe(404);
      expect(nobodys.statements.length).toBeGreaterThan(0);
      expect(foreign).toEqual(nobodys);
    });
  },
);

describe('GET /u/{token}', () => {
  const link = async () => ({
    projectId: (await createProject(database.deps, 'sender')).project_id,
    addressKey: randomBytes(32),
    sendId: newId(),
  });
  const look = (token: string) => work('GET', `/u/${token}`, {});

  test('a token in either form costs the same, whether or not the address is one that we know', async () => {
    const one = await link();
    const { keys } = database.deps;
    const email = 'known@example.com';
    const known = suppression.addressKey({ keys, projectId: one.projectId }, email);
    await inProject(database.deps, one.projectId, (scope) =>
      suppression.suppress(scope, { email, source: 'api', reason: 'manual' }),
    );
    const [first, ...others] = [one, { ...one, addressKey: known }].flatMap((said) => [
      suppression.makeUnsubscribeToken(keys, said),
      signedToken(keys, said),
    ]);
    const wanted = await look(first ?? '');
    expect(wanted.statements.length).toBeGreaterThan(0);
    for (const other of others) expect(await look(other)).toEqual(wanted);
  });

  test('a text that is no token of ours costs no statement, however much it looks like one', async () => {
    const one = await link();
    const token = suppression.makeUnsubscribeToken(database.deps.keys, one);
    for (const text of [
      'x',
      'a'.repeat(108),
      'a'.repeat(130),
      randomBytes(81).toString('base64url'),
      randomBytes(97).toString('base64url'),
      `${token}=`,
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
    ])
      expect(await look(text)).toEqual({ status: 200, statements: [] });
  });
});
