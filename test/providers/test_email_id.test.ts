import { expect, test } from 'vitest';
import { Keys } from '../../src/base/keys.ts';
import { isTestEmail, testEmailId } from '../../src/providers/test_email_id.ts';
import type { TestEmail } from '../../src/providers/test_email_id.ts';

const keys = new Keys(Buffer.alloc(32, 1));
const email: TestEmail = { projectId: 'p', to: 'ann@example.com', service: 'amazon_ses' };
const id = testEmailId(keys, email, 'one');

test('an id is a UUID of version 8, the same for the same test and another for the next', () => {
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(testEmailId(keys, email, 'one')).toBe(id);
  expect(testEmailId(keys, email, 'two')).not.toBe(id);
});

test('proves the project, the recipient and the service, in any spelling of the address and the id', () => {
  expect(isTestEmail(keys, { ...email, to: ' Ann@Example.com ' }, id.toUpperCase())).toBe(true);
  for (const other of [
    { projectId: 'q' },
    { to: 'bob@example.com' },
    { service: 'other' as const },
  ])
    expect(isTestEmail(keys, { ...email, ...other }, id)).toBe(false);
  expect(isTestEmail(new Keys(Buffer.alloc(32, 2)), email, id)).toBe(false);
});

test.each(['', 'no-id', id.slice(1), `${id}0`, '00000000-0000-0000-0000-000000000000'])(
  'proves nothing: %j',
  (given) => {
    expect(isTestEmail(keys, email, given)).toBe(false);
  },
);

test('changing any digit makes it prove nothing', () => {
  for (const [at, digit] of id.split('').entries()) {
    if (digit === '-' || at === 14) continue;
    const next = ((Number.parseInt(digit, 16) + 1) % 16).toString(16);
    const changed = id.slice(0, at) + next + id.slice(at + 1);
    expect(isTestEmail(keys, email, changed), changed).toBe(false);
  }
});
