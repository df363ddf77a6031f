// Every procedure of a project, asked by an owner of another one about what is not theirs.
import { beforeAll, describe, expect, test } from 'vitest';
import { listEndpoints } from '../../src/http/openapi_read.ts';
import { makeDocument } from '../../src/http/openapi.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { SHOWN_ID, shownProjects, shownRelay, toShown } from '../http/as_shown.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';
import { readRows } from '../support/rows.ts';
import { changes, readings } from './audited_inputs.ts';
import type { Given } from './audited_inputs.ts';
import { procedures } from './role_table.ts';

const database = testDatabase();
shownRelay(database);
const api = testApi(database);
const admin = testAdmin(database, api);
const endpoints = listEndpoints(makeDocument());
const findShownProject = shownProjects(database, api);

let boss: SignedInPerson;
beforeAll(async () => {
  boss = await makePerson(database, { isAdmin: true });
});

/** A project that is not theirs, with all that the documents' examples name: nothing of it changes here. */
const findForeign = async (like: string | undefined): Promise<Given> => {
  const endpoint = endpoints.find(({ method, path }) => `${method} ${path}` === like);
  await findShownProject(endpoint);
  const body = endpoint && toShown(endpoint, api.project).call.body;
  return {
    database,
    projectId: api.project.project_id,
    body: typeof body === 'string' ? (JSON.parse(body) as object) : {},
    call: async (name, input) =>
      (await admin.call(name, { type: 'mutation', input, cookie: boss.cookie })).body.result.data,
  };
};

/** What reading procedures may be asked about: each takes of it what it knows. */
const named = async ({ projectId }: Given) => {
  const { rows } = await database.owner.query<{ profile_id: string }>(
    'select profile_id from profiles.profiles where project_id = $1 limit 1',
    [projectId],
  );
  const ids = ['send', 'provider', 'automation', 'template', 'segment', 'import', 'run'];
  return {
    ...Object.fromEntries(ids.map((name) => [`${name}Id`, SHOWN_ID])),
    profileId: rows[0]?.profile_id,
    email: 'ann@example.com',
    query: 'ann',
    version: 1,
  };
};

/** The same about nothing that there is. */
const aboutNothing = (input: object): object =>
  JSON.parse(
    JSON.stringify(input).replaceAll(/"[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}"/g, () =>
      JSON.stringify(newId()),
    ),
  ) as object;

const ofProjects = procedures.filter(
  ({ needs }) => needs && /^(?:viewer|editor|owner)$/.test(needs),
);

describe.each(ofProjects)('$name', ({ name, type }) => {
  test('answers about another project’s as about nothing, and changes nothing there', async () => {
    const tried = changes[name] ?? readings[name];
    const foreign = await findForeign(tried?.like);
    const input = tried ? await tried.input(foreign) : await named(foreign);
    const own = await createProject(database.deps, 'own');
    const projectId = own.project_id;
    const { cookie } = await makePerson(database, { projectId, role: 'owner' });
    const ask = async (about: object) => {
      const asked = { type, input: { password: PASSWORD, ...about, projectId }, cookie } as const;
      const { status, body } = await admin.call(name, asked);
      expect(JSON.stringify(body)).not.toContain(foreign.projectId);
      return [status, body.error?.message];
    };
    const before = await readRows(database, foreign.projectId);
    const answered = await ask(input);
    expect(await readRows(database, foreign.projectId)).toEqual(before);
    const hasName = JSON.stringify(input) !== JSON.stringify(aboutNothing(input));
    if (hasName) expect(answered).toEqual(await ask(aboutNothing(input)));
    if (hasName && type === 'mutation') expect(answered[0]).toBeGreaterThanOrEqual(400);
  });
});
