import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** What takes longest, longest first: begun late, one of them would run on alone when all others are done. */
const SLOWEST = [
  'console/every_page',
  'fault/short',
  'flows/limits_hold',
  'delivery/hand_off',
  'http/contract_fuzz',
  'worker/sweeper',
  'http/every_answer',
  'flows/any_order_in_processes',
  'flows/paced_relays',
  'feedback/any_order',
  'worker/leader',
  'flows/crash_in_hand_off',
  'flows/metrics',
  'flows/webhooks_under_kills',
  'console/keyboard',
  'flows/erase_in_hand_off',
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
