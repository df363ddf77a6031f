import { askPassword, confirm } from './ask.ts';
import { readChoice } from './arguments.ts';
import type { Answer, Command, Given } from './command.ts';
import { ask, connect } from './connection.ts';
import { misused } from './failure.ts';
import { inProject } from './project.ts';
import type { Inside } from './project.ts';
import { styleOf, toTable, toTime } from './terminal.ts';
import type { World } from './terminal.ts';

const KINDS = ['publishable', 'server'] as const;

const listKeys = async (inside: Inside) => {
  const { client, projectId } = inside;
  return (await ask(inside, () => client.keys.list.query({ projectId }))).items;
};

const list = async (given: Given, world: World): Promise<Answer> => {
  const items = await listKeys(await inProject(given, world, connect(given, world)));
  const rows = items.map(({ id, kind, last_four, created_at }) => [
    kind,
    `…${last_four}`,
    toTime(created_at),
    id,
  ]);
  return {
    value: { items },
    text:
      rows.length === 0
        ? 'The project has no keys: trunkline keys create server'
        : toTable(['KIND', 'ENDS IN', 'MADE', 'ID'], rows, styleOf(world)),
  };
};

const create = async (given: Given, world: World): Promise<Answer> => {
  const kind = readChoice(
    'The kind of a key',
    given.word(0, 'which kind: publishable or server'),
    KINDS,
  );
  const inside = await inProject(given, world, connect(given, world));
  const { client, projectId } = inside;
  const password = await askPassword(world, {
    isPiped: given.is('password-stdin'),
    question: 'A key is made only with your password again: ',
  });
  const { key } = await ask(inside, () => client.keys.issue.mutate({ projectId, kind, password }));
  const where =
    kind === 'server' ? 'It is for your backend alone.' : 'It may be in pages and apps.';
  return {
    value: { kind, key },
    text: key,
    aside: `This is the ${kind} key. It is shown this once. ${where}`,
  };
};

const revoke = async (given: Given, world: World): Promise<Answer> => {
  const named = given.word(0, 'which key: its id, or the four letters that it ends in');
  const inside = await inProject(given, world, connect(given, world));
  const { client, projectId } = inside;
  const found = (await listKeys(inside)).filter(
    ({ id, last_four }) => id === named.toLowerCase() || last_four === named.replace(/^…/, ''),
  );
  const [key, ...others] = found;
  if (key === undefined) throw misused(`There is no key ${named}: trunkline keys lists them.`);
  if (others.length > 0)
    throw misused(
      `${found.length} keys end in ${named}: say the id.`,
      ...found.map(({ id }) => id),
    );
  const called = `the ${key.kind} key …${key.last_four}`;
  await confirm(world, {
    isSaid: given.is('yes'),
    question: `Whoever uses ${called} is refused from then on. Revoke it?`,
  });
  await ask(inside, () => client.keys.revoke.mutate({ projectId, keyId: key.id }));
  return { value: { id: key.id, revoked: true }, text: `Revoked ${called}.` };
};

export const keyCommands: Command[] = [
  {
    name: 'keys list',
    isDefaultOf: 'keys',
    wordsMax: 0,
    says: 'List the keys of the API; for owners.',
    isOfProject: true,
    run: list,
  },
  {
    name: 'keys create',
    takes: '<kind>',
    wordsMax: 1,
    says: 'Make a key, and print it this once.',
    more: '<kind> is server or publishable. Only the key is on standard output: KEY=$(trunkline keys create server)',
    options: { 'password-stdin': { says: 'Read your password from standard input.' } },
    isOfProject: true,
    run: create,
  },
  {
    name: 'keys revoke',
    takes: '<key>',
    wordsMax: 1,
    says: 'Have a key refused from now on: its id, or its last four.',
    options: { yes: { short: 'y', says: 'Do it without asking.' } },
    isOfProject: true,
    run: revoke,
  },
];
