import { expect, test } from 'vitest';
import { toScramVerifier } from '../../src/runtime/scram.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

test('a verifier is what Postgres itself makes of the password', async () => {
  const role = 'scram_test';
  await database.owner.query(`create role ${role} password 'correct horse battery staple'`);
  const { rows } = await database.owner.query(
    'select rolpassword from pg_authid where rolname = $1',
    [role],
  );
  await database.owner.query(`drop role ${role}`);
  const kept: string = rows[0].rolpassword;
  const salt = Buffer.from(/:([^$]+)\$/.exec(kept)?.[1] ?? '', 'base64');
  expect(toScramVerifier('correct horse battery staple', salt)).toBe(kept);
});

test('the same password gets another salt each time', () => {
  expect(toScramVerifier('x')).not.toBe(toScramVerifier('x'));
});
