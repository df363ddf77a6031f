import { setImmediate as nextTurn } from 'node:timers/promises';
import { inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import * as projects from '../projects/projects.ts';
import type { Ready } from '../providers/providers.ts';
import * as rendering from '../rendering/rendering.ts';
import type { Rendered, RenderOutcome } from '../rendering/rendering.ts';
import * as suppression from '../suppression/suppression.ts';
import type { EndedSend } from './ended_queries.ts';
import { feedbackSenderOf } from './mail_headers.ts';
import { buildMessage, Unbuildable } from './message.ts';
import { NOTHING_KNOWN } from './context.ts';
import { observeEnded } from './observe.ts';
import { keepContents } from './queries.ts';
import { readBatch, templateKey } from './read_batch.ts';
import type { BatchSources } from './read_batch.ts';
import { cancelUnconfirmed, failRender } from './stop.ts';
import type { Claimed } from './claim_queries.ts';
import type { Content } from './queries.ts';

type PrepareDeps = Pick<Deps, 'config' | 'db' | 'keys' | 'resources'>;
type Batch = {
  projectId: string;
  owner: string;
  ready: Ready;
  claimed: readonly Claimed[];
  /** Whether email that no page caused is rendered without what only a browser asserted. */
  isBare: boolean;
};
type Read = BatchSources & { project: { name: string }; feedbackSender: string };

/** A send with what its email says: the same link to unsubscribe in its body and in its headers. */
type Addressed = {
  send: Claimed;
  url: string;
  mail: rendering.Mail | null;
  withheld: rendering.Sample | null;
};

const address = (deps: PrepareDeps, batch: Batch, read: Read, send: Claimed): Addressed => {
  const { projectId } = batch;
  const { send_id, address_key: addressKey } = send;
  const about = { projectId, addressKey, sendId: send_id };
  const url = `${deps.config.publicUrl}/u/${suppression.makeUnsubscribeToken(deps.keys, about)}`;
  const template = read.templates.get(templateKey(send));
  const { sample, asserted, withheld } = read.contexts.get(send_id) ?? NOTHING_KNOWN;
  const rest = { run: { send_id }, project: read.project, unsubscribe_url: url };
  const variables = { ...sample, ...rest };
  const isBare = send.is_bare || (batch.isBare && !send.is_of_page);
  const mail = template ? { template, variables, asserted, isBare } : null;
  return { send, url, mail, withheld };
};

/** How the subject begins of a mail by which somebody tries an automation: nobody is to take it in earnest. */
export const TEST_MARK = '[Test] ';

type Made = { message: Rendered; raw: Buffer; showsAsserted: boolean };

/** A mail as it is sent: with a way to leave, and said to be a test where it is one. */
const finish = ({ send, url }: Addressed, said: Rendered): Rendered => {
  const message = send.category === 'marketing' ? rendering.withUnsubscribe(said, url) : said;
  return send.is_test ? { ...message, subject: `${TEST_MARK}${message.subject}` } : message;
};

/** One send as it will be kept and as it will go over the wire. */
const build = (
  { ready }: Batch,
  { feedbackSender }: Read,
  { addressed, outcome }: { addressed: Addressed; outcome: RenderOutcome },
): Made => {
  if (outcome.kind === 'failed') throw new Unbuildable(outcome.reason);
  const { send, url } = addressed;
  const { send_id: sendId, category, attempt, recipient: to } = send;
  const message = finish(addressed, outcome.message);
  const about = {
    feedbackSender,
    automationId: send.automation_id,
    templateId: send.template_id,
    templateVersion: send.template_version,
    category,
    unsubscribeUrl: category === 'marketing' ? url : null,
    host: 'smtp_host' in ready.settings ? ready.settings.smtp_host : null,
  };
  const raw = buildMessage({ sendId, attempt, sender: ready.sender, to, about }, message);
  return { message, raw, showsAsserted: outcome.showsAsserted };
};

/** A leased send and its message, as it goes over the wire. */
export type Built = {
  send: Claimed;
  subject: string;
  raw: Buffer;
  /** Whether the message shows what only a browser asserted. */
  showsAsserted: boolean;
};

type Batched = {
  prepared: Built[];
  contents: Content[];
  failed: { send: Claimed; reason: string; isWithheld: boolean }[];
  /** What was not come to. */
  left: Claimed[];
};

/** What is built at once: leases must not run out meanwhile, nor must it fill the memory. */
const BUILD_MS_MAX = 5_000;
const BUILD_BYTES_MAX = 16 * 1024 * 1024;

/** How many are rendered in one go: while they are made into messages, the next ones are rendered. */
const RENDERED_TOGETHER_MAX = 25;
const NOT_THERE: RenderOutcome = { kind: 'failed', reason: 'template not found' };

type Rendering = { addressed: Addressed; outcome: RenderOutcome | null }[];

/** Outcomes are null of what was not come to before the time was over. */
const renderSome = async (
  deps: PrepareDeps,
  { projectId }: Batch,
  some: readonly Addressed[],
  endsAt: number,
): Promise<Rendering> => {
  const mails = some.flatMap(({ mail }) => mail ?? []);
  const outcomes = await rendering.renderMails(deps, projectId, mails, endsAt - performance.now());
  let at = 0;
  return some.map((addressed) => ({
    addressed,
    outcome: addressed.mail === null ? NOT_THERE : (outcomes[at++] ?? null),
  }));
};

/** Whether an email fails only because an unconfirmed address may not receive a value that its template needs. */
const lacksWithheld = ({ withheld }: Addressed, outcome: RenderOutcome): boolean => {
  const missing = outcome.kind === 'failed' ? (outcome.missing ?? null) : null;
  return missing !== null && withheld !== null && rendering.hasVariable(withheld, missing);
};

/** After a message so large others have their turn: encoding it takes milliseconds. */
const LARGE_BYTES = 64 * 1024;

/** Makes messages of what was rendered, as far as there is room. Answers how many bytes they are. */
const buildSome = async (
  batch: Batch,
  read: Read,
  { some, built }: { some: Rendering; built: Batched },
): Promise<number> => {
  let bytes = 0;
  for (const { addressed, outcome } of some) {
    const { send } = addressed;
    if (outcome === null) {
      built.left.push(send);
      continue;
    }
    try {
      const { message, raw, showsAsserted } = build(batch, read, { addressed, outcome });
      bytes += raw.length;
      if (raw.length > LARGE_BYTES) await nextTurn();
      built.prepared.push({ send, subject: message.subject, raw, showsAsserted });
      built.contents.push({ sendId: send.send_id, ...message });
    } catch (error) {
      if (!(error instanceof Unbuildable)) throw error;
      const isWithheld = lacksWithheld(addressed, outcome);
      built.failed.push({ send, reason: error.message, isWithheld });
    }
  }
  return bytes;
};

const buildAll = async (deps: PrepareDeps, batch: Batch, read: Read): Promise<Batched> => {
  const built: Batched = { prepared: [], contents: [], failed: [], left: [] };
  const endsAt = performance.now() + BUILD_MS_MAX;
  const waiting = [...batch.claimed];
  const renderNext = () =>
    renderSome(
      deps,
      batch,
      waiting.splice(0, RENDERED_TOGETHER_MAX).map((send) => address(deps, batch, read, send)),
      endsAt,
    );
  let bytes = 0;
  let next = renderNext();
  for (let some = await next; some.length > 0; some = await next) {
    const isOver = performance.now() >= endsAt || bytes >= BUILD_BYTES_MAX;
    if (isOver) built.left.push(...waiting.splice(0));
    next = renderNext();
    // Awaited below; whoever fails before that must not leave a rejection that nobody hears.
    next.catch(() => undefined);
    bytes += await buildSome(batch, read, { some, built });
  }
  return built;
};

/** What came of a batch: messages, sends that cannot become one and have ended, and those not come to. */
export type Prepared = { built: Built[]; ended: Claimed[]; left: Claimed[] };

/**
 * Renders leased sends and keeps what will be sent. What cannot be rendered ends as failed_render
 * and stops nobody else; what takes too long in all is left. No transaction is open while templates run.
 */
export const prepareSends = async (deps: PrepareDeps, batch: Batch): Promise<Prepared> => {
  const { projectId, owner, claimed } = batch;
  const project = await projects.findProject(deps.db, projectId);
  const known = await inProject(deps, projectId, (scope) => readBatch(scope, claimed));
  const feedbackSender = feedbackSenderOf(deps.keys, projectId);
  const read = { ...known, project: { name: project?.name ?? '' }, feedbackSender };
  const { prepared, contents, failed, left } = await buildAll(deps, batch, read);
  await inProject(deps, projectId, async (scope) => {
    const ended: EndedSend[] = [];
    for (const { send, reason, isWithheld } of failed) {
      const leased = { sendId: send.send_id, owner };
      ended.push(
        ...(await (isWithheld
          ? cancelUnconfirmed(scope, leased)
          : failRender(scope, leased, reason))),
      );
    }
    await observeEnded(scope, ended);
    if (contents.length > 0) await keepContents(scope, owner, contents);
  });
  return { built: prepared, ended: failed.map(({ send }) => send), left };
};
