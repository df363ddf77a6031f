import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { jsonObject } from '../base/json_object.ts';
import { browserKeyOf } from './people.ts';
import { listRows } from './queries.ts';
import type { ProfileRow } from './queries.ts';

/** Whom an email is for: the identity of its run, the profile of that time, and the address, or the person's own. */
export type Addressee = { identityId: string | null; profileId: string; email: string | null };

/** What only the browser asserted that asserted an address: all that an email to that address may tell. */
export type Asserted = { traits: Record<string, z.core.util.JSONType>; browserKey: Buffer | null };

/** A person as an email may show them. */
export type ForEmail = {
  profile: ProfileRow;
  /** The traits whose winning word came from a browser. */
  browserNames: string[];
  /** Null where a server has confirmed the address. */
  asserted: Asserted | null;
};

const Provenance = z.strictObject({
  place: z.int(),
  person_id: z.uuid(),
  is_confirmed: z.boolean(),
  browser_names: z.array(z.string()),
});
type Provenance = z.output<typeof Provenance>;

const listProvenance = ({ tx, projectId }: Scope, addressees: readonly Addressee[]) => {
  const column = (read: (one: Addressee) => string | null, type: string) =>
    sql.array(addressees.map(read), type);
  return tx.any(sql.type(Provenance)`
    select place, person_id, is_confirmed, browser_names
    from profiles.list_provenance(
      project_id => ${projectId},
      identity_ids => ${column(({ identityId }) => identityId, 'uuid')},
      profile_ids => ${column(({ profileId }) => profileId, 'uuid')},
      emails => ${column(({ email }) => email, 'text')}
    )
  `);
};

const AssertedRow = z.strictObject({
  place: z.int(),
  traits: jsonObject<z.core.util.JSONType>(),
  browser_key: z.instanceof(Buffer).nullable(),
});

type Unconfirmed = { profileId: string; email: string };

const listAsserted = ({ tx, projectId }: Scope, people: readonly Unconfirmed[]) =>
  tx.any(sql.type(AssertedRow)`
    select place, traits, browser_key
    from profiles.list_asserted(
      project_id => ${projectId},
      profile_ids => ${sql.array(
        people.map(({ profileId }) => profileId),
        'uuid',
      )},
      emails => ${sql.array(
        people.map(({ email }) => email),
        'text',
      )}
    )
  `);

const NOTHING: Asserted = { traits: {}, browserKey: null };

/** What was asserted of those whose address no server has confirmed, by their place. */
const readAsserted = async (
  scope: Scope,
  unconfirmed: readonly (Unconfirmed & { place: number })[],
): Promise<Map<number, Asserted>> => {
  if (unconfirmed.length === 0) return new Map();
  const rows = await listAsserted(scope, unconfirmed);
  const known = new Map(
    rows.map(({ place, traits, browser_key: browserKey }) => [place, { traits, browserKey }]),
  );
  return new Map(unconfirmed.map(({ place }, at) => [place, known.get(at + 1) ?? NOTHING]));
};

/** Returns some people as emails to them may show them, by place; null where there is no such person any more. */
export const readForEmail = async (
  scope: Scope,
  addressees: readonly Addressee[],
): Promise<(ForEmail | null)[]> => {
  if (addressees.length === 0) return [];
  const found = await listProvenance(scope, addressees);
  const rows = await listRows(scope, [...new Set(found.map(({ person_id }) => person_id))]);
  const profileOf = new Map(rows.map((row) => [row.profile_id, row]));
  const unconfirmed = found.flatMap(({ place, person_id: profileId, is_confirmed }) => {
    const email = addressees[place - 1]?.email ?? profileOf.get(profileId)?.email ?? null;
    return is_confirmed || email === null ? [] : [{ place, profileId, email }];
  });
  const asserted = await readAsserted(scope, unconfirmed);
  const provenanceAt = new Map(found.map((one) => [one.place, one]));
  return addressees.map((_, at) => {
    const provenance = provenanceAt.get(at + 1);
    const profile = provenance && profileOf.get(provenance.person_id);
    return provenance && profile ? toForEmail(provenance, profile, asserted) : null;
  });
};

const toForEmail = (
  { place, browser_names: browserNames }: Provenance,
  profile: ProfileRow,
  asserted: Map<number, Asserted>,
): ForEmail => ({ profile, browserNames, asserted: asserted.get(place) ?? null });

/** The traits that an email may show, and which of them only browsers asserted. */
export const traitsForEmail = ({ profile, browserNames, asserted }: ForEmail) =>
  asserted === null
    ? { traits: profile.traits, browserNames }
    : { traits: asserted.traits, browserNames: Object.keys(asserted.traits) };

/** Returns a person as an email to their own address would show them, or null. */
export const findForEmail = async (scope: Scope, profileId: string) => {
  const [found] = await readForEmail(scope, [{ identityId: null, profileId, email: null }]);
  if (!found) return null;
  const { email } = found.profile;
  return { ...traitsForEmail(found), email, isConfirmed: found.asserted === null };
};

type FromBrowser = { source: string; anonymous_id: string | null; properties: object };

/**
 * Whether an event may be shown to an address that only a browser asserted: the same browser sent it, or it names that
 * address itself.
 */
export const isOfBrowser = (
  scope: Pick<Scope, 'keys' | 'projectId'>,
  { browserKey }: Asserted,
  { event, email }: { event: FromBrowser; email: string },
): boolean => {
  if (event.source !== 'browser') return false;
  const { anonymous_id: anonymousId } = event;
  const isSame =
    browserKey !== null &&
    anonymousId !== null &&
    browserKeyOf(scope, anonymousId).equals(browserKey);
  const named = email.toLowerCase();
  return (
    isSame ||
    Object.values(event.properties).some(
      (value) => typeof value === 'string' && value.trim().toLowerCase() === named,
    )
  );
};
