import { expect } from 'vitest';
import type { TestApi } from '../support/api.ts';
import type { TestDatabase } from '../support/database.ts';
import { holdFolders } from '../support/held_folders.ts';
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
  };
};

export const limitsOfAdmin = (given: Given): Trials => ({
  ...limitsOfStreams(given),
  ...limitsOfFolders(given),
});
