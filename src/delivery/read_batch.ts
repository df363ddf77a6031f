import type { Scope } from '../base/db.ts';
import * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import * as rendering from '../rendering/rendering.ts';
import type { Template } from '../rendering/rendering.ts';
import { toAddressee, toContext } from './context.ts';
import type { Context } from './context.ts';
import type { Claimed } from './claim_queries.ts';

/** What the emails of a batch are made of. */
export type BatchSources = {
  /** By the id of their send: what its email may show. */
  contexts: Map<string, Context>;
  templates: Map<string, Template>;
};

/** Returns the key of a template version in `BatchSources`. */
export const templateKey = ({ template_id, template_version }: Claimed): string =>
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

/** Reads what the emails of a batch are made of, in a few statements for any number of them. */
export const readBatch = async (
  scope: Scope,
  claimed: readonly Claimed[],
): Promise<BatchSources> => {
  const people = await profiles.readForEmail(scope, claimed.map(toAddressee));
  const events = await ingest.listEvents(
    scope,
    claimed.flatMap(({ event_id, event_occurred_at }) =>
      event_id && event_occurred_at ? [{ eventId: event_id, occurredAt: event_occurred_at }] : [],
    ),
  );
  const eventOf = new Map(events.map((event) => [event.event_id, event]));
  const contexts = claimed.map((send, at): [string, Context] => {
    const known = { person: people[at] ?? null, event: eventOf.get(send.event_id ?? '') ?? null };
    return [send.send_id, toContext(scope, send, known)];
  });
  return { contexts: new Map(contexts), templates: await readTemplates(scope, claimed) };
};
