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
const PAGES_MAX = 50;
/** So many of a kind are looked through, the newest; what is past them is named by its id. */
export const LOOKED_THROUGH_MAX = PAGES_MAX * PAGE_MAX;
/** So many are named where one of them is to be chosen. */
const SHOWN_MAX = 50;

type Page<T> = { items: T[]; next_cursor: string | null };
export type Listing<T> = { items: T[]; isMore: boolean };

/** All there are, page after page, until it is enough. */
export const listAll = async <T>(
  list: (page: { limit: number; cursor?: string }) => Promise<Page<T>>,
): Promise<Listing<T>> => {
  const items: T[] = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null && pages < PAGES_MAX; pages += 1) {
    const page: Page<T> = await list({ limit: PAGE_MAX, ...(cursor === '' ? {} : { cursor }) });
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return { items, isMore: cursor !== null };
};

/** What is to be said where more are there than were looked through. */
export const sayMore = (isMore: boolean, how: string): string[] =>
  isMore ? [`Only the newest ${LOOKED_THROUGH_MAX} were looked through: ${how}.`] : [];

/** The projects that somebody may see. */
export const listProjects = (connection: Connection) =>
  ask(connection, () => listAll((page) => connection.client.projects.list.query(page)));

type Listed = Awaited<ReturnType<typeof listProjects>>['items'][number];
export type Project = { id: string; name: string | null };

const toLines = (projects: readonly Listed[]): string[] =>
  projects.map(({ id, name }) => `${id}  ${plain(name)}`);

/** The one of them that is called so; of several the id has to be said. */
export const findNamed = async (connection: Connection, text: string): Promise<Project> => {
  const { items, isMore } = await listProjects(connection);
  const found = items.filter(({ id, name }) => id === text.toLowerCase() || name === text);
  const [only, ...others] = found;
  if (only === undefined)
    throw refuseWord(`You have no project called ${plain(text)}: trunkline projects lists them.`, {
      word: text,
      words: items.map(({ name }) => name),
      todo: sayMore(isMore, 'another is named by its id, with --project or TRUNKLINE_PROJECT'),
    });
  if (others.length === 0) return only;
  throw misused(
    `${found.length} projects are called ${plain(text)}: say which by its id.`,
    ...toLines(found),
  );
};

const findOnly = async (connection: Connection): Promise<Project> => {
  const { items, isMore } = await listProjects(connection);
  const [only, ...others] = items;
  if (only === undefined) throw misused('You are in no project yet: an owner of one invites you.');
  if (others.length === 0) return only;
  throw misused(
    'Say which project: --project <name or id>, TRUNKLINE_PROJECT, or trunkline use.',
    ...toLines(items.slice(0, SHOWN_MAX)),
    ...(isMore || items.length > SHOWN_MAX ? ['… and more: trunkline projects'] : []),
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
