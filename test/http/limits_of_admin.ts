import { expect } from 'vitest';
import { FOLDERS_PER_PERSON_MAX } from '../../src/admin/folder_limits.ts';
import { folderTurnsOf } from '../../src/admin/folder_turns.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { TestApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';
import { holdFolders } from '../support/held_folders.ts';
import type { HeldFolders } from '../support/held_folders.ts';
import { makePerson } from '../support/people.ts';
import { until } from '../support/until.ts';
import { limitsOfStreams } from './limits_of_streams.ts';
import { chars, times } from './of_size.ts';

type Given = { api: TestApi; database: TestDatabase };
type Trials = Record<string, (value: number) => Promise<void>>;

const EMPTY = { 'templates/x.txt': '' };

/** At the bound a folder is compared, one past it it is refused. */
const limitsOfFolders = ({ api, database }: Given): Trials => {
  const signIn = async () => {
    const { project_id: projectId } = api.project;
    const { cookie } = await makePerson(database, { projectId, role: 'viewer' });
    const headers = { cookie, origin: api.url };
    const ask = async (files: object, bytes = 0): Promise<number> => {
      const short = JSON.stringify({ projectId, files, filler: '' });
      const body = short.replace(/"\}$/, `${chars(Math.max(0, bytes - short.length))}"}`);
      return (await api.call('POST', '/admin/trpc/folder.compareFiles', { body, headers })).status;
    };
    return { cookie, ask };
  };
  const sized =
    (filesOf: (count: number) => object): Trials[string] =>
    async (value) => {
      const { ask } = await signIn();
      expect(await ask(filesOf(value))).toBe(200);
      expect(await ask(filesOf(value + 1))).toBe(400);
    };
  return {
    'Body of a folder': async (value) => {
      const { ask } = await signIn();
      expect([await ask(EMPTY, value), await ask(EMPTY, value + 1)]).toEqual([200, 413]);
    },
    'Files of a folder': sized((count) =>
      Object.fromEntries(times(count, (at) => [`templates/x${at}.txt`, ''])),
    ),
    'A file of a folder': sized((count) => ({ 'templates/x.txt': chars(count) })),
    'Name of such a file': sized((count) => ({
      [`templates/${chars(count - 'templates/.txt'.length)}.txt`]: '',
    })),
    'Folders of one person at a time': async (value) => {
      const { cookie, ask } = await signIn();
      const held = holdFolders(api.url, { cookie, count: value + 1 });
      await until('one too many', () => held.answers.length > 0);
      expect([await ask(EMPTY), held.answers.length]).toEqual([503, 1]);
      held.letGo(1);
      await until('room for one', async () => (await ask(EMPTY)) === 200);
      held.letGo();
    },
    'Folders of everybody at a time': async (value) => {
      const { ask } = await signIn();
      // Those of the trial before may not have been missed yet.
      await until('nobody holds one', () => folderTurnsOf(database.deps).takenCount === 0);
      const held: HeldFolders[] = [];
      for (let rest = value; rest > 0; rest -= FOLDERS_PER_PERSON_MAX) {
        const count = Math.min(rest, FOLDERS_PER_PERSON_MAX);
        held.push(holdFolders(api.url, { cookie: (await signIn()).cookie, count }));
      }
      await until('all are held', () => folderTurnsOf(database.deps).takenCount === value);
      expect(await ask(EMPTY)).toBe(503);
      held[0]?.letGo(1);
      await until('room for one', async () => (await ask(EMPTY)) === 200);
      expect(held.flatMap(({ answers }) => answers)).toEqual([]);
      for (const one of held) one.letGo();
    },
  };
};

/** What is exported at the bound comes whole; one past it is refused. */
const limitsOfExports = ({ api, database }: Given): Trials => {
  const make = async () => (await createProject(database.deps, 'exported')).project_id;
  const ask = async (projectId: string) => {
    const { cookie } = await makePerson(database, { projectId, role: 'viewer' });
    const asked = encodeURIComponent(JSON.stringify({ projectId }));
    const path = `/admin/trpc/folder.exportFiles?input=${asked}`;
    const { status, body } = await api.call('GET', path, { headers: { cookie } });
    return { status, files: (body.result?.data.files ?? {}) as Record<string, string> };
  };
  /** Templates that are two files each, without anybody's looking at them. */
  const add = (projectId: string, count: number) =>
    database.owner.query(
      `with head as (
         insert into rendering.heads (project_id, template_id, name, latest_version, created_at, updated_at)
         select $1, id, 'exported ' || id, 1, now(), now()
         from (select gen_random_uuid() as id from generate_series(1, $2::int)) as made
         returning project_id, template_id, name
       )
       insert into rendering.templates (project_id, template_id, version, name, subject, html, created_at)
       select project_id, template_id, 1, name, 'Hi', '', now() from head`,
      [projectId, count],
    );
  const grow = (projectId: string, by: number) =>
    database.owner.query(
      `update rendering.templates set html = html || repeat('x', $2::int) where project_id = $1`,
      [projectId, by],
    );
  const charsOf = (files: Record<string, string>) => Object.values(files).join('').length;
  return {
    'Files of an exported folder': async (value) => {
      const projectId = await make();
      await add(projectId, value / 2);
      const { status, files } = await ask(projectId);
      expect([status, Object.keys(files).length]).toEqual([200, value]);
      await add(projectId, 1);
      expect((await ask(projectId)).status).toBe(400);
    },
    'An exported folder': async (value) => {
      const projectId = await make();
      await add(projectId, 1);
      await grow(projectId, value - charsOf((await ask(projectId)).files));
      const { status, files } = await ask(projectId);
      expect([status, charsOf(files)]).toEqual([200, value]);
      await grow(projectId, 1);
      expect((await ask(projectId)).status).toBe(400);
    },
  };
};

export const limitsOfAdmin = (given: Given): Trials => ({
  ...limitsOfStreams(given),
  ...limitsOfFolders(given),
  ...limitsOfExports(given),
});
