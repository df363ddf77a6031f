import type { Scope } from '../base/db.ts';
import { mailboxOf, readEmail } from '../base/email_address.ts';
import * as delivery from '../delivery/delivery.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import { takesNoTime } from './clock.ts';
import { valueOf } from './value_of.ts';
import { readDefinitions } from './definitions.ts';
import type { DueRun } from './due_queries.ts';
import { groupByShared } from './group_by_shared.ts';
import type { Definition } from './schema.ts';
import type { Step, StepOf } from './step_schema.ts';
import { holdPeople } from './trigger_queries.ts';
import { namedBy } from './ways_on.ts';

/** Returns the steps that a run may take before it waits again, from the one that it is due at. */
const listStepsAhead = ({ steps }: Definition, first: string): Step[] => {
  const seen = new Set<string>();
  const open = [first];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const step = Object.hasOwn(steps, id) ? steps[id] : undefined;
    if (!step || seen.has(id)) continue;
    seen.add(id);
    if (step.kind === 'delay' && id !== first && !takesNoTime(step.duration)) continue;
    open.push(...namedBy(step).flatMap(({ next }) => next ?? []));
  }
  return [...seen].flatMap((id) => steps[id] ?? []);
};

/** What the walk of a run may touch before the run waits again. */
export type Ahead = {
  run: DueRun;
  profileId: string;
  updates: readonly StepOf<'update_profile'>[];
  sends: boolean;
  /** The addresses that it may send to, or that its steps set. None where no run of the claim sends. */
  emails: readonly string[];
};

type Steps = Omit<Ahead, 'emails'>;

const toSteps = (run: DueRun, profileId: string, definition: Definition): Steps => {
  const steps = listStepsAhead(definition, run.step_id);
  return {
    run,
    profileId,
    updates: steps.flatMap((step) => (step.kind === 'update_profile' ? [step] : [])),
    sends: steps.some(({ kind }) => kind === 'send_email'),
  };
};

/** The property of its trigger event that a step takes an address from, if it does. */
const propertyOf = ({ traits_from_event: told }: StepOf<'update_profile'>): string | null => {
  const property = valueOf(told, 'email');
  return typeof property === 'string' ? property : null;
};

/** Reads the properties of those trigger events that may name an address, by event. */
const readNamed = async (scope: Scope, all: readonly Steps[]) => {
  const keys = all.flatMap(({ run, updates }) => {
    const { trigger_event_id: eventId, trigger_event_at: occurredAt } = run;
    const isAsked = updates.some((step) => propertyOf(step) !== null);
    return isAsked && eventId !== null && occurredAt !== null ? [{ eventId, occurredAt }] : [];
  });
  const events = await ingest.listEvents(scope, keys);
  return new Map(events.map(({ event_id, properties }) => [event_id, properties]));
};

/** Adds the addresses: of the person, and those that the steps set. */
const withEmails = async (scope: Scope, all: readonly Steps[]): Promise<Ahead[]> => {
  if (!all.some(({ sends }) => sends)) return all.map((steps) => ({ ...steps, emails: [] }));
  const rows = await profiles.listRows(scope, [...new Set(all.map(({ profileId }) => profileId))]);
  const emailOf = new Map(rows.map(({ profile_id, email }) => [profile_id, email]));
  const named = await readNamed(scope, all);
  return all.map((steps) => {
    const { run, profileId, updates } = steps;
    if (run.test_recipient !== null) return { ...steps, emails: [run.test_recipient] };
    const said = named.get(run.trigger_event_id ?? '') ?? {};
    const set = updates.flatMap((step) =>
      [valueOf(step.traits, 'email'), valueOf(said, propertyOf(step) ?? '')].flatMap(
        (value) => readEmail(value) ?? [],
      ),
    );
    return { ...steps, emails: [emailOf.get(profileId) ?? [], set].flat() };
  });
};

/**
 * Reads what the walks of some runs may touch, and locks the people that they may change and the addresses that they
 * may send to, in the order of all locks. The walks themselves take the runs as they are due, which may be the reverse
 * of what another worker does. Leaves out runs of people who are gone.
 */
export const lockAhead = async (
  scope: Scope,
  runs: readonly DueRun[],
  profileOf: ReadonlyMap<string, string>,
): Promise<Ahead[]> => {
  const definitionOf = await readDefinitions(scope, runs);
  const all = await withEmails(
    scope,
    runs.flatMap((run) => {
      const profileId = profileOf.get(run.identity_id);
      return profileId === undefined ? [] : [toSteps(run, profileId, definitionOf(run))];
    }),
  );
  const sending = all.filter(({ sends }) => sends);
  if (sending.length === 0) return all;
  await holdPeople(
    scope,
    all.flatMap(({ profileId, updates }) => (updates.length > 0 ? [profileId] : [])),
  );
  await delivery.lockRecipients(
    scope,
    sending.flatMap(({ emails }) => emails),
  );
  return all;
};

/**
 * Groups runs whose walks may see each other's effects: runs of one person, and runs with addresses of one mailbox,
 * which share limits. Each group keeps the order of its runs. Walks of different groups may go side by side.
 */
export const groupDependent = (runs: readonly DueRun[], all: readonly Ahead[]): DueRun[][] => {
  const keysOf = new Map(
    all.map(({ run, profileId, emails }) => [run, [profileId, ...emails.map(mailboxOf)]]),
  );
  return groupByShared(runs, (run) => keysOf.get(run) ?? []);
};
