import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import * as projects from '../projects/projects.ts';
import type { Ready } from '../providers/providers.ts';
import * as rendering from '../rendering/rendering.ts';
import type { Rendered, Template, Variables } from '../rendering/rendering.ts';
import * as suppression from '../suppression/suppression.ts';
import { buildMessage, Unbuildable } from './message.ts';
import { observeEnded } from './observe.ts';
import type { EndedSend } from './observe.ts';
import { failRender, keepContents } from './queries.ts';
import type { Claimed, Content } from './queries.ts';

type PrepareDeps = Pick<Deps, 'config' | 'db' | 'keys'>;
type Batch = {
  projectId: string;
  owner: string;
  ready: Ready;
  claimed: readonly Claimed[];
};
type Read = {
  project: { name: string };
  profiles: Map<string, profiles.ProfileRow>;
  events: Map<string, ingest.Event>;
  templates: Map<string, Template>;
};

const templateKey = ({ template_id, template_version }: Claimed): string =>
  `${template_id}/${template_version}`;

/** Templates are immutable by version, so a batch reads each of them once. */
const readTemplates = async (scope: Scope, claimed: readonly Claimed[]) => {
  const templates = new Map<string, Template>();
  for (const send of new Map(claimed.map((one) => [templateKey(one), one])).values()) {
    const template = await rendering.findTemplate(scope, send.template_id, send.template_version);
    if (template) templates.set(templateKey(send), template);
  }
  return templates;
};

/** What the templates of a batch may mention, in a few statements however large it is. */
const readBatch = async (
  scope: Scope,
  claimed: readonly Claimed[],
): Promise<Omit<Read, 'project'>> => {
  const people = await profiles.listRows(
    scope,
    claimed.map(({ profile_id }) => profile_id),
  );
  const events = await ingest.listEvents(
    scope,
    claimed.flatMap(({ event_id, event_occurred_at }) =>
      event_id && event_occurred_at ? [{ eventId: event_id, occurredAt: event_occurred_at }] : [],
    ),
  );
  return {
    profiles: new Map(people.map((row) => [row.profile_id, row])),
    events: new Map(events.map((event) => [event.event_id, event])),
    templates: await readTemplates(scope, claimed),
  };
};

const variablesOf = (
  { profile_id, event_id, send_id }: Claimed,
  read: Read,
  unsubscribe_url: string,
): Variables => {
  const profile = read.profiles.get(profile_id);
  const event = read.events.get(event_id ?? '');
  return {
    profile: { ...profile?.traits, email: profile?.email ?? null },
    event: event
      ? { ...event.properties, event: event.name, occurred_at: event.occurred_at.toISOString() }
      : {},
    run: { send_id },
    project: read.project,
    unsubscribe_url,
  };
};

const render = async (template: Template | undefined, variables: Variables): Promise<Rendered> => {
  if (!template) throw new Unbuildable('template not found');
  const outcome = await rendering.render(template, variables);
  if (outcome.kind === 'failed') throw new Unbuildable(outcome.reason);
  return outcome.message;
};

type Made = { message: Rendered; raw: Buffer };

/** One send as it will be kept and as it will go over the wire. */
const build = async (
  { config, keys }: PrepareDeps,
  { projectId, ready }: Batch,
  send: Claimed,
  read: Read,
): Promise<Made> => {
  const { send_id: sendId, address_key: addressKey, category } = send;
  const token = suppression.makeUnsubscribeToken(keys, { projectId, addressKey, sendId });
  const url = `${config.publicUrl}/u/${token}`;
  const isMarketing = category === 'marketing';
  const rendered = await render(
    read.templates.get(templateKey(send)),
    variablesOf(send, read, url),
  );
  const message = isMarketing ? rendering.withUnsubscribe(rendered, url) : rendered;
  const about = {
    projectId,
    automationId: send.automation_id,
    templateId: send.template_id,
    templateVersion: send.template_version,
    category,
    unsubscribeUrl: isMarketing ? url : null,
    host: 'smtp_host' in ready.settings ? ready.settings.smtp_host : null,
  };
  const { attempt, recipient: to } = send;
  const raw = await buildMessage({ sendId, attempt, sender: ready.sender, to, about }, message);
  return { message, raw };
};

/** A leased send and its message, as it goes over the wire. */
export type Built = { send: Claimed; subject: string; raw: Buffer };

type Batched = {
  prepared: Built[];
  contents: Content[];
  failed: { send: Claimed; reason: string }[];
  /** What was not come to. */
  left: Claimed[];
};

/** What is built at once: leases must not run out meanwhile, nor must it fill the memory. */
const BUILD_MS_MAX = 5_000;
const BUILD_BYTES_MAX = 16 * 1024 * 1024;

const buildAll = async (deps: PrepareDeps, batch: Batch, read: Read): Promise<Batched> => {
  const built: Batched = { prepared: [], contents: [], failed: [], left: [] };
  const endsAt = performance.now() + BUILD_MS_MAX;
  let bytes = 0;
  for (const send of batch.claimed) {
    if (performance.now() >= endsAt || bytes >= BUILD_BYTES_MAX) {
      built.left.push(send);
      continue;
    }
    try {
      const { message, raw } = await build(deps, batch, send, read);
      bytes += raw.length;
      built.prepared.push({ send, subject: message.subject, raw });
      built.contents.push({ sendId: send.send_id, ...message });
    } catch (error) {
      if (!(error instanceof Unbuildable)) throw error;
      built.failed.push({ send, reason: error.message });
    }
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
  const read = { ...known, project: { name: project?.name ?? '' } };
  const { prepared, contents, failed, left } = await buildAll(deps, batch, read);
  await inProject(deps, projectId, async (scope) => {
    const ended: EndedSend[] = [];
    for (const { send, reason } of failed)
      ended.push(...(await failRender(scope, send.send_id, owner, reason)));
    await observeEnded(scope, ended);
    if (contents.length > 0) await keepContents(scope, owner, contents);
  });
  return { built: prepared, ended: failed.map(({ send }) => send), left };
};
