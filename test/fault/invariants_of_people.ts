import { findRemains } from '../support/remains.ts';
import { findRows } from './evidence.ts';
import type { Evidence, Invariant } from './evidence.ts';
import type { AddressSaid, AskedEvent, Journal, Person, Said } from './journal.ts';
import { listReferences } from './references.ts';
import { PAGE } from './timelines.ts';
import type { Timeline } from './timelines.ts';

type Fold = { isSuppressed: boolean; isUnsubscribed: boolean };

const FREE: Fold = { isSuppressed: false, isUnsubscribed: false };

/** What each word makes of an address: a suppression is lifted, and who unsubscribed subscribes again. */
const WORDS: Record<Said, Partial<Fold>> = {
  suppress: { isSuppressed: true },
  bounce: { isSuppressed: true },
  complaint: { isSuppressed: true },
  lift: { isSuppressed: false },
  unsubscribe: { isUnsubscribed: true },
  resubscribe: { isUnsubscribed: false },
};

/** What an address comes to by what was said of it, in order; null where one of it may or may not have been heard. */
export const fold = (said: readonly AddressSaid[]): Fold | null =>
  said.some(({ ackedAt }) => ackedAt === null)
    ? null
    : said.reduce((known, one) => ({ ...known, ...WORDS[one.said] }), FREE);

const toWords = ({ isSuppressed, isUnsubscribed }: Fold): string =>
  `${isSuppressed ? '' : 'not '}suppressed, ${isUnsubscribed ? '' : 'not '}unsubscribed`;

export const saidByAddress = (said: readonly AddressSaid[]): Map<string, AddressSaid[]> =>
  Map.groupBy(said, ({ projectId, email }) => `${projectId} ${email}`);

/** Addresses that are written down nowhere any more, or may not be. */
export const listErased = ({ people }: Journal): Set<string> =>
  new Set(
    people
      .filter(({ erase }) => erase !== 'none')
      .map(({ projectId, email }) => `${projectId} ${email}`),
  );

const suppressedIsTheFold: Invariant = {
  id: 'I12',
  text: 'who is suppressed or unsubscribed is the fold of all feedback and manual changes that were accepted',
  find: async ({ client, journal }) => {
    const { rows } = await client.query<Fold & { key: string }>(
      `select project_id || ' ' || email as key, reason is not null as "isSuppressed",
        coalesce(unsubscribed_at >= coalesce(resubscribed_at, '-infinity'), false) as "isUnsubscribed"
      from suppression.addresses where email is not null`,
    );
    const is = new Map(rows.map(({ key, ...stands }) => [key, toWords(stands)]));
    const said = saidByAddress(journal.said);
    const erased = listErased(journal);
    const wrong = [...said].flatMap(([key, those]) => {
      const should = fold(those);
      if (should === null || erased.has(key) || toWords(should) === (is.get(key) ?? toWords(FREE)))
        return [];
      const words = those.map((one) => one.said).join();
      return [`${key} should be ${toWords(should)}: ${words}`];
    });
    const unsaid = [...is].flatMap(([key, stands]) =>
      stands === toWords(FREE) || said.has(key) ? [] : [`${key} is ${stands}; nobody said so`],
    );
    return [...wrong, ...unsaid];
  },
};

const tenantsDoNotMeet: Invariant = {
  id: 'I13',
  text: 'every reference between rows of tenants stays inside one project',
  find: async (evidence) => {
    const found: string[] = [];
    for (const { table, column, other, key } of await listReferences(evidence.client)) {
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

/** Whoever was erased may not be mailed again if they might not before: that is known by the key of their address. */
const findReleased = async (
  { client, journal, addressKey }: Evidence,
  erased: readonly Person[],
): Promise<string[]> => {
  const said = saidByAddress(journal.said);
  const { rows } = await client.query<Fold & { key: string }>(
    `select project_id || ' ' || encode(address_key, 'hex') as key, reason is not null as "isSuppressed",
      coalesce(unsubscribed_at >= coalesce(resubscribed_at, '-infinity'), false) as "isUnsubscribed"
    from suppression.addresses`,
  );
  const is = new Map(rows.map(({ key, ...stands }) => [key, toWords(stands)]));
  return erased.flatMap(({ projectId, email }) => {
    const should = fold(said.get(`${projectId} ${email}`) ?? []);
    const stands = is.get(`${projectId} ${addressKey(projectId, email).toString('hex')}`);
    return should === null || toWords(should) === (stands ?? toWords(FREE))
      ? []
      : [`${email}, erased, is ${stands ?? 'not known'} by its key, and was ${toWords(should)}`];
  });
};

const erasedIsGone: Invariant = {
  id: 'I15',
  text: 'nothing that an erased person was known by is left in any table or job; who was suppressed still is',
  find: async (evidence) => {
    const erased = evidence.journal.people.filter(({ erase }) => typeof erase === 'object');
    const names = erased.flatMap(({ external_id, anonymous_id, email, isLinked }) => [
      external_id,
      email,
      ...(isLinked === true ? [anonymous_id] : []),
    ]);
    return [
      ...(await findRemains(evidence.client, names)),
      ...(await findReleased(evidence, erased)),
    ];
  },
};

export const invariantsOfPeople: readonly Invariant[] = [
  suppressedIsTheFold,
  tenantsDoNotMeet,
  undoneAsNever,
  erasedIsGone,
];
