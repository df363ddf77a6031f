// Everything that the Console asks of a project of a million people, beside one of a hundredth.
import { openSession } from '../../src/admin/client.ts';
import { ROUNDS, takeTimes, tell } from './console_ask.ts';
import { LOGIN, makeProjects } from './console_world.ts';
import { openInstallation } from './installation.ts';
import { median } from './measure.ts';
import type { Comparison } from './measure.ts';

const PEOPLE = 1_000_000;
const GROWTH = 100;
/** What a delay is that nobody sees. */
const UNSEEN_MS = 100;

/** Every page of the Console, of a million people. */
export const consolePages = async (): Promise<Comparison[]> => {
  const installation = await openInstallation({ shared_buffers: '1GB', max_wal_size: '16GB' });
  const subjects = await makeProjects(installation, [PEOPLE, PEOPLE / GROWTH]);
  const service = await installation.start('api');
  const base = `http://127.0.0.1:${service.port}`;
  const { cookie } = await openSession({ url: base }, LOGIN);
  const taken = await takeTimes({ base, cookie }, subjects);
  await installation.close();
  tell(taken);
  const slowest = taken.toSorted((a, b) => median(b.large) - median(a.large))[0];
  const middleOf = (side: 'large' | 'small') =>
    Array.from({ length: ROUNDS }, (_, round) =>
      median(taken.map((one) => one[side][round] ?? Number.NaN)),
    );
  return [
    {
      name: 'slowest page of the Console, 1,000,000 people with 3,000,000 events and 1,000,000 sends',
      unit: 'ms',
      measured: slowest?.large ?? [],
      comparedWith: 'what nobody sees as a delay',
      comparison: (slowest?.large ?? []).map(() => UNSEEN_MS),
      good: { atMost: 1 },
    },
    {
      name: `page of the Console, the median one of all, ${GROWTH}x people with all that is theirs`,
      unit: 'ms',
      measured: middleOf('large'),
      comparedWith: 'the same with 1x',
      comparison: middleOf('small'),
      good: { atMost: 1.5 },
    },
  ];
};
