import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import { outOfTurn } from '../base/session_turns.ts';
import { countTestEmails } from '../base/test_emails.ts';
import {
  findBounceAddress,
  makeEnvelopeSender,
  testMailbox,
} from './bounce_mailbox/bounce_mailbox.ts';
import { countCheck } from './checks.ts';
import { networkOf } from './network.ts';
import { serviceOf } from './email_service.ts';
import type { BounceAddress } from './bounce_mailbox/bounce_mailbox.ts';
import type { EmailService } from './email_service.ts';
import { isExplained, toFailure } from './failures.ts';
import type { ExplainedFailure } from './failures.ts';
import { isParking } from './outcome.ts';
import type { SendOutcome } from './outcome.ts';
import { noteProved } from './pace_notes.ts';
import { alertParked, resolveParked } from './provider_alerts.ts';
import { probeMessage } from './probe_message.ts';
import type { ProbeMail } from './probe_message.ts';
import { findProvider, noteTest, noteTestBegun, parkProvider } from './queries.ts';
import type { ProviderRow, TestNote } from './queries.ts';
import { openSettings } from './records.ts';
import { testEmailId } from './test_email_id.ts';
import { HAND_OFF_DEADLINE_MS } from './transport.ts';
import type { Link, Network } from './transport.ts';
import { connect } from './transports.ts';

/** Whether an address must be left alone. Locks it, so that the answer is true until the transaction ends. */
export type IsStopped = (scope: Scope, email: string) => Promise<boolean>;

/** One test message. `testId` is the same when the same request is tried again. */
export type Test = { to: string; testId: string; isStopped: IsStopped; mail?: ProbeMail };

export type Tested = { providerMessageId: string | null; tookMs: number };

const failureOf = (outcome: SendOutcome): ExplainedFailure | null => {
  switch (outcome.kind) {
    case 'accepted':
      return null;
    case 'unknown':
      return 'outcome_unknown';
    case 'not_started':
      return 'too_slow';
    case 'deferred':
      return outcome.reason;
    default:
      return outcome.reason;
  }
};

/**
 * Commits that the message is about to be given to the provider, or refuses: as for every hand-off, under the
 * lock that a suppression takes too. A test of which nothing more is known was perhaps taken.
 */
const begin = (deps: Deps, projectId: string, row: ProviderRow, test: Test): Promise<void> =>
  inProject(deps, projectId, async (scope) => {
    if (await test.isStopped(scope, test.to)) throw new Refusal('recipient_suppressed');
    const isNoted = (await noteTestBegun(scope, row, test.testId)) !== null;
    if (!isNoted && !(await findProvider(scope, row.provider_id))) throw new Refusal('not_found');
  });

type Way = { link: Link; service: EmailService; bounces: BounceAddress };

const sendProbe = async (
  deps: Deps,
  projectId: string,
  row: ProviderRow,
  { test, link, service, bounces }: Way & { test: Test },
): Promise<SendOutcome> => {
  const { from_email: from, from_name: fromName, reply_to: replyTo, provider_id: providerId } = row;
  const probeId = testEmailId(deps.keys, { projectId, to: test.to, service }, test.testId);
  const probe = { from, fromName, replyTo, to: test.to, probeId };
  const message = probeMessage(test.mail ? { ...probe, mail: test.mail } : probe);
  const deadline = performance.now() + HAND_OFF_DEADLINE_MS;
  await begin(deps, projectId, row, test);
  // The envelope sender of every email: a relay that refuses it refuses this one, too.
  const enveloped = { projectId, providerId, fromEmail: from, bounces };
  const sender = makeEnvelopeSender(deps.keys, enveloped, probeId);
  return link.send({ ...message, from: sender, mayStart: () => performance.now() < deadline });
};

/** How long a test waits for the answer to its message at most: somebody waits for it. */
export const TEST_ANSWER_MS_MAX = 30_000;

export const networkOfTest = (deps: Pick<Deps, 'config' | 'resources'>): Network => ({
  ...networkOf(deps),
  answerTimeoutMs: Math.min(deps.config.answerTimeoutMs, TEST_ANSWER_MS_MAX),
});

/** Over a connection of its own: one that is kept says nothing of the credentials of today. */
const attempt = async (
  deps: Deps,
  projectId: string,
  row: ProviderRow,
  test: Test,
): Promise<SendOutcome> => {
  const { settings, bounces } = await inProject(deps, projectId, async (scope) => ({
    settings: await openSettings(scope, row),
    bounces: await findBounceAddress(scope, row.provider_id),
  }));
  const opened = await connect(settings, networkOfTest(deps));
  if (opened.kind === 'failed') return opened.outcome;
  try {
    const service = serviceOf(settings);
    return await sendProbe(deps, projectId, row, {
      test,
      link: opened.link,
      service,
      bounces,
    });
  } finally {
    opened.link.close();
  }
};

const refuse = (failure: string): never => {
  const reason = isExplained(failure) ? failure : 'provider_unavailable';
  throw new Refusal('provider_test_failed', { members: toFailure(reason) });
};

/** What is known of a test; refuses when it failed. */
const toTested = ({ failure, messageId, tookMs }: TestNote): Tested => {
  if (failure !== null) refuse(failure);
  return { providerMessageId: messageId, tookMs };
};

/** A test that was noted before its answer could be given is not made a second time. */
const findNoted = (row: ProviderRow, testId: string): TestNote | null =>
  row.test_id === testId
    ? {
        testId,
        failure: row.test_failure,
        messageId: row.test_message_id,
        tookMs: row.test_took_ms ?? 0,
      }
    : null;

const keepNote = async (
  scope: Scope,
  row: ProviderRow,
  { note, outcome }: { note: TestNote; outcome: SendOutcome },
): Promise<void> => {
  const isOfToday = (await noteTest(scope, row, note)) !== null;
  if (note.failure !== null) {
    // A test shows the class of a failure, never what the other side said: an editor chooses its host.
    const why = { reason: note.failure, answer: null };
    const isParked = isParking(outcome) && (await parkProvider(scope, row, why)) !== null;
    if (isParked) await alertParked(scope, row.provider_id, why);
    return;
  }
  if (isOfToday) await resolveParked(scope, row.provider_id);
  await noteProved(scope, row.provider_id);
};

/**
 * Sends one real message through a provider, parked or not, and notes what came of it: one that is taken
 * unparks and ends a pause, one that no later attempt could mend parks. Then tests its bounce mailbox, if it has one.
 * Refuses with the class of the failure.
 */
export const testProvider = async (
  deps: Deps,
  projectId: string,
  row: ProviderRow,
  test: Test,
): Promise<Tested> => {
  const tested = await testSending(deps, projectId, row, test);
  await testMailbox(deps, projectId, row.provider_id);
  return tested;
};

const testSending = async (
  deps: Deps,
  projectId: string,
  row: ProviderRow,
  test: Test,
): Promise<Tested> => {
  const noted = findNoted(row, test.testId);
  if (noted) return toTested(noted);
  await countCheck(deps, projectId);
  await countTestEmails(deps.db, { projectId, audit: deps.audit, emails: 1 });
  const startedAt = performance.now();
  const outcome = await attempt(deps, projectId, row, test);
  const note: TestNote = {
    testId: test.testId,
    failure: failureOf(outcome),
    messageId: outcome.kind === 'accepted' ? outcome.providerMessageId : null,
    tookMs: Math.round(performance.now() - startedAt),
  };
  await inProject(outOfTurn(deps), projectId, async (scope) => {
    await keepNote(scope, row, { note, outcome });
  });
  return toTested(note);
};
