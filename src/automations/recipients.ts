import type { Scope } from '../base/db.ts';
import { readEmail } from '../base/email_address.ts';
import * as delivery from '../delivery/delivery.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import { takesNoTime } from './clock.ts';
import { valueOf } from './comparison.ts';
import { readDefinitions } from './definitions.ts';
import type { DueRun } from './due_queries.ts';
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

type Ahead = {
  run: DueRun;
  profileId: string;
  updates: StepOf<'update_profile'>[];
  sends: boolean;
};

const toAhead = (run: DueRun, profileId: string, definition: Definition): Ahead => {
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
const readNamed = async (scope: Scope, sending: readonly Ahead[]) => {
  const keys = sending.flatMap(({ run, updates }) => {
    const { trigger_event_id: eventId, trigger_event_at: occurredAt } = run;
    const isAsked = updates.some((step) => propertyOf(step) !== null);
    return isAsked && eventId !== null && occurredAt !== null ? [{ eventId, occurredAt }] : [];
  });
  const events = await ingest.listEvents(scope, keys);
  return new Map(events.map(({ event_id, properties }) => [event_id, properties]));
};

/** Lists the addresses that some runs may send to: of the person, and those that their steps set. */
const listEmails = async (scope: Scope, sending: readonly Ahead[]): Promise<string[]> => {
  const rows = await profiles.listRows(scope, [
    ...new Set(sending.map(({ profileId }) => profileId)),
  ]);
  const emailOf = new Map(rows.map(({ profile_id, email }) => [profile_id, email]));
  const named = await readNamed(scope, sending);
  return sending.flatMap(({ run, profileId, updates }) => {
    if (run.test_recipient !== null) return [run.test_recipient];
    const said = named.get(run.trigger_event_id ?? '') ?? {};
    const set = updates.flatMap((step) =>
      [valueOf(step.traits, 'email'), valueOf(said, propertyOf(step) ?? '')].flatMap(
        (value) => readEmail(value) ?? [],
      ),
    );
    return [emailOf.get(profileId) ?? [], set].flat();
  });
};

/**
 * Locks the people that some runs may change and the addresses that they may send to before they wait again, in the
 * order of all locks. The walk itself takes one run after the other as they are due, which may be the reverse of what
 * another worker does.
 */
export const lockRecipients = async (
  scope: Scope,
  runs: readonly DueRun[],
  profileOf: ReadonlyMap<string, string>,
): Promise<void> => {
  const definitionOf = await readDefinitions(scope, runs);
  const ahead = runs.flatMap((run) => {
    const profileId = profileOf.get(run.identity_id);
    return profileId === undefined ? [] : [toAhead(run, profileId, definitionOf(run))];
  });
  const sending = ahead.filter(({ sends }) => sends);
  if (sending.length === 0) return;
  const emails = await listEmails(scope, sending);
  await holdPeople(
    scope,
    ahead.flatMap(({ profileId, updates }) => (updates.length > 0 ? [profileId] : [])),
  );
  await delivery.lockRecipients(scope, emails);
};
