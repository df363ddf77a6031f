// Automations as a caller of the API has them, in a project with a provider and a template that work.
import { beforeEach, expect } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { inProject } from '../../src/base/db.ts';
import { keepShownProvider, makeShownProject, SHOWN_ID, shownRelay } from '../http/as_shown.ts';
import { testApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';
import { followPeople } from './follow_people.ts';

export { keepShownProvider };

/** A step that sends what is there to be sent. */
export const mailShown = (next: string | null = null) => ({
  kind: 'send_email' as const,
  provider_id: SHOWN_ID,
  template_id: SHOWN_ID,
  template_version: 1,
  next,
});

export const automationsThroughApi = (database: TestDatabase) => {
  shownRelay(database);
  const api = testApi(database);
  beforeEach(() => makeShownProject(database, api));

  const ask = async (method: string, path: string, body?: object, key = api.project.server_key) => {
    return api.call(method, path, { key, ...(body ? { body } : {}) });
  };
  const get = async (path: string) => {
    const answer = await ask('GET', `/v1/automations${path}`);
    expect([path, answer.status, answer.body.issues]).toEqual([path, 200, undefined]);
    return answer.body;
  };
  const post = async (path: string, body: object = {}) => {
    const answer = await ask('POST', `/v1/automations${path}`, body);
    expect([path, answer.status < 300, answer.body]).toEqual([path, true, answer.body]);
    return answer.body;
  };
  /** What a worker does until nothing is due. */
  const work = async () => {
    await api.processEvents();
    const advance = () => inProject(database.deps, api.project.project_id, automations.advance);
    await followPeople(database, api.project.project_id);
    while ((await advance()).isMore);
  };
  const happen = async (event: string, properties: object = {}, external_id = 'ann') => {
    await ask('POST', '/v1/events', { event, external_id, properties });
    await work();
  };
  const make = async (definition: NewDefinition, name = 'Made'): Promise<string> =>
    (await post('', { name, definition })).id;
  const live = async (definition: NewDefinition): Promise<string> => {
    const id = await make(definition);
    await post(`/${id}/activate`);
    return id;
  };
  /** Lets so much time go by for whoever waits. */
  const pass = async (interval: string) => {
    await database.owner.query(
      `update automations.runs set wake_at = wake_at - $2::interval, waits_until = waits_until - $2::interval
       where project_id = $1`,
      [api.project.project_id, interval],
    );
    await work();
  };
  const set = (statement: string) =>
    database.owner.query(`${statement} where project_id = $1`, [api.project.project_id]);
  return { api, ask, get, post, work, happen, make, live, pass, set };
};
