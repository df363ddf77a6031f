import type * as delivery from '../delivery/delivery.ts';
import { later } from './clock.ts';
import type { WalkedRun } from './due_queries.ts';
import { beginningOf } from './past.ts';
import { STOPPED } from './past_queries.ts';
import type { OwnSendRow } from './past_queries.ts';
import type { Member, WalkContext } from './walk_context.ts';
import type { Change, Effects, Message, OwnSend, PersonView, Reader } from './world.ts';

/** A run whose walk reads the tables and changes them, beside others of one transaction. */
export type Live = { run: WalkedRun; profileId: string; context: WalkContext };

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
    // A program that shows no pictures reports no open, but a click.
    ...(at.opened_at || at.clicked_at ? ['opened'] : []),
    ...(at.clicked_at ? ['clicked'] : []),
  ],
});

const SECOND_MS = 1_000;

/** When an effect of the run is too old to be worth an attempt. */
const expiryOf = ({ run, context }: Live): Date => {
  const { expires_after: duration, timezone } = run.definition.settings;
  return later(context.now, duration, timezone);
};

const toIntent = (live: Live, { stepId, step, to, limits }: Message): delivery.Intent => {
  const { run, profileId, context } = live;
  const { settings } = run.definition;
  return {
    automationId: run.automation_id,
    runId: run.run_id,
    stepId,
    identityId: run.identity_id,
    profileId,
    providerId: step.provider_id,
    templateId: step.template_id,
    templateVersion: step.template_version,
    // A run without a trigger event is named in its place: there is no such event to be shown.
    eventId: run.trigger_event_id ?? run.run_id,
    eventOccurredAt: run.trigger_event_at ?? run.started_at,
    recipient: run.test_recipient ?? to,
    category: settings.category,
    onUnknown: settings.on_unknown,
    expiresAfterSeconds: (expiryOf(live).getTime() - context.now.getTime()) / SECOND_MS,
    // A person chose the recipient of a test.
    limits: run.is_test ? null : limits,
    isTest: run.is_test,
    traceparent: run.traceparent,
    isBulk: run.is_bulk,
  };
};

const plan = async (live: Live, message: Message) => {
  const { context } = live;
  const { batched, queuedFor } = context;
  const { planned_id: sendId, planned_status: status } = await batched.plan(
    toIntent(live, message),
  );
  context.others.forgetSends();
  if (status === 'queued') queuedFor.add(message.step.provider_id);
  return { sendId, status };
};

/** Queues the call of a step, or queues it again. A worker makes it after the commit. */
const queueCall = async (live: Live, stepId: string, endpointId: string) => {
  const { batched, calledAt } = live.context;
  const call = { runId: live.run.run_id, stepId, endpointId, expiresAt: expiryOf(live) };
  const callId = await batched.queueCall(call);
  calledAt.add(endpointId);
  return { callId };
};

const toSkip = (
  { run, context }: Live,
  { kind, value }: Member,
  { stepId, reason }: { stepId: string; reason: string },
): delivery.Skip => ({
  identityId: run.identity_id,
  kind,
  value,
  automationId: run.automation_id,
  stepId,
  reason,
  at: context.now,
  isBrowserTriggered: run.source !== 'server',
});

const skip = async (live: Live, stepId: string, reason: string): Promise<void> => {
  const { run, profileId, context } = live;
  if (run.is_test) return;
  const members = await context.listMembers(profileId);
  const known = members.find(({ identity_id }) => identity_id === run.identity_id);
  if (known) context.skipped.push(toSkip(live, known, { stepId, reason }));
};

const changeTraits = async ({ run, profileId, context }: Live, change: Change) => {
  const { identity_id: identityId, source, is_test } = run;
  // A test changes no profile.
  if (is_test) return true;
  const write = { profileId, change: { identityId, ...change }, source };
  const isKept = await context.batched.changeTraits(write);
  if (isKept) context.forget(profileId);
  return isKept;
};

/** A test sends to the recipient that was chosen for it, also for a person without an address. */
const asTried = (run: WalkedRun, person: PersonView | null): PersonView | null =>
  person && { ...person, email: person.email ?? run.test_recipient };

const openReader = ({ run, profileId, context }: Live): Reader => {
  const { batched } = context;
  return {
    person: async () => asTried(run, await context.findPerson(profileId)),
    triggerEvent: () => context.findTrigger(run),
    firstEvent: async (match, until) => {
      const identities = await context.listMembers(profileId);
      return batched.findFirstEvent({ identities, match, since: beginningOf(run), until });
    },
    entered: async (segmentId, until) => {
      const entry = { segmentId, profileId, change: 'entered' as const };
      const first = await batched.findFirstEntry({ ...entry, since: run.started_at, until });
      return first && { entry: first.entry, at: first.changed_at };
    },
    holds: (where) => batched.matches({ profileId, where }),
    call: (stepId) => batched.findCall({ runId: run.run_id, stepId }),
    sends: async () => (await batched.listOwnSends(run.run_id)).map(toOwnSend),
    sentByOther: (stepId, to) => batched.findSent({ run, stepId, to }),
    armOf: async (stepId) => (await batched.findArm({ run, stepId })) ?? profileId,
    mailedUnconfirmed: async (email) => {
      if (run.is_test || (await batched.isConfirmed({ profileId, email }))) return null;
      return batched.countMailed({ email, automationId: run.automation_id });
    },
    // The caller of a test chooses its recipient.
    ofRecipient: (email) =>
      run.is_test ? Promise.resolve({ sent: 0, max: Infinity }) : batched.countOfRecipient(email),
    sentSince: async (since, of) => {
      const members = await context.listMembers(profileId);
      return batched.listSentTo({
        identityIds: members.map(({ identity_id }) => identity_id),
        since,
        automationId: of === 'automation' ? run.automation_id : null,
        isServerOnly: run.source === 'server',
      });
    },
  };
};

/** Opens what the steps of a run may read and do, of the tables and in them. */
export const openLive = (live: Live): { reader: Reader; effects: Effects } => ({
  reader: openReader(live),
  effects: {
    send: (message) => plan(live, message),
    call: ({ stepId, step }) => queueCall(live, stepId, step.endpoint_id),
    skip: (stepId, reason) => skip(live, stepId, reason),
    changeTraits: (change) => changeTraits(live, change),
  },
});
