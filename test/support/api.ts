import { afterAll, beforeAll } from 'vitest';
import { openApi } from '../../src/http/api.ts';
import type { Listening } from '../../src/http/api.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import type { TestDatabase } from './database.ts';

export type Answer = { status: number; headers: Headers; body: Json };
/** What an answer's body may hold; tests look at it with matchers. */
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any;

export type Call = {
  key?: string | null;
  /** Sent as JSON, unless it is a string or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
};
export type TestApi = {
  url: string;
  project: NewProject;
  call: (method: string, path: string, call?: Call) => Promise<Answer>;
};

const toInit = (body: unknown): { body?: string | Uint8Array<ArrayBuffer> } => {
  if (body === undefined) return {};
  if (typeof body === 'string') return { body };
  return { body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body) };
};

/** The real app on a real port, over the test's database, with a project of its own. */
export const testApi = (database: TestDatabase): TestApi => {
  const api = {} as TestApi;
  let listening: Listening;

  beforeAll(async () => {
    listening = await openApi(database.deps, { isDraining: false }, true);
    api.url = `http://127.0.0.1:${listening.port}`;
    api.project = await createProject(database.deps, 'test');
  });
  afterAll(() => listening.close());

  api.call = async (method, path, { key, body, headers = {} } = {}) => {
    const response = await fetch(api.url + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key ? { authorization: `Bearer ${key}` } : {}),
        ...headers,
      },
      ...toInit(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    };
  };
  return api;
};
