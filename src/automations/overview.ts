import { countedOfEach } from '../base/counted_of_each.ts';
import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import * as profiles from '../profiles/profiles.ts';
import { countRunsOf, readTotals } from './count_queries.ts';
import { readDefinitions } from './definitions.ts';
import type { Kept } from './queries.ts';
import { toListed, toRun } from './shown.ts';
import type { ShownRun } from './shown_queries.ts';

/** How far runs, and sends, are counted: the newest. */
export const COUNTED_RUNS = { each: 10_000, together: 20_000 };

const NOTHING = { runs: 0, inside: 0, converted: 0 };
const NONE_REMOVED = { runs: 0, converted: 0 };

/** Automations as a list shows them: what starts each, and what came of it, also of runs that retention removed. */
export const toCounted = async (
  scope: Scope,
  rows: readonly Kept[],
  runsMax = countedOfEach(COUNTED_RUNS, rows.length),
) => {
  const ids = rows.map(({ automation_id }) => automation_id);
  const refOf = ({ automation_id, active_version, latest_version }: Kept) => ({
    automation_id,
    version: active_version ?? latest_version,
  });
  const definitionOf = await readDefinitions(scope, rows.map(refOf));
  const runs = new Map(
    (await countRunsOf(scope, ids, runsMax)).map(({ automation_id, ...counts }) => [
      automation_id,
      counts,
    ]),
  );
  const removed = new Map(
    (await readTotals(scope, ids)).map(({ automation_id, ...totals }) => [automation_id, totals]),
  );
  const sent = new Map(
    (await delivery.countSentBy(scope, ids, runsMax)).map((row) => [row.automation_id, row]),
  );
  return rows.map((row) => {
    const newest = runs.get(row.automation_id) ?? NOTHING;
    const past = removed.get(row.automation_id) ?? NONE_REMOVED;
    const counts = {
      ...newest,
      runs: newest.runs + past.runs,
      converted: newest.converted + past.converted,
    };
    const { sends = 0, accepted = 0, removed: gone = 0 } = sent.get(row.automation_id) ?? {};
    return {
      ...toListed(row),
      trigger: definitionOf(refOf(row)).trigger,
      has_goal: definitionOf(refOf(row)).settings.goal !== null,
      counts: {
        ...counts,
        sent: accepted + gone,
        is_capped: Math.max(newest.runs, sends) >= runsMax,
      },
    };
  });
};

/** Runs with whom they are of; null of who is being erased. */
export const withPeople = async (scope: Scope, rows: readonly ShownRun[]) => {
  const people = await profiles.labelIdentities(
    scope,
    rows.map(({ identity_id }) => identity_id),
  );
  return rows.map((row) => ({ ...toRun(row), person: people.get(row.identity_id) ?? null }));
};
