// The threat model, promise by promise, with the tests that show each: one that is gone, or renamed, is missed.
import { describe, expect, test } from 'vitest';
import { callers } from './callers.ts';
import { content } from './content.ts';
import { doors } from './doors.ts';
import { webhooks } from './feedback.ts';
import { findMissing, runsTest } from './has_test.ts';
import { house } from './house.ts';
import { localUsers } from './local_users.ts';
import { owasp } from './owasp.ts';
import { tenants } from './tenants.ts';

const areas = [...callers, tenants, ...doors, webhooks, ...content, ...house, ...localUsers];

describe.each(areas)('$area', ({ promises }) => {
  test.each(promises)('$says', (promised) => {
    expect(findMissing(promised)).toEqual([]);
  });
});

describe('the OWASP API list of 2023', () => {
  test('each of the ten risks is answered, by areas that there are', () => {
    expect(owasp.map(({ risk }) => risk.split(' ', 1)[0])).toEqual(
      Array.from({ length: 10 }, (_, at) => `API${at + 1}`),
    );
    const known = areas.map(({ area }) => area);
    expect(owasp.flatMap((answer) => answer.areas).filter((area) => !known.includes(area))).toEqual(
      [],
    );
  });

  test.each(owasp)('$risk: $says', (answer) => {
    expect(findMissing(answer)).toEqual([]);
  });
});

test('every area of the threat model is here, once', () => {
  expect(areas.map(({ area }) => area)).toEqual([
    'Keys',
    'Publishable keys',
    'Email to strangers',
    'Tenant isolation',
    'Provider credentials',
    'Outgoing connections',
    'Webhooks',
    'E-mail building',
    'Templates',
    'Segments and filters',
    'Links',
    'Console',
    'Resource limits',
    'Logs and errors',
    'Erasure and retention',
    'Supply chain',
    'Local users',
  ]);
});

test.each([
  [`test('a', () => {});`, true],
  [`  test.each([\n    1,\n  ])('a', { timeout: 5 }, () => {});`, true],
  [`test${'.skip'}('a', () => {});`, false],
  [`test${'.todo'}('a');`, false],
  [`test${'.fails'}('a', () => {});`, false],
  [`test${'.skipIf'}(isSlow)('a', () => {});`, false],
  [`test('a', { skip: true }, () => {});`, false],
  [`describe${'.skip'}('b', () => {\n  test('a', () => {});\n});`, false],
  [`describe('a', () => {});`, false],
  [`// test('a', () => {});`, false],
  [`describe('b', () => {\n  // test('a', () => {});\n});`, false],
])('what is run counts, and nothing that is left out: %j', (text, isRun) => {
  expect(runsTest(text, 'a')).toBe(isRun);
});

test('a test that is not there is missed', () => {
  const shown = { 'hardening/promises.test.ts': ['a test that is not there is missed'] };
  expect(findMissing({ says: 'a', shown })).toEqual([]);
  expect(findMissing({ says: 'a', shown: {} })).toEqual(['nothing shows: a']);
  for (const [file, title] of [
    ['hardening/promises.test.ts', 'every area of the threat model'],
    ['hardening/promises.test.ts', 'the OWASP API list of 2023'],
    ['hardening/nothing.test.ts', 'a test that is not there is missed'],
    ['hardening/house.ts', 'the token is stored as a hash only'],
  ] as const)
    expect(findMissing({ says: 'a', shown: { [file]: [title] } })).toHaveLength(1);
});
