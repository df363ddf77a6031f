// Emails of servers and people as they stand in a bounce mailbox, and what each says.
import { expect, test } from 'vitest';
import { readBounceEmail } from '../../../src/feedback/bounce_email/bounce_email.ts';
import { judgeReport } from '../../../src/feedback/bounce_email/judge.ts';
import { SAMPLE_ID, SAMPLE_TO, SAMPLES } from './samples.ts';

const says = async (raw: string): Promise<string> => {
  const email = await readBounceEmail(Buffer.from(raw));
  if (email.kind !== 'report') return email.kind;
  const judged = judgeReport(email.report, SAMPLE_TO);
  return judged ? [judged.kind, judged.bounceType].filter(Boolean).join(' ') : 'nothing';
};

test.each(SAMPLES)('$name: $says', async ({ raw, says: expected }) => {
  expect(await says(raw)).toBe(expected);
});

test.each(SAMPLES)(
  '$name: the same with the line ends of the network',
  async ({ raw, says: expected }) => {
    expect(await says(raw.replaceAll('\n', '\r\n'))).toBe(expected);
  },
);

test.each(
  SAMPLES.filter(({ raw, says: expected }) => expected !== 'other' && raw.includes(SAMPLE_ID)),
)('$name: the copy of the email names it', async ({ raw }) => {
  const email = await readBounceEmail(Buffer.from(raw));
  expect(email).toMatchObject({ report: { messageIds: [SAMPLE_ID] } });
});
