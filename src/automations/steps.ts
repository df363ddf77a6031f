import type { Scope } from '../base/db.ts';
import { readEmail } from '../base/email_address.ts';
import * as delivery from '../delivery/delivery.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import type { DueRun } from './queries.ts';
import type { Step, StepOf } from './schema.ts';

/** A run at one of its steps, and the person it is for. */
export type Walk = { scope: Scope; run: DueRun; stepId: string; profileId: string };

/** What a step decided, for the run's log, and what it queued, for a hint. */
export type Decision = { decision: string; detail: Record<string, string>; queuedFor?: string };

const updateProfile = async (
  { scope, run }: Walk,
  step: StepOf<'update_profile'>,
): Promise<Decision> => {
  const key = { eventId: run.trigger_event_id, occurredAt: run.trigger_event_at };
  const [event] = await ingest.listEvents(scope, [key]);
  const told = Object.entries(step.traits_from_event).flatMap(([trait, property]) => {
    const value =
      event && Object.hasOwn(event.properties, property) ? event.properties[property] : undefined;
    const kept = trait === 'email' ? readEmail(value) : value;
    return kept === undefined || kept === null ? [] : [[trait, kept] as const];
  });
  if (!event || told.length === 0) return { decision: 'nothing_to_update', detail: {} };

  const authority = event.source === 'browser' ? 'publishable' : 'server';
  await profiles.changeTraits(scope, {
    identityId: run.identity_id,
    traits: Object.fromEntries(told),
    setAt: event.occurred_at,
    authority,
  });
  return {
    decision: 'profile_updated',
    detail: { traits: told.map(([trait]) => trait).join(',') },
  };
};

const sendEmail = async (
  { scope, run, stepId, profileId }: Walk,
  step: StepOf<'send_email'>,
): Promise<Decision> => {
  const profile = await profiles.findRow(scope, profileId);
  if (!profile?.email) return { decision: 'no_address', detail: {} };

  const { planned_id, planned_status } = await delivery.plan(scope, {
    automationId: run.automation_id,
    runId: run.run_id,
    stepId,
    identityId: run.identity_id,
    profileId,
    providerId: step.provider_id,
    templateId: step.template_id,
    templateVersion: step.template_version,
    eventId: run.trigger_event_id,
    eventOccurredAt: run.trigger_event_at,
    recipient: profile.email,
    category: run.definition.settings.category,
    onUnknown: run.definition.settings.on_unknown,
  });
  const detail = { send_id: planned_id };
  return planned_status === 'queued'
    ? { decision: 'send_queued', detail, queuedFor: step.provider_id }
    : { decision: `send_${planned_status}`, detail };
};

type StepKinds = { [Kind in Step['kind']]: (walk: Walk, step: StepOf<Kind>) => Promise<Decision> };

/** What each kind of step does. A step is a function of the run, the profile and the clock. */
const kinds: StepKinds = { update_profile: updateProfile, send_email: sendEmail };

export const takeStep = (walk: Walk, step: Step): Promise<Decision> => {
  const take = kinds[step.kind] as (walk: Walk, step: Step) => Promise<Decision>;
  return take(walk, step);
};
