// Bounces, complaints and replies that arrive as email, from the hand-off to what the project sees.
import { describe, expect, test } from 'vitest';
import { EMAIL } from '../project_told.ts';
import { mailboxWorld } from './mailbox_world.ts';
import { arf, dsn, outOfOffice } from './reports.ts';

const world = mailboxWorld();
const { connect, sendToAnn, read, makeDue, imap } = world;

describe('a hard bounce by email', () => {
  test('is shown on the send, suppresses the address, and counts once', async () => {
    const providerId = await connect();
    const { mail, headers, stand, suppressed } = await sendToAnn(providerId);
    expect(mail.from).toMatch(/^bounces\+[a-z2-7]{45}@shop\.test$/);
    imap.deliver(dsn({ to: EMAIL, sender: mail.from, headers }));
    expect(await read(providerId)).toMatchObject({ result: { kind: 'read' }, usedCount: 1 });
    expect(await stand()).toMatchObject({ status: 'bounced', feedback: [{ kind: 'bounced' }] });
    expect(await suppressed()).toMatchObject({
      reason: 'hard_bounce',
      source: `bounce_mailbox/${providerId}`,
    });
    expect([...(imap.inbox.messages[0]?.flags ?? [])]).toEqual(['\\Seen']);
    await makeDue();
    expect(await read(providerId)).toMatchObject({ readCount: 0 });
  });
});
