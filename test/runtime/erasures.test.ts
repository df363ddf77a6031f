// The ledger as a file: what an operator keeps, and replays after a backup was restored.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { identify } from '../../src/profiles/identify.ts';
import { createProject } from '../../src/projects/projects.ts';
import { eraseNow } from '../support/erase.ts';
import { testDatabase } from '../support/database.ts';
import { runCommand } from '../support/run_command.ts';

const database = testDatabase();
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ledger-'));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...args: string[]) => runCommand('src/runtime/erasures.ts', args, database.env);

const countErasures = async (): Promise<Record<string, number>> => {
  const { rows } = await database.owner.query<{ status: string; count: number }>(
    'select status, count(*)::int from profiles.erasures group by status',
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
};

/** A project in which somebody was erased. */
const erased = async () => {
  const { project_id: projectId } = await createProject(database.deps, 'test');
  const person = { external_id: newId() };
  await identify(database.deps, { projectId, kind: 'server' }, person);
  const { rows } = await database.owner.query<{ profile_id: string }>(
    'select profile_id from identity.identities where project_id = $1',
    [projectId],
  );
  const erasureId = await eraseNow(database, projectId, rows[0]?.profile_id ?? '');
  return { projectId, erasureId, person };
};

test('the ledger is a file with every project, and what a restored database lacks is asked for again', async () => {
  const [one, other] = [await erased(), await erased()];
  const file = join(folder, 'erasures.jsonl');
  expect(run('export', file)).toMatchObject({ status: 0, stdout: '' });
  const text = await readFile(file, 'utf8');
  const lines = text.trimEnd().split('\n');
  expect(
    lines.map((line) => (JSON.parse(line) as { erasure_id: string }).erasure_id).toSorted(),
  ).toEqual([one.erasureId, other.erasureId].toSorted());
  for (const { person } of [one, other]) expect(text).not.toContain(person.external_id);
  expect(run('export').stdout).toBe(text);

  expect(run('replay', file).stdout).toContain(`${one.projectId}: 0 of 1 erasures asked for again`);
  // As a backup has it that was made before the erase.
  await database.owner.query('truncate profiles.erasures cascade');
  await identify(database.deps, { projectId: one.projectId, kind: 'server' }, one.person);
  expect(run('replay', file)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(`${one.projectId}: 1 of 1 erasures asked for again`) as string,
  });
  expect(await countErasures()).toEqual({ pending: 2 });
  const { rows } = await database.owner.query(
    'select erasure_id from identity.identities where project_id = $1',
    [one.projectId],
  );
  expect(rows).toEqual([{ erasure_id: one.erasureId }]);
});

test('a project that is not there is said, and the others are replayed', async () => {
  const { projectId } = await erased();
  const file = join(folder, 'foreign.jsonl');
  const { stdout } = run('export');
  await writeFile(file, stdout.replaceAll(projectId, newId()));
  const { status, stderr } = run('replay', file);
  expect([status, stderr]).toEqual([0, expect.stringContaining('no such project here')]);
});

test.each([
  ['no file', [] as string[], 'Say which ledger'],
  [
    'a file that is not there',
    ['/nowhere/erasures.jsonl'],
    '/nowhere/erasures.jsonl (ENOENT): it is not there',
  ],
  ['a folder', ['/'], '/ (EISDIR): it is a folder, and a file has to be there'],
])('a replay of %s is refused', (_what, args, said) => {
  expect(run('replay', ...args)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(said) as string,
  });
});

test('an export that cannot be written says where, and what to do', () => {
  expect(run('export', '/nowhere/erasures.jsonl')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^\/nowhere\/\S+ \(ENOENT\): .*Say another place\.\n$/) as string,
  });
});

test('a broken line stops everything before anything is asked for', async () => {
  const file = join(folder, 'broken.jsonl');
  const before = await countErasures();
  const { stdout } = run('export');
  await database.owner.query('truncate profiles.erasures cascade');
  await writeFile(file, `${stdout}{"erasure_id":`);
  const { status, stderr } = run('replay', file);
  expect([status, stderr]).toEqual([1, expect.stringContaining('is no line of a ledger')]);
  expect(before).not.toEqual({});
  expect(await countErasures()).toEqual({});
});
