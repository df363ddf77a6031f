import type { Scope } from '../base/db.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import type { Ready } from '../providers/providers.ts';
import * as rendering from '../rendering/rendering.ts';
import type { Rendered, Template, Variables } from '../rendering/rendering.ts';
import type { Prepared } from './hand_off.ts';
import { buildMessage, Unbuildable } from './message.ts';
import { failRender, keepContents } from './queries.ts';
import type { Claimed, Content } from './queries.ts';

type Batch = { owner: string; ready: Ready; claimed: readonly Claimed[] };

const variablesOf = async (scope: Scope, send: Claimed): Promise<Variables> => {
  const profile = await profiles.findRow(scope, send.profile_id);
  const event =
    send.event_id &&
    send.event_occurred_at &&
    (await ingest.findEvent(scope, send.event_id, send.event_occurred_at));
  return {
    profile: { ...profile?.traits, email: profile?.email ?? null },
    event: event
      ? { ...event.properties, name: event.name, occurred_at: event.occurred_at.toISOString() }
      : {},
    run: { send_id: send.send_id },
  };
};

/** Templates are immutable by version, so a batch reads each of them once. */
const templateReader = (scope: Scope) => {
  const read = new Map<string, Promise<Template | null>>();
  return ({ template_id, template_version }: Claimed): Promise<Template | null> => {
    const key = `${template_id}/${template_version}`;
    const known = read.get(key) ?? rendering.findTemplate(scope, template_id, template_version);
    read.set(key, known);
    return known;
  };
};

const render = async (
  scope: Scope,
  send: Claimed,
  template: Template | null,
): Promise<Rendered> => {
  if (!template) throw new Unbuildable('template not found');
  const outcome = await rendering.render(template, await variablesOf(scope, send));
  if (outcome.kind === 'failed') throw new Unbuildable(outcome.reason);
  return outcome.message;
};

/**
 * Renders leased sends and keeps what will be sent. What cannot be rendered ends as failed_render
 * and stops nobody else.
 */
export const prepareSends = async (
  scope: Scope,
  { owner, ready, claimed }: Batch,
): Promise<Prepared[]> => {
  const findTemplate = templateReader(scope);
  const prepared: Prepared[] = [];
  const contents: Content[] = [];
  for (const send of claimed) {
    try {
      const message = await render(scope, send, await findTemplate(send));
      const envelope = {
        sendId: send.send_id,
        attempt: send.attempt,
        sender: ready.sender,
        to: send.recipient,
      };
      prepared.push({ send, raw: await buildMessage(envelope, message) });
      contents.push({ sendId: send.send_id, ...message });
    } catch (error) {
      if (!(error instanceof Unbuildable)) throw error;
      await failRender(scope, send.send_id, owner, error.message);
    }
  }
  if (contents.length > 0) await keepContents(scope, contents);
  return prepared;
};
