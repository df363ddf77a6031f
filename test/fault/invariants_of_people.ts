import { findRemains } from '../support/remains.ts';
import { findRows } from './evidence.ts';
import type { Evidence, Invariant } from './evidence.ts';
import type { AddressSaid, AskedEvent, Journal, Person } from './journal.ts';
import { PAGE } from './timelines.ts';
import type { Timeline } from './timelines.ts';

/** What an address comes to by what was said of it, in order; null where one of it may or may not have been heard. */
export const fold = (said: readonly AddressSaid[]): boolean | null =>
  said.some(({ ackedAt }) => ackedAt === null)
    ? null
    : said.reduce((_, one) => one.said !== 'lift', false);

const suppressedIsTheFold: Invariant = {
  id: 'I12',
  text: 'the suppressed addresses are the fold of all feedback and manual changes that were accepted',
  find: async ({ client, journal }) => {
    const { rows } = await client.query<{ key: string; is_suppressed: boolean }>(
      `select project_id || ' ' || email as key, reason is not null as is_suppressed
      from suppression.addresses where email is not null`,
    );
    const is = new Map(rows.map(({ key, is_suppressed }) => [key, is_suppressed]));
    const said = Map.groupBy(journal.said, ({ projectId, email }) => `${projectId} ${email}`);
    const wrong = [...said].flatMap(([key, those]) => {
      const should = fold(those);
      return should === null || should === (is.get(key) ?? false)
        ? []
        : [
            `${key} should be ${should ? 'suppressed' : 'free'}: ${those.map((one) => one.said).join()}`,
          ];
    });
    const unsaid = [...is].flatMap(([key, isSuppressed]) =>
      isSuppressed && !said.has(key) ? [`${key} is suppressed, and nobody said so`] : [],
    );
    return [...wrong, ...unsaid];
  },
};

/** Both keys of a reference: whoever is named is there, in the same project. */
const REFERENCES = [
  ['delivery.sends', 'run_id', 'automations.runs', 'run_id'],
  ['delivery.sends', 'provider_id', 'providers.providers', 'provider_id'],
  ['delivery.sends', 'profile_id', 'profiles.profiles', 'profile_id'],
  ['delivery.attempts', 'send_id', 'delivery.sends', 'send_id'],
  ['automations.runs', 'identity_id', 'identity.identities', 'identity_id'],
  ['identity.identities', 'profile_id', 'profiles.profiles', 'profile_id'],
  ['identity.links', 'external_identity_id', 'identity.identities', 'identity_id'],
  ['identity.links', 'anonymous_identity_id', 'identity.identities', 'identity_id'],
  ['ingest.message_ids', 'event_id', 'ingest.events', 'event_id'],
] as const;

const tenantsDoNotMeet: Invariant = {
  id: 'I13',
  text: 'every reference between rows of tenants stays inside one project',
  find: async (evidence) => {
    const found: string[] = [];
    for (const [table, column, other, key] of REFERENCES) {
      const strangers = await findRows(
        evidence,
        `select named.project_id, named.${column} from ${table} as named
        join ${other} as other on other.${key} = named.${column} and other.project_id <> named.project_id
        where not exists (
          select from ${other} as own where own.project_id = named.project_id and own.${key} = named.${column}
        )`,
      );
      found.push(...strangers.map((row) => `${table} names another project's ${column}: ${row}`));
    }
    return found;
  },
};

type Side = {
  kind: string;
  value: string;
  profile_id: string;
  own_profile_id: string;
  email: string | null;
};

const judgeLink = (person: Person, sides: ReadonlyMap<string, Side>): string[] => {
  const device = sides.get(`${person.projectId} anonymous ${person.anonymous_id}`);
  const known = sides.get(`${person.projectId} external ${person.external_id}`);
  if (!device || !known || person.isLinked === null) return [];
  const name = `${person.anonymous_id} of ${person.external_id}`;
  if (person.isLinked !== (device.profile_id === known.profile_id))
    return [`${name} is ${person.isLinked ? 'not ' : ''}one person with it`];
  if (person.isLinked) return [];
  if (device.profile_id !== device.own_profile_id) return [`${name} is not its own again`];
  return device.email === null ? [] : [`${name} kept the address ${device.email}`];
};

/** What the timeline of somebody should hold, by what was answered; what nobody answered may be there or not. */
const judgeTimeline = ({ person, ops }: Timeline, { events }: Journal): string[] => {
  const { external_id, anonymous_id, isLinked, projectId } = person;
  const isTheirs = (one: AskedEvent): boolean =>
    one.projectId === projectId &&
    (one.external_id === external_id ||
      (isLinked === true && one.external_id === null && one.anonymous_id === anonymous_id));
  const theirs = events.filter((one) => one.event === PAGE && isTheirs(one));
  const shown = new Set(ops);
  const lacking = theirs.filter(({ fate, op }) => fate === 'stored' && !shown.has(op));
  const known = new Set(theirs.filter(({ fate }) => fate !== 'refused').map(({ op }) => op));
  const strange = ops.filter((op) => !known.has(op));
  const name = `the timeline of ${external_id}, ${isLinked ? '' : 'not '}linked to ${anonymous_id},`;
  return [
    ...lacking.map(({ op }) => `${name} lacks ${op}`),
    ...strange.map((op) => `${name} shows ${op}`),
    ...(shown.size === ops.length ? [] : [`${name} shows something twice`]),
  ];
};

const undoneAsNever: Invariant = {
  id: 'I14',
  text: 'link and unlink leave profiles as if neither had happened',
  find: async ({ client, journal, timelines }) => {
    const { rows } = await client.query<Side & { project_id: string }>(
      `select project_id, kind, value, identity.profile_id, own_profile_id, profile.email
      from identity.identities as identity join profiles.profiles as profile using (project_id, profile_id)`,
    );
    const sides = new Map(rows.map((row) => [`${row.project_id} ${row.kind} ${row.value}`, row]));
    const links = journal.people.flatMap((person) =>
      person.role === 'linked' ? judgeLink(person, sides) : [],
    );
    return [...links, ...timelines.flatMap((timeline) => judgeTimeline(timeline, journal))];
  },
};

const erasedIsGone: Invariant = {
  id: 'I15',
  text: 'nothing that an erased person was known by is left in any table or job',
  find: ({ client, journal }: Evidence) =>
    findRemains(
      client,
      journal.people
        .filter(({ erase }) => typeof erase === 'object')
        .flatMap(({ external_id, email }) => [external_id, email]),
    ),
};

export const invariantsOfPeople: readonly Invariant[] = [
  suppressedIsTheFold,
  tenantsDoNotMeet,
  undoneAsNever,
  erasedIsGone,
];
