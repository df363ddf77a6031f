import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { readSettingFiles, SECRET_SETTINGS, withoutFiles } from '../../src/config/setting_files.ts';

const folder = mkdtempSync(join(tmpdir(), 'setting-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const fileWith = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

test.each(SECRET_SETTINGS)('%s can be in a file; line ends around it do not count', (setting) => {
  const file = fileWith(setting, `\nof ${setting}\r\n`);
  expect(readSettingFiles({ [`${setting}_FILE`]: file })[setting]).toBe(`of ${setting}`);
});

test('the service starts with all secrets in files', () => {
  const config = readConfig({
    DATABASE_URL: 'postgres://h/d',
    MASTER_KEY_FILE: fileWith('key', `${'0'.repeat(64)}\n`),
    METRICS_TOKEN_FILE: fileWith('token', 'sixteen characters'.replace(' ', '-')),
  });
  expect([config.masterKey.length, config.metricsToken]).toEqual([32, 'sixteen-characters']);
});

test('a setting that has a value and a file is refused', () => {
  const MASTER_KEY_FILE = fileWith('both', 'x');
  expect(() => readSettingFiles({ MASTER_KEY: 'x', MASTER_KEY_FILE })).toThrow(
    'MASTER_KEY and MASTER_KEY_FILE are both set. Remove one of them.',
  );
});

test('a file that cannot be read is named, and why', () => {
  const MASTER_KEY_FILE = join(folder, 'nothing');
  expect(() => readConfig({ DATABASE_URL: 'postgres://h/d', MASTER_KEY_FILE })).toThrow(
    `MASTER_KEY_FILE (${MASTER_KEY_FILE}) cannot be read: ENOENT`,
  );
});

test('a setting that is no secret has no file', () => {
  expect(readSettingFiles({ PORT_FILE: join(folder, 'nothing') })['PORT']).toBeUndefined();
});

test('an environment that was read has no names of files any more', () => {
  expect(withoutFiles({ MASTER_KEY_FILE: 'a', PORT: '1' })).toEqual({ PORT: '1' });
});
