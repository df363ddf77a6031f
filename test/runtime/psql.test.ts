// `make psql`: the password is no argument, because every user of the machine can read arguments.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { splitPassword } from '../../src/config/database_url.ts';
import { testDatabase } from '../support/database.ts';
import { runCommand } from '../support/run_command.ts';

const database = testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'trunkline-psql-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes what it was given, as a psql would get it. */
const FAKE = `#!/bin/sh
printf '%s\\n' "$*" > "${folder}/arguments"
printf '%s\\n' "$PGPASSWORD" > "${folder}/password"
`;

const readGiven = (name: string): string => readFileSync(join(folder, name), 'utf8').trim();

test('psql gets the password in its environment, and none among its arguments', () => {
  writeFileSync(join(folder, 'psql'), FAKE);
  chmodSync(join(folder, 'psql'), 0o755);
  const { url, password } = splitPassword(database.url);
  const env = {
    ...database.ownerEnv,
    PORT: '3000',
    PATH: [folder, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
  };
  const ran = runCommand('src/runtime/database.ts', ['psql'], env);
  expect([ran.status, ran.stderr]).toEqual([0, '']);
  expect([readGiven('arguments'), readGiven('password')]).toEqual([url, password]);
  if (password !== '') expect(readGiven('arguments')).not.toContain(password);
});

test('a password with signs that a URL writes otherwise is the same for psql', () => {
  expect(splitPassword('postgres://o:p%40%3A%2F%25@h/d?sslmode=require')).toEqual({
    url: 'postgres://o@h/d?sslmode=require',
    password: 'p@:/%',
  });
  expect(splitPassword('postgres://h/d')).toEqual({ url: 'postgres://h/d', password: '' });
});
