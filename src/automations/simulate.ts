import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { newId } from '../base/ids.ts';
import { Refusal } from '../base/refusal.ts';
import { entryKey, isKeptOut } from './entering.ts';
import { findVersion } from './queries.ts';
import type { Kept } from './queries.ts';
import { readClock } from './run_queries.ts';
import type { Definition } from './schema.ts';
import { listCame } from './simulated.ts';
import type { Came } from './simulated.ts';
import { SIMULATED_RUNS_MAX, SIMULATION_TIME_MAX_MS } from './simulation.ts';
import type { Simulation } from './simulation.ts';
import { inSnapshot } from './snapshot.ts';
import { Tally } from './tally.ts';
import type { Entered } from './trigger_queries.ts';
import { walkPast } from './virtual.ts';

const DAY_MS = 86_400_000;

/** Who is in, and by which keys, as the simulation goes on. */
class Entrance {
  readonly #definition: Definition;
  readonly #latest = new Map<string, Entered>();
  readonly #keys = new Set<string>();

  constructor(definition: Definition) {
    this.#definition = definition;
  }

  /** Lets somebody in by what came, or says why not. */
  enter({ by, person: { identityId, person } }: Came): 'entered' | 'late' | 're_entry' {
    const { re_entry: reEntry } = this.#definition.settings;
    if (by.kind === 'event' && by.isLate) return 'late';
    const before = this.#latest.get(person.profileId) ?? null;
    const key = entryKey(reEntry, { identityId, by }, before);
    if (isKeptOut(reEntry, before, by.at) || this.#keys.has(key)) return 're_entry';
    this.#keys.add(key);
    const id = newId();
    this.#latest.set(person.profileId, {
      run_id: id,
      automation_id: id,
      identity_id: identityId,
      started_at: by.at,
      trigger_event_id: by.kind === 'event' ? by.eventId : null,
      trigger_entry: by.kind === 'entry' ? by.entry : null,
    });
    return 'entered';
  }
}

const toRun = (kept: Kept, definition: Definition, { by, person }: Came) => ({
  run_id: newId(),
  automation_id: kept.automation_id,
  version: kept.latest_version,
  identity_id: person.identityId,
  definition,
  step_id: definition.entry,
  until: null,
  trigger_event_id: by.kind === 'event' ? by.eventId : null,
  trigger_event_at: by.kind === 'event' ? by.at : null,
  trigger_entry: by.kind === 'entry' ? by.entry : null,
  started_at: by.at,
  may_call: true,
  entries: 0,
});

type Asked = { kept: Kept; definition: Definition; from: Date; now: Date };

const follow = async (scope: Scope, asked: Asked, tally: Tally): Promise<void> => {
  const { kept, definition, now } = asked;
  const all = await listCame(scope, { ...asked, limit: SIMULATED_RUNS_MAX + 1 });
  const entrance = new Entrance(definition);
  const endAt = performance.now() + SIMULATION_TIME_MAX_MS;
  for (const [at, came] of all.entries()) {
    if (at >= SIMULATED_RUNS_MAX || performance.now() > endAt) {
      tally.isPartial = true;
      return;
    }
    const entered = entrance.enter(came);
    if (entered !== 'entered') tally.keepOut(entered);
    else {
      const { person: somebody, event: trigger, by } = came;
      const run = toRun(kept, definition, came);
      const walked = await walkPast(scope, { run, somebody, trigger, now });
      tally.add(by.at, somebody.person, walked);
    }
  }
};

/** Runs a version over the past of the project, without a trace. */
export const simulate = (
  deps: Pick<Deps, 'db' | 'keys'>,
  projectId: string,
  kept: Kept,
  { days, version }: { days: number; version: number },
): Promise<Simulation> =>
  inSnapshot(deps, projectId, async (scope) => {
    const definition = await findVersion(scope, kept.automation_id, version);
    if (definition === null)
      throw new Refusal('invalid_request', {
        issues: [{ path: '/version', message: 'there is no such version' }],
      });
    const now = await readClock(scope);
    const from = new Date(now.getTime() - days * DAY_MS);
    const tally = new Tally(definition);
    await follow(scope, { kept, definition, from, now }, tally);
    return {
      automation_id: kept.automation_id,
      version,
      from: from.toISOString(),
      to: now.toISOString(),
      ...tally.told(),
    };
  });
