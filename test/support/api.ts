import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { isRefusalName, refusals } from '../../src/base/refusal.ts';
import type { RefusalName } from '../../src/base/refusal.ts';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { TIMEOUTS } from '../../src/http/bounds.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { findBreaches, OF_THE_VALIDATOR } from './contract.ts';
import type { TestDatabase } from './database.ts';
import { withHalves } from './session.ts';
import { workOn } from './work_on.ts';

export type Answer = { status: number; headers: Headers; body: Json };
/** What an answer's body may hold; tests look at it with matchers. */
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

export type Call = {
  key?: string | null;
  /** Sent as JSON, unless it is a string or bytes. */
  body?: unknown;
  /** Of the body, application/json unless said otherwise; null sends none. */
  contentType?: string | null;
  headers?: Record<string, string>;
};
export type TestApi = {
  url: string;
  project: NewProject;
  call: (method: string, path: string, call?: Call) => Promise<Answer>;
  /** Does with the project's accepted events what a worker does. */
  processEvents: () => Promise<void>;
};

/** Bytes, to which fetch adds no content type of its own. */
const toBytes = (body: unknown): Uint8Array<ArrayBuffer> => {
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return new Uint8Array(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
};

const toInit = ({ key, body, contentType = 'application/json', headers }: Call): RequestInit => ({
  headers: {
    ...(body === undefined || contentType === null ? {} : { 'content-type': contentType }),
    ...(key ? { authorization: `Bearer ${key}` } : {}),
    ...withHalves(headers ?? {}),
  },
  ...(body === undefined ? {} : { body: toBytes(body) }),
});

/** The real app on a real port, over the test's database, with a project of its own. */
export const testApi = (database: TestDatabase, timeouts = TIMEOUTS): TestApi => {
  const api = {} as TestApi;
  let listening: Listening;

  beforeAll(async () => {
    listening = await openApi(database.deps, { isDraining: false }, true, timeouts);
    api.url = `http://127.0.0.1:${listening.port}`;
    api.project = await createProject(database.deps, 'test');
  });
  afterAll(() => listening.close());

  api.call = async (method, path, call = {}) => {
    const response = await fetch(api.url + path, { method, ...toInit(call) });
    const text = await response.text();
    const answer = {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    };
    // Whatever a test asks: what it is answered is what /v1/openapi.json says.
    const sent =
      call.body === undefined ? {} : { sent: Buffer.from(toBytes(call.body)).toString() };
    expect(findBreaches({ method, path, ...answer, ...sent }), `${method} ${path}`).toEqual([]);
    return answer;
  };
  api.processEvents = async () => {
    const { project_id } = api.project;
    const { rows } = await database.owner.query(
      'select from ingest.pending where project_id = $1',
      [project_id],
    );
    for (const _ of rows) await workOn(database, project_id);
  };
  return api;
};

/** What people read: not the validator's own words, which speak of its types. */
const Readable = z
  .string()
  .min(3)
  .refine((said) => !OF_THE_VALIDATOR.test(said), 'the words of the validator');

/** The one shape of every error; a member too many is as wrong as one too few. */
export const ErrorBody = z.strictObject({
  error: z.string().refine(isRefusalName, 'not in the catalogue'),
  status: z.int(),
  detail: z.string().min(10),
  request_id: z.string().regex(/^[\w.:-]{8,128}$/),
  issues: z.array(z.strictObject({ path: z.string(), message: Readable })).optional(),
  reason: z.string().optional(),
  cause: z.string().min(10).optional(),
  fix: z.string().min(10).optional(),
});

/** Checks that an answer refuses as the catalogue says, in the one shape; answers its issues. */
export const expectRefusal = (
  { status, headers, body }: Answer,
  name: RefusalName,
): { path: string; message: string }[] => {
  expect(body).toMatchObject({ error: name });
  expect(status).toBe(refusals[name].status);
  expect(headers.get('content-type')).toMatch(/^application\/json\b/);
  const parsed = ErrorBody.parse(body);
  expect(parsed.status).toBe(status);
  expect(parsed.request_id).toBe(headers.get('x-request-id'));
  return parsed.issues ?? [];
};
