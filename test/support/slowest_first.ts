import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** What takes longest, longest first: begun late, one of them would run on alone when all others are done. */
const SLOWEST = [
  'console/every_page',
  'fault/short',
  'http/contract_fuzz',
  'http/every_answer',
  'segments/kept_up',
  'feedback/any_order',
  'flows/limits_hold',
  'flows/crash_in_hand_off',
  'worker/leader',
  'flows/paced_relays',
  'flows/webhooks_under_kills',
  'flows/any_order_in_processes',
  'worker/sweeper',
  'flows/metrics',
  'rendering/threads',
  'console/keyboard',
  'flows/rolling_deploy',
  'flows/leave_in_hand_off',
  'flows/tarpit_neighbour',
  'runtime/scratch_postgres',
  'automations/simulate_replay',
].map((name) => `/test/${name}.test.ts`);

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = SLOWEST.findIndex((path) => moduleId.endsWith(path));
  return rank === -1 ? SLOWEST.length : rank;
};

/** Within what vitest keeps together; the rest in its own order. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return [...byProject.values()].flatMap((ofOne) =>
      ofOne.toSorted((a, b) => rankOf(a) - rankOf(b)),
    );
  }
}
