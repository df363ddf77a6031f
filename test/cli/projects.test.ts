// Which project is meant, and the keys of one.
import { beforeAll, describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../../src/cli/failure.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testCli } from '../support/cli.ts';
import type { Asking } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const { as } = testCli(database, api);

let boss: SignedInPerson;
let owner: SignedInPerson;
beforeAll(async () => {
  boss = await makePerson(database, { isAdmin: true });
  owner = await makePerson(database, { projectId: api.project.project_id, role: 'owner' });
});

const make = async (name: string): Promise<string> =>
  (await createProject(database.deps, name)).project_id;
const join = (who: SignedInPerson, projectId: string, role = 'viewer') =>
  database.owner.query('insert into admin.members values ($1, $2, $3, now())', [
    projectId,
    who.personId,
    role,
  ]);
/** The project that a command was about. */
const meant = async (who: SignedInPerson, args: string[], env: Record<string, string> = {}) => {
  const { code, stdout, stderr } = await as(who, ['whoami', '--json', ...args], { env });
  return code === 0 ? JSON.parse(stdout).project?.id : stderr;
};

describe('projects', () => {
  test('are made by administrators, and listed with one’s role', async () => {
    const made = await as(boss, ['projects', 'create', 'My shop', '--json']);
    const { id } = JSON.parse(made.stdout) as { id: string };
    const { code, stdout } = await as(boss, ['projects']);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^NAME +ROLE +IN USE +ID\n/)]);
    expect(stdout).toMatch(new RegExp(`^My shop +owner +${id}$`, 'm'));
    const mine = JSON.parse((await as(owner, ['projects', 'list', '--json'])).stdout);
    expect(mine).toEqual({
      items: [{ id: api.project.project_id, name: 'test', role: 'owner' }],
      is_more: false,
    });
  });

  test('1: nobody else makes them, and a name must be one', async () => {
    const { code, stderr } = await as(owner, ['projects', 'create', 'Mine']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('administrators')]);
    const long = await as(boss, ['projects', 'create', 'x'.repeat(201)]);
    expect([long.code, long.stderr]).toEqual([
      1,
      'This is refused: name: at most 200 characters\n',
    ]);
    const blank = await as(boss, ['projects', 'create', '   ']);
    expect([blank.code, blank.stderr]).toEqual([1, 'This is refused: name: must not be empty\n']);
  });

  test('of nobody there is none, which says what to do', async () => {
    const stranger = await makePerson(database);
    expect((await as(stranger, ['projects'])).stdout).toContain('an owner of one invites you');
    const { code, stderr } = await as(stranger, ['keys']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('an owner of one invites you')]);
  });

  test('a name cannot move the cursor of whoever lists them', async () => {
    const sly = await makePerson(database);
    await join(sly, await make('\u001B[2Jgone\u202E\nand more'));
    const { stdout } = await as(sly, ['projects']);
    expect(stdout).toContain('\u{FFFD}[2Jgone\u{FFFD}\u{FFFD}and more');
  });
});

describe('the project that is meant', () => {
  test('is the only one, until there are several', async () => {
    const who = await makePerson(database);
    const first = await make('first');
    await join(who, first);
    expect(await meant(who, [])).toBe(first);
    const second = await make('second');
    await join(who, second);
    expect(await meant(who, [])).toBeUndefined();
    const { code, stderr } = await as(who, ['keys']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--project <name or id>')]);
    for (const id of [first, second]) expect(stderr).toContain(id);
  });

  test('is said with the command, else by the environment, else what use chose', async () => {
    const who = await makePerson(database);
    const ids = [await make('one'), await make('two'), await make('three')];
    for (const id of ids) await join(who, id);
    const used = await as(who, ['use', 'one']);
    expect(used).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(ids[0] ?? '') as string,
    });
    const env = { TRUNKLINE_PROJECT: 'two' };
    expect(await meant(who, [])).toBe(ids[0]);
    expect(await meant(who, [], env)).toBe(ids[1]);
    expect(await meant(who, ['--project', 'three'], env)).toBe(ids[2]);
    expect(await meant(who, ['--project', (ids[0] ?? '').toUpperCase()], env)).toBe(ids[0]);
    expect((await as(who, ['projects'])).stdout).toMatch(/^one +viewer +\* /m);
  });

  test('2: a name that two have is said by the id, and a wrong one with the nearest', async () => {
    const who = await makePerson(database);
    const ids = [await make('Twins'), await make('Twins')];
    for (const id of ids) await join(who, id);
    const both = await as(who, ['use', 'Twins']);
    expect([both.code, both.stderr]).toEqual([
      2,
      expect.stringContaining('2 projects are called Twins'),
    ]);
    for (const id of ids) expect(both.stderr).toContain(id);
    expect((await as(who, ['use', ids[1] ?? ''])).code).toBe(0);
    const wrong = await as(who, ['keys', '--project', 'Twin']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Did you mean Twins?')]);
  });

  test('1: one that somebody does not see does not exist for them', async () => {
    const elsewhere = await make('elsewhere');
    const answers = [];
    for (const id of [elsewhere, newId()]) answers.push(await as(owner, ['keys', '--project', id]));
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('trunkline projects lists yours') as string,
    });
    expect((await as(owner, ['use', elsewhere])).code).toBe(2);
  });
});

describe('keys', () => {
  const mine = (args: string[], asking: Asking = {}) =>
    as(owner, args, { ...asking, env: { TRUNKLINE_PROJECT: 'test' } });
  const keys = async () =>
    (
      JSON.parse((await mine(['keys', '--json'])).stdout) as {
        items: { id: string; last_four: string }[];
      }
    ).items;

  test('are made with the password again, shown once, listed, and revoked', async () => {
    const made = await mine(['keys', 'create', 'server', '--password-stdin'], {
      input: PASSWORD,
    });
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('this once') as string });
    expect(made.stdout).toMatch(/^svc_secret_live_\w+\n$/);
    const key = made.stdout.trim();
    const use = () => api.call('GET', '/v1/segments', { key });
    expect((await use()).status).toBe(200);
    const listed = await mine(['keys', 'list']);
    expect(listed.stdout).toMatch(
      new RegExp(`^server +…${key.slice(-4)} +\\d{4}-.*Z +[\\da-f-]{36}$`, 'm'),
    );
    expect(listed.stdout).not.toContain(key);
    const asked = await mine(['keys', 'revoke', key.slice(-4)]);
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('--yes')]);
    const revoked = await mine(['keys', 'revoke', key.slice(-4), '--yes']);
    expect(revoked.stdout).toBe(`Revoked the server key …${key.slice(-4)}.\n`);
    expect((await keys()).map(({ last_four }) => last_four)).not.toContain(key.slice(-4));
  });

  test('the password is typed unseen; a wrong one makes none', async () => {
    const before = await keys();
    const args = ['keys', 'create', 'publishable'];
    const typed = await mine(args, { isTerminal: true, input: `${PASSWORD}\r` });
    expect(typed.stdout).toMatch(/^svc_pub_live_/);
    const wrong = await mine(args, { isTerminal: true, input: 'guessed\r' });
    expect([wrong.code, wrong.stdout]).toEqual([EXIT_CODES.failed, '']);
    expect(wrong.stderr).toContain('This is not your password.');
    expect(await keys()).toHaveLength(before.length + 1);
  });

  test('1: are for owners', async () => {
    const editor = await makePerson(database, {
      projectId: api.project.project_id,
      role: 'editor',
    });
    const args = ['keys', 'list', '--project', api.project.project_id];
    const { code, stderr } = await as(editor, args);
    expect([code, stderr]).toEqual([1, expect.stringContaining('role owner')]);
  });

  test('2: one that is not there is not revoked', async () => {
    const { code, stderr } = await mine(['keys', 'revoke', 'zzzz', '--yes']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('There is no key zzzz')]);
  });
});
