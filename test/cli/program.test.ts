// The program itself, as a process of its own: a day's work with it, from signing in to signing out.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { automationsThroughApi } from '../automations/through_api.ts';
import { OWNER, testAdmin } from '../support/admin.ts';
import { runProgram, testCli } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const { api, happen } = automationsThroughApi(database);
testAdmin(database, api);
const { home, program } = testCli(database, api);

const ROOT = join(import.meta.dirname, '..', '..');
const MAIN = join(ROOT, 'src', 'cli', 'main.ts');
const FLOW_MS_MAX = 120_000;

/** What it prints, where it does what it was asked. */
const say = async (args: string[], input = ''): Promise<string> => {
  const { code, stdout, stderr } = await program(args, { input });
  expect([args, code, stderr]).toEqual([args, 0, expect.any(String)]);
  return stdout;
};

test('signs in, works on a project, and signs out', { timeout: FLOW_MS_MAX }, async () => {
  await happen('user_signed_up', { email: 'ann@example.com', first_name: 'Ann' });
  const folder = join(home, 'crm');
  await say(['login', '--email', OWNER.email, '--password-stdin'], OWNER.password);
  expect(await say(['projects'])).toContain(api.project.project_id);
  await say(['use', api.project.project_id]);
  expect(await say(['whoami'])).toContain(`${OWNER.email} at ${api.url}`);
  const key = (await say(['keys', 'create', 'server', '--password-stdin'], OWNER.password)).trim();
  expect((await api.call('GET', '/v1/segments', { key })).status).toBe(200);
  await say(['keys', 'revoke', key.slice(-4), '--yes']);

  expect(await say(['export', folder])).toMatch(/^\d files in /);
  writeFileSync(join(folder, 'templates', 'welcome.html'), 'Changed');
  expect(await say(['apply', folder, '--dry-run'])).toContain('+ /html "Changed"');
  expect(await say(['apply', folder, '--yes', '--activate'])).toContain('is active');
  expect(await say(['apply', folder, '--dry-run', '--json'])).toContain('"changes"');
  await say(['export', folder]);
  expect(readFileSync(join(folder, 'templates', 'welcome.json'), 'utf8')).toContain('"version": 2');

  expect(await say(['simulate', 'Welcome', '--days', '3'])).toContain('Nobody was mailed.');
  expect(await say(['explain', 'Welcome', 'ann'])).toContain('Welcome: ann');
  expect(await say(['explain', 'New on Pro', 'ann'])).toMatch(/^ann is (not )?in New on Pro/);
  expect(await say(['suppress', 'ann@example.com', '--reason', 'asked'])).toContain(
    'is suppressed',
  );
  expect(await say(['suppress', 'ann@example.com', '--lift', '--reason', 'asked'])).toContain(
    'is not suppressed',
  );
  const { rows } = await database.owner.query(
    `select distinct action from admin.audit where project_id = $1 and actor_kind = 'person' order by 1`,
    [api.project.project_id],
  );
  expect(rows.map(({ action }) => action)).toEqual([
    'folder.applyFiles',
    'keys.issue',
    'keys.revoke',
    'suppressions.lift',
    'suppressions.suppress',
  ]);

  await say(['logout']);
  const after = await program(['projects']);
  expect([after.code, after.stdout, after.stderr]).toEqual([
    3,
    '',
    expect.stringContaining('trunkline login --url'),
  ]);
});

test('what goes wrong is an exit code and a sentence, and no stack', async () => {
  const { code, stdout, stderr } = await program(['simulat', 'x']);
  expect([code, stdout, stderr]).toEqual([
    2,
    '',
    'There is no command simulat.\n  Did you mean simulate?\n',
  ]);
});

test('1: where Node is too old it says so, before anything else', async () => {
  const older = `Object.defineProperty(process, 'versions', { value: { node: '18.20.8' } });
    Array.prototype.toSorted = undefined;`;
  const preload = `--import=data:text/javascript,${encodeURIComponent(older)}`;
  expect(await runProgram(process.execPath, [preload, MAIN, 'nonsense'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'trunkline needs Node 20 or newer, and this is 18.20.8.\n',
  });
});

test('whoever stops reading what it prints is no error', async () => {
  const child = spawn(process.execPath, [MAIN, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const complaint: string[] = [];
  child.stderr.on('data', (chunk) => complaint.push(String(chunk)));
  const [code] = (await once(child, 'close')) as [number];
  expect([code, complaint.join('')]).toEqual([0, '']);
});

test('npx finds it in this folder, once it is installed', () => {
  expect(statSync(MAIN).mode & 0o111).toBe(0o111);
  expect(readFileSync(MAIN, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  execFileSync(process.execPath, [join(ROOT, 'src', 'runtime', 'link-node.mjs')]);
  const link = join(ROOT, 'node_modules', '.bin', 'trunkline');
  expect([existsSync(link), readlinkSync(link)]).toEqual([true, '../../src/cli/main.ts']);
  const said = execFileSync('npx', ['trunkline', '--version'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: 'pipe',
  });
  expect(said).toMatch(/^\d+\.\d+\.\d+\n$/);
});
