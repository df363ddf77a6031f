// What a worker does when a hard bounce cannot be written at once, or what it calls for never.
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openDb, sql } from '../../src/base/db.ts';
import type { Db } from '../../src/base/db.ts';
import { openLog } from '../../src/base/log.ts';
import { runtimeUrl } from '../../src/base/roles.ts';
import type { TakeBounce } from '../../src/delivery/delivery.ts';
import { HandOffLog } from '../../src/delivery/hand_off_log.ts';
import { takeBounce } from '../../src/feedback/feedback.ts';
import { EMAIL, projectTold } from '../feedback/project_told.ts';
import { testDatabase } from '../support/database.ts';
import { tcpProxy } from '../support/tcp_proxy.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const proxy = tcpProxy(() => database.url);

let far: Db;
beforeAll(async () => {
  far = await openDb(runtimeUrl(proxy.through(database.url), database.deps.keys));
});
afterAll(() => far.end());
beforeEach(() => proxy.decide('\0', () => 'pass'));

const TRIES_MS = Array<number>(500).fill(20);

/** A hand-off that has begun and is refused, to a worker that takes bounces in like this. */
const refused = async (take: TakeBounce, triesMs = TRIES_MS) => {
  const project = projectTold(database);
  const { projectId, sends } = project;
  const { sendId } = await sends.handingOff({
    recipient: EMAIL,
    addressKey: await project.keyOf(EMAIL),
  });
  const written = new PassThrough({ encoding: 'utf8' });
  const deps = { ...database.deps, db: far, log: openLog('error', written) };
  const log = new HandOffLog(deps, projectId, take, { triesMs });
  const end = () =>
    log.endBounced(
      {
        sendId,
        attempt: 1,
        outcome: 'rejected',
        reason: 'recipient_refused',
        providerMessageId: null,
        retryAfterSeconds: null,
      },
      { sendId, attempt: 1, email: EMAIL, provider: 'smtp', type: 'hard', codes: '550 5.1.1' },
    );
  const stand = async () => {
    const { status, bounced_at } = await sends.read(sendId);
    const { rows } = await database.owner.query<{ count: number }>(
      'select count(*)::int as count from feedback.notices where project_id = $1',
      [projectId],
    );
    const reason = (await project.suppressed())?.reason ?? null;
    return { status, isBounced: bounced_at !== null, reason, notices: rows[0]?.count };
  };
  const logged = () => String(written.read() ?? '');
  return { end, stand, logged };
};

const TAKEN = { status: 'rejected', isBounced: true, reason: 'hard_bounce', notices: 1 };
const REFUSED_ONLY = { status: 'rejected', isBounced: false, reason: null, notices: 0 };

test.each(['cut_request', 'cut_behind', 'cut_answer'] as const)(
  'a hard bounce whose commit meets %s is taken in once, whole',
  async (fate) => {
    const { end, stand, logged } = await refused(takeBounce);
    let commits = 0;
    proxy.decide('COMMIT', () => {
      commits += 1;
      return commits === 1 ? fate : 'pass';
    });
    await end();
    expect(commits).toBeGreaterThan(1);
    expect(await stand()).toEqual(TAKEN);
    expect(logged()).toBe('');
  },
);

test('while what a hard bounce calls for fails, the send is refused; it is taken in once that is mended', async () => {
  let isBroken = true;
  const { end, stand } = await refused(async (...given) => {
    if (isBroken) throw new Error('broken');
    await takeBounce(...given);
  });
  const ending = end();
  await until('it is refused', async () => (await stand()).status === 'rejected');
  expect(await stand()).toEqual(REFUSED_ONLY);
  isBroken = false;
  await ending;
  expect(await stand()).toEqual(TAKEN);
});

/** Ways in which what a bounce calls for never works. */
const broken: [string, TakeBounce][] = [
  ['fails', () => Promise.reject(new Error('broken'))],
  [
    'loses its connection',
    async ({ tx }) =>
      void (await tx.query(sql.unsafe`select pg_terminate_backend(pg_backend_pid())`)),
  ],
];

test.each(broken)(
  'where what a hard bounce calls for always %s, the send is refused, and the log says so',
  async (_how, take) => {
    const { end, stand, logged } = await refused(take, [0, 0]);
    await end();
    expect(await stand()).toEqual(REFUSED_ONLY);
    expect(logged()).toContain('bounce has no effect');
  },
);
