import type { Answer, Command, Given } from './command.ts';
import { ask, connect } from './connection.ts';
import { keepProject, readChoices } from './kept.ts';
import { findNamed, LOOKED_THROUGH_MAX, listProjects, sayMore } from './project.ts';
import { plain, styleOf, toTable } from './terminal.ts';
import type { World } from './terminal.ts';

const list = async (given: Given, world: World): Promise<Answer> => {
  const connection = connect(given, world);
  const { items, isMore } = await listProjects(connection);
  const value = { items, is_more: isMore };
  if (items.length === 0)
    return { value, text: 'You are in no project yet: an owner of one invites you.' };
  const { [connection.url]: chosen } = readChoices(world).projects ?? {};
  const rows = items.map(({ id, name, role }) => [name, role, id === chosen?.id ? '*' : '', id]);
  return {
    value,
    text: toTable(['NAME', 'ROLE', 'IN USE', 'ID'], rows, styleOf(world)),
    aside: sayMore(isMore, 'another is named by its id').join(''),
  };
};

const create = async (given: Given, world: World): Promise<Answer> => {
  const name = given.word(0, 'what it is called: trunkline projects create "My shop"');
  const connection = connect(given, world);
  const made = await ask(connection, () => connection.client.projects.make.mutate({ name }));
  return {
    value: made,
    text: `Made the project ${plain(made.name)}: ${made.id}`,
    aside: `trunkline use ${made.id} works on it; trunkline keys create server makes its key.`,
  };
};

const use = async (given: Given, world: World): Promise<Answer> => {
  const named = given.word(0, 'which project: trunkline use <name or id>');
  const connection = connect(given, world);
  const { id, name } = await findNamed(connection, named);
  keepProject(world, connection.url, { id, name: name ?? '' });
  return {
    value: { url: connection.url, id, name },
    text: `From now on it is ${plain(name ?? id)} (${id}) at ${connection.url}.`,
  };
};

export const projectCommands: Command[] = [
  {
    name: 'projects list',
    isDefaultOf: 'projects',
    wordsMax: 0,
    says: 'List the projects that you may work in.',
    more: `The newest ${LOOKED_THROUGH_MAX}; where there are more, it says so. A name is looked for among those.`,
    run: list,
  },
  {
    name: 'projects create',
    takes: '<name>',
    wordsMax: 1,
    says: 'Make a project; for administrators.',
    run: create,
  },
  {
    name: 'use',
    takes: '<project>',
    wordsMax: 1,
    says: 'Choose the project of all further commands, by name or id.',
    run: use,
  },
];
