// What an operator changes with `make` is in the audit log, as an operator's.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keepAdministrator } from '../../src/admin/admin.ts';
import { asOperator } from '../../src/base/audit.ts';
import { createProject } from '../../src/projects/projects.ts';
import { testDatabase } from '../support/database.ts';
import { runCommand } from '../support/run_command.ts';

const database = testDatabase();
const env = (more: Record<string, string> = {}) => ({ ...database.ownerEnv, ...more });

const ofProject = async (projectId: string): Promise<string[]> => {
  const { rows } = await database.owner.query<{ said: string }>(
    `select concat_ws(' ', actor_kind, actor_id, action) as said from admin.audit
    where project_id = $1 order by audit_id`,
    [projectId],
  );
  return rows.map(({ said }) => said);
};
const ofInstallation = async (): Promise<string[]> => {
  const { rows } = await database.owner.query<{ said: string }>(
    `select concat_ws(' ', actor_kind, actor_id, action) as said from admin.installation_audit
    order by audit_id`,
  );
  return rows.map(({ said }) => said);
};

test('make project', async () => {
  const made = runCommand('src/runtime/project.ts', [], env({ TRUNKLINE_PROJECT_NAME: 'My shop' }));
  expect(made.stderr).toBe('');
  const { project_id } = JSON.parse(made.stdout) as { project_id: string };
  expect(await ofProject(project_id)).toEqual(['operator make project']);
});

test('make analyst and make analyst-remove', async () => {
  const { project_id } = await createProject(database.deps, 'asked');
  for (const command of ['keep', 'remove', 'remove'])
    runCommand('src/runtime/analyst.ts', [command, project_id, 'bi'], env());
  expect(await ofProject(project_id)).toEqual([
    'operator make analyst',
    'operator make analyst-remove',
  ]);
});

test('make project-export reads, and leaves no entry', async () => {
  const { project_id } = await createProject(database.deps, 'exported');
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-export-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const ran = runCommand('src/runtime/export_apply.ts', [project_id, 'export', folder], env());
  expect([ran.status, await ofProject(project_id)]).toEqual([0, []]);
});

test('make hold-sending and make resume-sending', async () => {
  const before = (await ofInstallation()).length;
  runCommand('src/runtime/resume_sending.ts', ['hold'], env());
  runCommand('src/runtime/resume_sending.ts', ['resume'], env());
  expect((await ofInstallation()).slice(before)).toEqual([
    'operator make hold-sending',
    'operator make resume-sending',
  ]);
});

test('make start: only when it changes something', async () => {
  const before = (await ofInstallation()).length;
  const login = { email: 'owner@trunkline.test', password: 'correct horse battery' };
  for (const _ of [1, 2]) await keepAdministrator(asOperator(database.deps, 'make start'), login);
  expect((await ofInstallation()).slice(before)).toEqual(['operator make start']);
});
