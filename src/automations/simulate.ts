import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import * as delivery from '../delivery/delivery.ts';
import * as segments from '../segments/segments.ts';
import { FAMILIES_AHEAD_MAX, ReadAhead } from './ahead.ts';
import { listGeneral, listSegmentsOf } from './assumed.ts';
import { Family } from './family.ts';
import { findVersion } from './queries.ts';
import type { Kept } from './queries.ts';
import { readClock } from './run_queries.ts';
import type { Definition } from './schema.ts';
import { readArrivals } from './simulated.ts';
import type { Came } from './simulated.ts';
import { SIMULATED_RUNS_MAX, SIMULATION_TIME_MAX_MS } from './simulation.ts';
import type { Simulation } from './simulation.ts';
import { inSnapshot } from './snapshot.ts';
import { Tally } from './tally.ts';
import type { SentTo } from './virtual.ts';
import { walkFamily } from './virtual_family.ts';

const DAY_MS = 86_400_000;

type Asked = {
  automationId: string;
  version: number;
  definition: Definition;
  from: Date;
  now: Date;
  onlooker: Onlooker | undefined;
};

/** Whoever came, put together with those to whom they were ever linked; whose first came first is first. */
const groupFamilies = (
  came: readonly Came[],
  familyOf: (identityId: string) => string[],
): { ids: string[]; came: Came[] }[] => {
  const families = new Map<string, { ids: string[]; came: Came[] }>();
  for (const one of came) {
    const family = families.get(one.identityId) ?? { ids: familyOf(one.identityId), came: [] };
    for (const id of family.ids) families.set(id, family);
    family.came.push(one);
  }
  return [...new Set(families.values())];
};

/** When the first of somebody's events may have occurred that counts for a run. */
const sinceOf = (came: readonly Came[]): Date =>
  new Date(Math.min(...came.flatMap(({ at, by }) => [at.getTime(), by.at.getTime()])));

/** Who is told how far a simulation is, and may say that nobody waits for it any more. */
export type Onlooker = { tell: (progress: Progress) => void; over: AbortSignal };
export type Progress = { followed: number; of: number };

const follow = async (scope: Scope, asked: Asked, tally: Tally): Promise<void> => {
  const { definition, now, from, automationId, onlooker } = asked;
  const { came, people } = await readArrivals(scope, { ...asked, limit: SIMULATED_RUNS_MAX + 1 });
  const segmentIds = listSegmentsOf(definition);
  const past = await segments.PastSegments.read(scope, segmentIds);
  for (const { what, name } of listGeneral(definition, { segments: past, from, segmentIds }))
    tally.assume(what, name, null);
  tally.isPartial = came.length > SIMULATED_RUNS_MAX;
  const families = groupFamilies(came.slice(-SIMULATED_RUNS_MAX), (id) => people.familyOf(id)).map(
    (family) => ({ ...family, since: sinceOf(family.came) }),
  );
  const { recipient_sends_max: recipientMax } = await delivery.readSettings(scope);
  const spellings = new delivery.PastSpellings(scope, automationId);
  const sentTo = new Map<string, SentTo[]>();
  const simulated = { ...asked, segments: past, sentTo, spellings, recipientMax };
  const endAt = performance.now() + SIMULATION_TIME_MAX_MS;
  for (let from = 0; from < families.length; from += FAMILIES_AHEAD_MAX) {
    onlooker?.tell({ followed: from, of: families.length });
    onlooker?.over.throwIfAborted();
    const some = families.slice(from, from + FAMILIES_AHEAD_MAX);
    const ahead = await ReadAhead.of(scope, people, some, asked);
    await spellings.readAhead(people.listEmails(some.flatMap(({ ids }) => ids)));
    for (const { ids, came: those, since } of some) {
      if (performance.now() > endAt) {
        tally.isPartial = true;
        return;
      }
      const family = new Family(scope, people, ids, { since, now, automationId, ahead });
      for (const walked of await walkFamily(family, those, simulated)) {
        if (walked.kind === 'kept_out') tally.keepOut(walked.reason);
        else {
          const person = people.at(walked.came.identityId, now);
          tally.add(walked.came, person?.profileId ?? '', walked.virtual);
        }
      }
      tally.isPartial ||= family.isCut;
    }
  }
};

/** Runs a version over the past of the project, without a trace. */
export const simulate = (
  deps: Pick<Deps, 'db' | 'keys'>,
  projectId: string,
  kept: Kept,
  { days, version, onlooker }: { days: number; version: number; onlooker?: Onlooker },
): Promise<Simulation> =>
  inSnapshot(deps, projectId, async (scope) => {
    const definition = await findVersion(scope, kept.automation_id, version);
    if (definition === null)
      throw new Refusal('invalid_request', {
        issues: [{ path: '/version', message: 'there is no such version' }],
      });
    if (definition.trigger.kind === 'schedule')
      throw new Refusal('invalid_request', {
        issues: [
          {
            path: '/version',
            message:
              'a simulation cannot run a schedule: past members of the segment are unknown. Test the automation for ' +
              'one person instead',
          },
        ],
      });
    const now = await readClock(scope);
    const from = new Date(now.getTime() - days * DAY_MS);
    const tally = new Tally(definition);
    const { automation_id: automationId } = kept;
    await follow(scope, { automationId, version, definition, from, now, onlooker }, tally);
    return {
      automation_id: automationId,
      version,
      from: from.toISOString(),
      to: now.toISOString(),
      ...tally.told(),
    };
  });
