import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** What takes longest, longest first: begun late, one of them would run on alone when all others are done. */
const SLOWEST = [
  'http/every_answer',
  'http/contract_fuzz',
  'console/every_page',
  'fault/short',
  'flows/limits_hold',
  'flows/paced_relays',
  'http/audited',
  'flows/rolling_deploy',
  'worker/sweeper',
  'admin/cross_project',
  'flows/rotate_master_key',
  'flows/restore_drill',
  'http/idempotency_crash',
  'feedback/any_order',
  'console/keyboard',
  'flows/webhooks_under_kills',
  'admin/audited',
  'console/automations',
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
