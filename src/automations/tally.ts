import { isImported } from '../ingest/ingest.ts';
import { ASSUMPTIONS } from './assumed.ts';
import type { Assumption } from './assumed.ts';
import type { Definition } from './schema.ts';
import { SAMPLE_PEOPLE_MAX } from './simulation.ts';
import type { Simulation } from './simulation.ts';
import type { Came } from './simulated.ts';
import type { Virtual } from './virtual.ts';

/** Mail that a step did not send, by what it decided. */
const SKIPPED = [
  'no_address',
  'send_suppressed',
  'send_unsubscribed',
  'frequency_cap_skipped',
  'unconfirmed_address',
  'recipient_cap',
];

const addOne = (counts: Record<string, number>, name: string): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};

/** Counts what came of the runs of a simulation. */
export class Tally {
  isPartial = false;
  readonly #mails: string[];
  #triggered = 0;
  #entered = 0;
  readonly #keptOut = { late: 0, re_entry: 0 };
  readonly #reached: Record<string, number> = {};
  readonly #sent: Record<string, number> = {};
  readonly #called: Record<string, number> = {};
  readonly #skipped: Record<string, number> = {};
  readonly #outcomes: Record<string, number> = {};
  readonly #convertedBefore: Record<string, number> = {};
  readonly #sample: Simulation['sample'] = [];
  readonly #assumed = new Map<string, Simulation['assumed'][number]>();

  constructor({ steps }: Definition) {
    this.#mails = Object.keys(steps).filter((id) => steps[id]?.kind === 'send_email');
  }

  keepOut(reason: 'late' | 're_entry'): void {
    this.#triggered += 1;
    this.#keptOut[reason] += 1;
  }

  /** Notes what some run rests on, or every run where none is counted. */
  assume(what: Assumption, name: string | null, runs: number | null): void {
    const key = `${what}/${name}`;
    const known = this.#assumed.get(key)?.runs ?? 0;
    const sum = runs === null ? null : known + runs;
    this.#assumed.set(key, { what, says: ASSUMPTIONS[what], name, runs: sum });
  }

  add({ at, event }: Came, profileId: string, run: Virtual): void {
    for (const trait of run.rests.traits) this.assume('trait_of_today', trait, 1);
    for (const id of run.rests.segments) this.assume('segment_asked_then', id, 1);
    if (event !== null && isImported(event)) this.assume('import_in_time', null, 1);
    this.#triggered += 1;
    this.#entered += 1;
    addOne(this.#outcomes, run.outcome);
    for (const stepId of run.reached) addOne(this.#reached, stepId);
    for (const { stepId, decision } of run.log) {
      if (decision === 'send_queued') addOne(this.#sent, stepId);
      if (decision === 'webhook_queued') addOne(this.#called, stepId);
      if (SKIPPED.includes(decision)) addOne(this.#skipped, decision);
    }
    if (run.outcome === 'converted')
      for (const mail of this.#mails)
        if (!run.reached.has(mail)) addOne(this.#convertedBefore, mail);
    if (this.#sample.length < SAMPLE_PEOPLE_MAX)
      this.#sample.push({
        profile_id: profileId,
        entered_at: at.toISOString(),
        outcome: run.outcome,
        traits_of_today: [...run.rests.traits].toSorted(),
        decisions: run.log.map(({ at: decidedAt, stepId: step_id, decision }) => ({
          at: decidedAt.toISOString(),
          step_id,
          decision,
        })),
      });
  }

  told(): Omit<Simulation, 'automation_id' | 'version' | 'from' | 'to'> {
    return {
      is_partial: this.isPartial,
      triggered: this.#triggered,
      entered: this.#entered,
      kept_out: this.#keptOut,
      reached: this.#reached,
      sent: this.#sent,
      called: this.#called,
      skipped: this.#skipped,
      outcomes: this.#outcomes,
      converted_before: this.#convertedBefore,
      assumed: [...this.#assumed.values()],
      sample: this.#sample,
    };
  }
}
