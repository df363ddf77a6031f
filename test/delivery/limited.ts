// People who are sent mails that keep to limits, and what they were sent before.
import { newId } from '../../src/base/ids.ts';
import type { Limits } from '../../src/delivery/limits.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { newPerson } from '../profiles/people.ts';
import type { Someone } from '../profiles/people.ts';
import type { TestDatabase } from '../support/database.ts';
import { newSend, OWNER, sendsOf } from './one_send.ts';

export const cap = (given: Partial<NonNullable<Limits['frequency_cap']>> = {}): Limits => ({
  frequency_cap: { sends: 1, per: 'P1D', of: 'project', over: 'defer', ...given },
  zone: 'UTC',
});
export const UNCONFIRMED_ONLY: Limits = {
  unconfirmed: { per_automation: 1, per_day: 3 },
  zone: 'UTC',
};

const HOUR_MS = 3_600_000;
/** A time of day so many hours from now, by a clock that hangs in Greenwich. */
export const timeIn = (hours: number): string =>
  new Date(Date.now() + hours * HOUR_MS).toISOString().slice(11, 16);
/** Quiet from and to so many hours from whenever that is asked. */
const quietIn = (from: number, to: number): Limits => ({
  get quiet_hours() {
    return { from: timeIn(from), to: timeIn(to) };
  },
  zone: 'UTC',
});
export const QUIET_NOW = quietIn(-1, 2);
export const QUIET_LATER = quietIn(5, 8);

/** One project, in which several providers may serve the same people. */
export const limitedSends = (database: TestDatabase, projectId = newId()) => {
  const sends = sendsOf(database, projectId);
  const person = () => newPerson(database, projectId);
  const plan = async (
    { identityId, profileId }: Pick<Someone, 'identityId' | 'profileId'>,
    given: Partial<NewSend> = {},
  ): Promise<NewSend> => {
    const send = newSend({ identityId, profileId, ...given });
    await sends.plan(send);
    return send;
  };
  /** Planned and leased. */
  const leased = async (...planned: Parameters<typeof plan>): Promise<NewSend> => {
    const send = await plan(...planned);
    await sends.claim(send.providerId);
    return send;
  };
  /** Handed over so long ago, and what has become of it. */
  const handedOver = async (
    someone: Parameters<typeof plan>[0],
    ago: string,
    given: Partial<NewSend> & { status?: string } = {},
  ): Promise<NewSend> => {
    const { status = 'accepted', ...rest } = given;
    const send = await plan(someone, rest);
    await sends.update(
      send.sendId,
      `status = '${status}', attempt_count = 1, handed_off_at = now() - interval '${ago}'`,
    );
    return send;
  };
  /** How many seconds it is yet to wait. */
  const waitsFor = async (sendId: string): Promise<number> => {
    const { rows } = await database.owner.query<{ seconds: number }>(
      'select extract(epoch from due_at - now())::float8 as seconds from delivery.sends where send_id = $1',
      [sendId],
    );
    return rows[0]?.seconds ?? NaN;
  };
  const beginOf = ({ sendId, addressKey }: NewSend, attempt = 1, owner = OWNER) => ({
    sendId,
    addressKey,
    owner,
    attempt,
    messageId: `<${sendId}.${attempt}@example.com>`,
    subject: 'Welcome',
    sentThrough: 'other' as const,
  });
  return { projectId, sends, person, plan, leased, handedOver, waitsFor, beginOf };
};
