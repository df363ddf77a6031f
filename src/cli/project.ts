import type { Given } from './command.ts';
import { refuseWord } from './arguments.ts';
import { ask } from './connection.ts';
import type { Connection } from './connection.ts';
import { misused } from './failure.ts';
import { readChoices } from './kept.ts';
import { plain } from './terminal.ts';
import type { World } from './terminal.ts';

export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const PAGE_MAX = 200;

type Page<T> = { items: T[]; next_cursor: string | null };

/** All there are, page after page. */
export const listAll = async <T>(
  list: (page: { limit: number; cursor?: string }) => Promise<Page<T>>,
): Promise<T[]> => {
  const found: T[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Page<T> = await list({ limit: PAGE_MAX, ...(cursor === '' ? {} : { cursor }) });
    found.push(...page.items);
    cursor = page.next_cursor;
  }
  return found;
};

/** The projects that somebody may see. */
export const listProjects = (connection: Connection) =>
  ask(connection, () => listAll((page) => connection.client.projects.list.query(page)));

type Listed = Awaited<ReturnType<typeof listProjects>>[number];
export type Project = { id: string; name: string | null };

const toLines = (projects: readonly Listed[]): string[] =>
  projects.map(({ id, name }) => `${id}  ${plain(name)}`);

/** The one of them that is called so; of several the id has to be said. */
export const findNamed = async (connection: Connection, text: string): Promise<Project> => {
  const all = await listProjects(connection);
  const found = all.filter(({ id, name }) => id === text.toLowerCase() || name === text);
  const [only, ...others] = found;
  if (only === undefined)
    throw refuseWord(
      `You have no project called ${plain(text)}: trunkline projects lists them.`,
      text,
      all.map(({ name }) => name),
    );
  if (others.length === 0) return only;
  throw misused(
    `${found.length} projects are called ${plain(text)}: say which by its id.`,
    ...toLines(found),
  );
};

const findOnly = async (connection: Connection): Promise<Project> => {
  const all = await listProjects(connection);
  const [only, ...others] = all;
  if (only === undefined) throw misused('You are in no project yet: an owner of one invites you.');
  if (others.length === 0) return only;
  throw misused(
    'Say which project: --project <name or id>, TRUNKLINE_PROJECT, or trunkline use.',
    ...toLines(all),
  );
};

/** The project that is meant. */
export const findProject = async (
  given: Given,
  world: World,
  connection: Connection,
): Promise<Project> => {
  const said = given.text('project') ?? world.env['TRUNKLINE_PROJECT'] ?? '';
  if (UUID.test(said)) return { id: said.toLowerCase(), name: null };
  if (said !== '') return findNamed(connection, said);
  const { [connection.url]: chosen } = readChoices(world).projects ?? {};
  return chosen ?? findOnly(connection);
};

/** What a command about one project works with. */
export const inProject = async (given: Given, world: World, connection: Connection) => ({
  ...connection,
  projectId: (await findProject(given, world, connection)).id,
});
export type Inside = Awaited<ReturnType<typeof inProject>>;
