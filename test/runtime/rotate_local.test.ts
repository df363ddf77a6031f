// `make rotate-master-key` of a local installation, which keeps its own keys.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { keepSecrets, readHome } from '../../src/runtime/home.ts';
import { runCommand } from '../support/run_command.ts';

const place = mkdtempSync(join(tmpdir(), 'rotate-local-'));
afterAll(() => rmSync(place, { recursive: true }));

const rotate = (folder: string) =>
  runCommand('src/runtime/rotate_master_key.ts', [], { TRUNKLINE_HOME: folder });

test('where there is no installation it makes none, and says so', () => {
  const folder = join(place, 'none');
  const { status, stderr } = rotate(folder);
  expect([status, stderr]).toEqual([1, expect.stringContaining('There is no installation')]);
  expect(existsSync(folder)).toBe(false);
});

test('the first step keeps the new key beside the old one, and wraps nothing yet', async () => {
  const folder = join(place, 'one');
  const home = readHome({ TRUNKLINE_HOME: folder });
  const { master_key, ...others } = await keepSecrets(home);
  const { status, stdout } = rotate(folder);
  expect([status, stdout]).toEqual([0, expect.stringContaining('A new master key')]);
  const kept = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'));
  expect(kept).toMatchObject({ ...others, master_key_previous: master_key });
  expect(kept.master_key).not.toBe(master_key);
});
