import { inProject } from '../base/db.ts';
import type { Caller } from '../base/caller.ts';
import type { Deps } from '../base/deps.ts';
import { Refusal } from '../base/refusal.ts';
import * as identity from '../identity/identity.ts';
import type { LinkRow, SeenIdentifier } from '../identity/identity.ts';
import * as ingest from '../ingest/ingest.ts';
import { changeTraits, linkPeople, seePeople } from './profiles.ts';
import type { AliasInput, IdentifyInput } from './schema.ts';

const authorityOf = ({ kind }: Caller) => (kind === 'server' ? 'server' : 'publishable');

/** Somebody and when they were seen; null makes them known, without having been seen. */
const seen = (kind: SeenIdentifier['kind'], value: string, at: Date | null): SeenIdentifier => ({
  kind,
  value,
  first_seen_at: at,
  last_seen_at: at,
});

/**
 * Says who somebody is and what is known of them: the anonymous id becomes theirs, unless it belongs
 * to somebody else (which is logged, not answered), and the traits are theirs. Who is being erased is
 * linked to nobody and told nothing. A repeated message id says nothing more; without one, a request that
 * may come again has its own.
 */
export const identify = async (
  deps: Deps,
  caller: Caller,
  input: IdentifyInput,
  repetitionId?: string,
): Promise<void> => {
  const occurredAt = input.occurred_at === undefined ? new Date() : new Date(input.occurred_at);
  ingest.refuseTime(occurredAt, caller);
  const messageId = input.message_id ?? (repetitionId && ingest.messageIdOf(repetitionId));
  await inProject(deps, caller.projectId, async (scope) => {
    const isNew =
      messageId === undefined || (await ingest.claimMessage(scope, messageId, occurredAt));
    if (!isNew) return;
    // To be identified is to be seen: as with events, only the first and the last time are kept.
    const people = await identity.see(scope, [
      ...(input.anonymous_id === undefined
        ? []
        : [seen('anonymous', input.anonymous_id, occurredAt)]),
      seen('external', input.external_id, occurredAt),
    ]);
    await seePeople(scope, people);
    if (input.anonymous_id !== undefined) {
      await linkPeople(scope, {
        anonymous_id: input.anonymous_id,
        external_id: input.external_id,
        source: 'identify',
        key_type: authorityOf(caller),
      });
    }
    const person = people.find(({ kind }) => kind === 'external');
    if (!person || input.traits === undefined) return;
    await changeTraits(scope, {
      identityId: person.identity_id,
      traits: input.traits,
      setAt: occurredAt,
      authority: authorityOf(caller),
    });
  });
};

/**
 * Links at the word of a server. An anonymous id that belongs to somebody else is a conflict, and logged; who
 * is being erased cannot be linked.
 */
export const alias = async (deps: Deps, caller: Caller, input: AliasInput): Promise<LinkRow> => {
  const link = await inProject(deps, caller.projectId, async (scope) => {
    // Whoever is linked need not have been seen: events that name them may still wait for a worker.
    const people = await identity.see(scope, [
      seen('anonymous', input.anonymous_id, null),
      seen('external', input.external_id, null),
    ]);
    await seePeople(scope, people);
    const made = await linkPeople(scope, { ...input, source: 'alias', key_type: 'server' });
    if (!made) throw new Refusal('being_erased');
    return made;
  });
  if (link.status === 'refused') throw new Refusal('identity_conflict');
  return link;
};
