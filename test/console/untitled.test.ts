// What the Console calls a send that has no subject: in the list, on its page, and why there is nothing to see.
import { expect, test } from 'vitest';
import { SHOWN_STATUSES } from '../../src/console/parts/statuses.ts';
import { subjectOf, titleOf, whyUnseen } from '../../src/console/parts/untitled.ts';

const KEPT = { queued_at: '2026-01-01T00:00:00.000Z', content_removed_at: null };

const wordsOf = (send: Parameters<typeof titleOf>[0]) => [
  titleOf(send),
  subjectOf(send),
  whyUnseen(send),
];

test('only of what has not ended something is still to come', () => {
  const ahead = SHOWN_STATUSES.filter((status) =>
    wordsOf({ ...KEPT, status, subject: null, to: 'ann@example.com' }).some((said) =>
      /\byet\b/.test(said),
    ),
  );
  expect(ahead).toEqual(['queued', 'handing_off']);
});

test('of one whose person is erased that is said, whatever became of it', () => {
  for (const status of SHOWN_STATUSES)
    for (const said of wordsOf({ ...KEPT, status, subject: null, to: null }))
      expect(said).toMatch(/erased/);
});

test('a subject that is there is shown', () => {
  const send = { ...KEPT, status: 'rejected', subject: 'Welcome', to: null } as const;
  expect([titleOf(send), subjectOf(send)]).toEqual(['Welcome', 'Welcome']);
});

test('of one whose content was removed the days are said that it was kept', () => {
  const send = {
    status: 'accepted',
    subject: null,
    to: 'ann@example.com',
    queued_at: '2026-01-01T12:00:00.000Z',
    content_removed_at: '2026-04-02T04:25:00.000Z',
  } as const;
  for (const said of wordsOf(send)) expect(said).toContain('removed after 90 days');
  for (const said of wordsOf({ ...send, to: null })) expect(said).toMatch(/erased/);
});
