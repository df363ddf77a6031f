import type { Scope } from '../base/db.ts';
import type * as ingest from '../ingest/ingest.ts';
import * as profiles from '../profiles/profiles.ts';
import * as rendering from '../rendering/rendering.ts';
import type { Claimed } from './claim_queries.ts';

/** What the template of a send may show, and what exists besides but is withheld from its address. */
export type Context = rendering.KnownSample & { withheld: rendering.Sample | null };

/** Of a send whose person is gone. */
export const NOTHING_KNOWN: Context = { ...rendering.toSample(null, null), withheld: null };

type Known = { person: profiles.ForEmail | null; event: ingest.Event | null };

/** Everything that is known, for an address that a server has confirmed. */
const toWhole = ({ person, event }: Known, exempt: string): rendering.KnownSample =>
  rendering.toSample(
    person && {
      traits: person.profile.traits,
      browserNames: person.browserNames,
      email: person.profile.email,
    },
    event,
    exempt,
  );

/**
 * Returns what the template of a send may show. An address that only a browser asserted may be an attacker's, who
 * named a known person: its email shows what that browser asserted, and nothing that a server or another browser said.
 */
export const toContext = (
  scope: Pick<Scope, 'keys' | 'projectId'>,
  { recipient, is_test }: Pick<Claimed, 'recipient' | 'is_test'>,
  known: Known,
): Context => {
  const { person, event } = known;
  const whole = toWhole(known, recipient);
  const asserted = person?.asserted ?? null;
  if (person === null || asserted === null) return { ...whole, withheld: null };
  const email = is_test ? (person.profile.email ?? recipient) : recipient;
  const isShown = event !== null && profiles.isOfBrowser(scope, asserted, { event, email });
  const shown = { ...profiles.traitsForEmail(person), email };
  return {
    ...rendering.toSample(shown, isShown ? event : null, email),
    withheld: whole.sample,
  };
};

/** A test shows what the person would get, whatever address it goes to. */
export const toAddressee = (send: Claimed): profiles.Addressee => ({
  identityId: send.identity_id,
  profileId: send.profile_id,
  email: send.is_test ? null : send.recipient,
});
