// Rows with reserved names that clients once sent: no segment counts them, neither from the past nor as they come.
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import type { EventRow } from '../../src/ingest/events.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { newEvent } from '../ingest/some_events.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { workOn } from '../support/work_on.ts';
import { recount, refreshOn } from './recount.ts';

const database = testDatabase();
const api = testApi(database);
const NAME = 'email_opened';
const leaf = { kind: 'event', event: NAME, where: [], count: { is: 'at_least', value: 1 } };

/** Rows of two people: of ann what clients sent, of bob what the service recorded. */
const open = (source: EventRow['source']) =>
  newEvent({ name: NAME, source, external_id: source === 'system' ? 'bob' : 'ann' });
const asked = async (project: NewProject, path: string, body?: object) =>
  (
    await api.call(body ? 'POST' : 'GET', path, {
      key: project.server_key,
      ...(body ? { body } : {}),
    })
  ).body;

const projectWith = async () => {
  const project = await createProject(database.deps, 'opens');
  const { project_id: projectId } = project;
  for (const external_id of ['ann', 'bob'])
    await asked(project, '/v1/identify', {
      external_id,
      traits: { email: `${external_id}@example.com` },
    });
  const rows = async () => {
    const events = (['browser', 'server', 'system'] as const).map(open);
    await acceptEvents(database.deps.db, projectId, newId(), events);
    await workOn(database, projectId);
  };
  const members = async (segmentId: string): Promise<string[]> => {
    const { rows: found } = await database.owner.query<{ value: string }>(
      `select value from segments.members join identity.identities using (project_id, profile_id)
      where project_id = $1 and segment_id = $2 order by 1`,
      [projectId, segmentId],
    );
    return found.map(({ value }) => value);
  };
  const make = async (where: object = leaf): Promise<string> => {
    const { id } = await asked(project, '/v1/segments', { name: 'Opened', definition: { where } });
    await refreshOn(database, projectId);
    return id as string;
  };
  return { project, projectId, rows, members, make };
};

const TESTS: [string, object][] = [
  ['event', leaf],
  ['event within days', { ...leaf, within_days: 7 }],
  [
    'event_time',
    {
      kind: 'event_time',
      event: NAME,
      where: [],
      occurrence: 'last',
      test: { is: 'within_last', days: 7 },
    },
  ],
];

describe.each(TESTS)('%s', (_kind, where) => {
  test('a row of the past that a client sent makes no member', async () => {
    const { rows, make, members, projectId } = await projectWith();
    await rows();
    expect(await members(await make(where))).toEqual(['bob']);
    const { rows: counted, expected } = await recount(database, projectId);
    expect(counted).toEqual(expected);
    expect(counted).toHaveLength(1);
  });

  test('a row that comes from a client makes no member', async () => {
    const { rows, make, members, projectId } = await projectWith();
    const id = await make(where);
    await rows();
    await refreshOn(database, projectId);
    expect(await members(id)).toEqual(['bob']);
  });

  test('a preview, which reads the timeline, and an explanation say the same', async () => {
    const { project, rows, make } = await projectWith();
    await rows();
    const preview = await asked(project, '/v1/segment-previews', { definition: { where } });
    expect(preview).toMatchObject({ members: 1 });
    const id = await make(where);
    const why = (who: string) =>
      asked(project, `/v1/segments/${id}/explain?profile=external_id:${who}`);
    expect((await why('bob')).where.events).toHaveLength(1);
    expect((await why('ann')).where).toMatchObject({ holds: false, events: [] });
  });
});
