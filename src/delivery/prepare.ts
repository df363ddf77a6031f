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
type Read = { profiles: Map<string, profiles.ProfileRow>; events: Map<string, ingest.Event> };

/** What the templates of a batch may mention, in two statements however large it is. */
const readBatch = async (scope: Scope, claimed: readonly Claimed[]): Promise<Read> => {
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
  };
};

const variablesOf = ({ profile_id, event_id, send_id }: Claimed, read: Read): Variables => {
  const profile = read.profiles.get(profile_id);
  const event = read.events.get(event_id ?? '');
  return {
    profile: { ...profile?.traits, email: profile?.email ?? null },
    event: event
      ? { ...event.properties, event: event.name, occurred_at: event.occurred_at.toISOString() }
      : {},
    run: { send_id },
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

const render = async (template: Template | null, variables: Variables): Promise<Rendered> => {
  if (!template) throw new Unbuildable('template not found');
  const outcome = await rendering.render(template, variables);
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
  const read = await readBatch(scope, claimed);
  const prepared: Prepared[] = [];
  const contents: Content[] = [];
  for (const send of claimed) {
    try {
      const message = await render(await findTemplate(send), variablesOf(send, read));
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
