import type { Scope } from '../base/db.ts';
import * as delivery from '../delivery/delivery.ts';
import * as profiles from '../profiles/profiles.ts';
import * as segments from '../segments/segments.ts';
import { findCall, queueCall } from './call_queries.ts';
import { later } from './clock.ts';
import { beginningOf, findFirstEvent } from './past.ts';
import type { Others } from './merges/others.ts';
import { listOwnSends, listSentTo, STOPPED } from './past_queries.ts';
import type { OwnSendRow } from './past_queries.ts';
import { remembered } from './remembered.ts';
import type { Together, WalkedRun } from './together.ts';
import type { Effects, Message, OwnSend, PersonView, Reader } from './world.ts';

/** A run that is walked in earnest, in the transaction of `scope`. */
export type Live = {
  scope: Scope;
  run: WalkedRun;
  /** What the runs of its transaction ask together. */
  together: Together;
  /** What the other runs of their people did. */
  others: Others;
  profileId: string;
  now: Date;
  /** Providers that mail was planned for. */
  queuedFor: Set<string>;
  /** Endpoints that are to be called. */
  calledAt: Set<string>;
  /** Emails that are not even planned, for the timelines. */
  skipped: delivery.Skip[];
};

/** Every fact about a send. */
const toOwnSend = ({ step_id, status, ...at }: OwnSendRow): OwnSend => ({
  step_id,
  facts: [
    'queued',
    ...(status === 'accepted' ? ['accepted'] : []),
    ...(STOPPED.includes(status) ? ['stopped'] : []),
    ...(at.delivered_at ? ['delivered'] : []),
    ...(at.bounced_at ? ['bounced'] : []),
    ...(at.complained_at ? ['complained'] : []),
  ],
});

const SECOND_MS = 1_000;

const expiresAfterSeconds = ({ run, now }: Live): number => {
  const { expires_after: duration, timezone } = run.definition.settings;
  const expiresAt = later(now, duration, timezone);
  return (expiresAt.getTime() - now.getTime()) / SECOND_MS;
};

const plan = async (live: Live, { stepId, step, to, limits }: Message) => {
  const { scope, run, profileId, queuedFor, others } = live;
  const { settings } = run.definition;
  const { planned_id: sendId, planned_status: status } = await delivery.plan(scope, {
    automationId: run.automation_id,
    runId: run.run_id,
    stepId,
    identityId: run.identity_id,
    profileId,
    providerId: step.provider_id,
    templateId: step.template_id,
    templateVersion: step.template_version,
    // A run that no event started has its own id in place of the event's.
    eventId: run.trigger_event_id ?? run.run_id,
    eventOccurredAt: run.trigger_event_at ?? run.started_at,
    recipient: run.test_recipient ?? to,
    category: settings.category,
    onUnknown: settings.on_unknown,
    expiresAfterSeconds: expiresAfterSeconds(live),
    // A test goes to the address that a person chose for it.
    limits: run.is_test ? null : limits,
    isTest: run.is_test,
    traceparent: run.traceparent,
    isBulk: run.is_bulk,
  });
  others.forgetSends();
  if (status === 'queued') queuedFor.add(step.provider_id);
  return { sendId, status };
};

/** The call of a step, made or requested again. No lane makes it before the commit. */
const askCall = async (live: Live, stepId: string, endpointId: string) => {
  const { scope, run, now, calledAt } = live;
  const { expires_after: duration, timezone } = run.definition.settings;
  const expiresAt = later(now, duration, timezone);
  const asked = { runId: run.run_id, stepId, endpointId, expiresAt };
  const callId = await queueCall(scope, asked);
  calledAt.add(endpointId);
  return { callId };
};

type Known = Awaited<ReturnType<typeof profiles.listMembers>>[number];

const toSkip = (
  { run, now }: Live,
  { kind, value }: Known,
  { stepId, reason }: { stepId: string; reason: string },
): delivery.Skip => ({
  identityId: run.identity_id,
  kind,
  value,
  automationId: run.automation_id,
  stepId,
  reason,
  at: now,
  isBrowserTriggered: run.source !== 'server',
});

/** A test sends to the address that was chosen for it, also where the person has none. */
const asTried = (run: WalkedRun, person: PersonView | null): PersonView | null =>
  person && { ...person, email: person.email ?? run.test_recipient };

/**
 * Notes who caused a change of traits, where that is not a server. The step sets its traits with a server's authority,
 * but what they cause, such as an entry into a segment, has the source of the run. The note comes before the
 * change: `take_changes` may take the change's own note in a later batch, and never in an earlier one.
 */
const noteCause = async (
  { scope, run: { source }, profileId }: Live,
  traits: Record<string, unknown>,
): Promise<void> => {
  if (source === 'server') return;
  // With an address tags change, too.
  const aspects = Object.hasOwn(traits, 'email')
    ? null
    : Object.keys(traits).map((name) => profiles.aspectOf('trait', name));
  await profiles.noteChanges(scope, [profileId], {
    source: source === 'browser' ? source : null,
    aspects: [aspects],
  });
};

/** What steps of a run may ask and do: the tables as they are, and the rooms that change them. */
export const openLive = (live: Live): { reader: Reader; effects: Effects } => {
  const { scope, run, profileId, together, others } = live;
  const members = remembered(() => profiles.listMembers(scope, [profileId]));
  const reader: Reader = {
    person: async () => asTried(run, await together.findPerson(profileId)),
    triggerEvent: () => together.findTrigger(run),
    firstEvent: async (match, until) =>
      findFirstEvent(scope, await members.get(), match, { since: beginningOf(run), until }),
    entered: async (segmentId, until) => {
      const sought = { segmentId, profileId, change: 'entered' as const };
      const told = await segments.findFirstEntry(scope, sought, { since: run.started_at, until });
      return told && { entry: told.entry, at: told.changed_at };
    },
    holds: (where) =>
      segments.holdsFor(scope, profileId, { where, today: segments.todayAt(live.now) }),
    call: (stepId) => findCall(scope, run.run_id, stepId),
    sends: async () => (await listOwnSends(scope, run.run_id)).map(toOwnSend),
    sentByOther: (stepId, to) => others.findSent(run, stepId, to),
    armOf: async (stepId) => (await others.findArm(run, stepId)) ?? profileId,
    mailedUnconfirmed: async (email) => {
      if (run.is_test || (await together.isConfirmed(profileId))) return null;
      const { automation_id: automationId } = run;
      return delivery.countMailed(scope, email, { automationId, now: live.now });
    },
    // The caller of a test chooses its recipient.
    ofRecipient: (email) =>
      run.is_test
        ? Promise.resolve({ sent: 0, max: Infinity })
        : delivery.countOfRecipient(scope, email, live.now),
    sentSince: async (since, of) => {
      const identityIds = (await members.get()).map(({ identity_id }) => identity_id);
      const automationId = of === 'automation' ? run.automation_id : null;
      const isServerOnly = run.source === 'server';
      const rows = await listSentTo(scope, identityIds, { since, automationId, isServerOnly });
      return rows.map(({ queued_at }) => queued_at);
    },
  };
  const effects: Effects = {
    send: (message) => plan(live, message),
    call: ({ stepId, step }) => askCall(live, stepId, step.endpoint_id),
    skip: async (stepId, reason) => {
      const known = (await members.get()).find(
        ({ identity_id }) => identity_id === run.identity_id,
      );
      if (known && !run.is_test) live.skipped.push(toSkip(live, known, { stepId, reason }));
    },
    changeTraits: async ({ traits, setAt, authority, anonymousId }) => {
      const { identity_id: identityId, is_test } = run;
      // A test changes no profile.
      if (is_test) return true;
      const change = { identityId, traits, setAt, authority, anonymousId };
      await noteCause(live, traits);
      if (!(await profiles.changeTraits(scope, change))) return false;
      together.forget(profileId);
      if (authority === 'server' && Object.hasOwn(traits, 'email')) together.confirm(profileId);
      return true;
    },
  };
  return { reader, effects };
};
